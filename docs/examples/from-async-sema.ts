import { Sema } from 'async-sema';
import { createLimiter } from 'headgate';

const work = async () => 'done';

const sema = new Sema(4); // before
await sema.acquire();
try {
  console.log(await work());
} finally {
  sema.release();
}

const limiter = createLimiter({ concurrency: 4 }); // after
console.log(await limiter.run(work));
