import { createLimiter } from 'headgate';
import { from } from 'rxjs';

const limiter = createLimiter({ concurrency: 2 });
const complete = async (prompt: string) => prompt.toUpperCase();

from(['a', 'b', 'c'])
  .pipe(limiter.throttle((prompt) => complete(prompt)))
  .subscribe((answer) => console.log(answer));

console.log(await limiter.run(() => complete('d'), { bytes: 1 })); // its size; default 0

const lease = await limiter.acquire({ signal: AbortSignal.timeout(1_000) });
try {
  console.log(await complete('e'));
} finally {
  lease.release(); // or: using lease = await limiter.acquire()
}
console.log(limiter.snapshot().concurrency.inFlight); // 0
