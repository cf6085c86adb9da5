import { describe, expect, it } from 'vitest';
import { limit, world } from '../../../limiter/adaptive/world.ts';

describe('requests that come together once a second', () => {
  it.each([
    ['retry-after', 0.8],
    ['retry-after', 0.95],
    ['none', 0.95],
    ['openai', 0.95],
  ] as const)(
    'learn no rate above that of the bucket: headers %s, load %d',
    async (headers, load) => {
      const perMinute = 1_000;
      const bucket = { ...limit('token-bucket', perMinute, 60_000), burst: 5 };
      const provider = { headers, latency: 700, retryAfter: 'exact', limits: [bucket] } as const;
      const w = world({ provider });
      let [due, pushed] = [0, 0];
      const run = async (seconds: number) => {
        for (let second = 0; second < seconds; second += 1) {
          due += (load * perMinute) / 60;
          const count = Math.floor(due) - pushed;
          w.push(count);
          pushed += count;
          await w.advance(1_000);
        }
      };
      await run(120);
      const before = w.sent.length - pushed;
      await run(300);
      // Each request was sent once, apart from some that find out that the limit has not risen.
      expect(w.sent.length - pushed - before).toBeLessThan(0.02 * pushed);
      expect(w.answered[0]).toBeGreaterThan(0.98 * pushed);
      await w.end();
    },
  );
});
