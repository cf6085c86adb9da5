import { createLimiter } from 'headgate';
import { createProvider, ManualClock } from 'headgate/simulator';
import { range } from 'rxjs';

const clock = new ManualClock(); // two minutes in no time
const provider = createProvider({
  clock,
  limits: [{ unit: 'requests', algorithm: 'token-bucket', limit: 100, windowMs: 10_000 }],
  latency: 2_000,
  headers: 'none', // answers report no limits
});
const limiter = createLimiter({ clock, concurrency: 64 });

range(0, 2_000)
  .pipe(limiter.throttle(() => provider.submitOrThrow({ inputTokens: 10, maxTokens: 10 })))
  .subscribe();
await clock.advanceAsync(120_000);
const { completed, rejected, capacity } = provider.stats();
console.log(completed > 0.95 * capacity.requests, rejected < 0.05 * completed); // true true
