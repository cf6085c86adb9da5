import { createLimiter } from 'headgate';
import { lastValueFrom, range } from 'rxjs';

const limiter = createLimiter({ total: 20, milestonePercent: 50, concurrency: 4 });
limiter.progress$.subscribe(({ milestone, percentage, etaMs, binding }) => {
  if (milestone !== undefined) console.log(`${percentage} %`, etaMs, binding); // 50 %, 100 %
});

await lastValueFrom(range(0, 20).pipe(limiter.throttle(async (n) => n, { outcomes: true })));
limiter.close();
await limiter.drain();
console.log(limiter.snapshot().ended.ok, limiter.snapshot().state); // 20 closed
