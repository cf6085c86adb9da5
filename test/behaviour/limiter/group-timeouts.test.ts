import { expect, it } from 'vitest';
import { AttemptTimeoutError, createLimiterGroup } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';

/** How long an attempt of a key may take. */
const TIMES_MS: Readonly<Record<string, number>> = { a: 100, b: 100, c: 250 };

it('ends the attempts of each key after its own time, and those with one time by one timer', async () => {
  const clock = new ManualClock();
  const each = (key: string) => ({ attemptTimeoutMs: TIMES_MS[key] ?? 1, maxAttempts: 1 });
  const group = createLimiterGroup((key: string) => key, { clock, each });
  const ended: string[] = [];
  const hang = (key: string) =>
    group
      .run(key, () => new Promise<never>(() => {}))
      .catch((error: unknown) => {
        expect(error).toBeInstanceOf(AttemptTimeoutError);
        ended.push(`${key} at ${clock.now()}`);
      });
  // The first request arms the check for idle keys, which stays.
  await group.run('a', async () => 'done');
  const idle = clock.pendingTimers;
  hang('a');
  await clock.advanceAsync(10);
  hang('b');
  expect(clock.pendingTimers).toBe(idle + 1);
  hang('c');
  expect(clock.pendingTimers).toBe(idle + 2);
  await clock.advanceAsync(89);
  expect(ended).toEqual([]);
  await clock.advanceAsync(200);
  expect(ended).toEqual(['a at 100', 'b at 110', 'c at 260']);
  expect(clock.pendingTimers).toBe(idle);
});
