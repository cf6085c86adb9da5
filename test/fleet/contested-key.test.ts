import { expect, it } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import { createLimiterGroup } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';

it.each([
  [2, { concurrency: 1 }],
  [2, { concurrency: 1, adaptive: false }],
  [3, { concurrency: 2 }],
  [2, { concurrency: 1, requestsPerMinute: 6_000 }],
  [3, { concurrency: 2, requestsPerMinute: 6_000, adaptive: false }],
  [1, { tokensPerMinute: 120_000 }],
  [2, { tokensPerMinute: 120_000 }],
  [3, { concurrency: 1, adaptive: false }, 20_000],
] as const)(
  '%i groups that compete for a key with the limits %o fill a shared limit',
  async (groups, each, tokens: number = 1_000) => {
    const clock = new ManualClock(1_000);
    const store = memoryStore({ clock });
    let sent = 0;
    for (let index = 0; index < groups; index += 1) {
      const group = createLimiterGroup((key: string) => key, {
        clock,
        store,
        each,
        shared: { tokensPerMinute: 60_000 },
      });
      for (let call = 0; call < 200; call += 1) {
        const task = () => {
          sent += 1;
          return new Promise<void>((resolve) => clock.setTimer(resolve, 10));
        };
        group.run('key', task, { tokens }).catch(() => {});
      }
    }
    await clock.advanceAsync(120_000);
    const most = 120_000 / tokens;
    expect(sent).toBeGreaterThan(most * 0.8);
    expect(sent).toBeLessThanOrEqual(most + 1);
  },
);
