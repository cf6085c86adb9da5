import { expect, it } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import { createLimiterGroup } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';

it.each([
  [2, 1],
  [3, 2],
])(
  '%i groups that compete for %i slots of a key fill a shared limit',
  async (groups, concurrency) => {
    const clock = new ManualClock(1_000);
    const store = memoryStore({ clock });
    let sent = 0;
    for (let index = 0; index < groups; index += 1) {
      const group = createLimiterGroup((key: string) => key, {
        clock,
        store,
        each: { concurrency },
        shared: { tokensPerMinute: 60_000 },
      });
      for (let call = 0; call < 100; call += 1) {
        const task = () => {
          sent += 1;
          return new Promise<void>((resolve) => clock.setTimer(resolve, 10));
        };
        group.run('key', task, { tokens: 1_000 }).catch(() => {});
      }
    }
    await clock.advanceAsync(60_000);
    expect(sent).toBeGreaterThan(55);
    expect(sent).toBeLessThanOrEqual(61);
  },
);
