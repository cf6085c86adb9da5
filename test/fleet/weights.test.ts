import { memoryStore } from 'headgate/advanced';
import { ManualClock } from 'headgate/simulator';
import { expect, it } from 'vitest';
import { createLimiter } from '../../src/index.ts';

/** Rejects the first attempt, and names a wait of 5 s. */
function rejectingOnce() {
  let calls = 0;
  return async () => {
    calls += 1;
    if (calls === 1) {
      throw Object.assign(new Error('busy'), { status: 429, headers: { 'retry-after': '5' } });
    }
    return 'done';
  };
}

it('a retry that weighs more than a limit that was lowered since goes alone', async () => {
  for (const concurrency of [1, 2, 3]) {
    const clock = new ManualClock();
    const shared = memoryStore({ clock });
    const limiter = createLimiter({ clock, shared, concurrency: 5 });
    const answer = limiter.run(rejectingOnce(), { weight: 3 });
    await clock.advanceAsync(10);
    limiter.configure({ concurrency });
    await clock.advanceAsync(20_000);
    expect(await Promise.race([answer, 'waits'])).toBe('done');
    expect(limiter.snapshot().fleet?.slots.used).toBe(0);
    limiter.close();
  }
});

it('a request that weighs more than another worker has set for all goes alone', async () => {
  const clock = new ManualClock();
  const shared = memoryStore({ clock });
  const limiter = createLimiter({ clock, shared, concurrency: 5 });
  await limiter.run(() => 1);
  const other = createLimiter({ clock, shared, concurrency: 2 });
  await other.run(() => 1);
  const running: (() => void)[] = [];
  const one = other.run(() => new Promise<void>((done) => running.push(done)));
  await clock.advanceAsync(100);
  const answer = limiter.run(() => 'done', { weight: 3 });
  await clock.advanceAsync(2_000);
  expect(await Promise.race([answer, 'waits'])).toBe('waits');
  for (const done of running) done();
  await clock.advanceAsync(2_000);
  expect(await Promise.race([answer, 'waits'])).toBe('done');
  await one;
  for (const each of [limiter, other]) each.close();
});
