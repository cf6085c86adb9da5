import { expect, it } from 'vitest';
import { createLimiter } from '../../../../src/index.ts';
import { ManualClock } from '../../../../src/simulator/manual-clock.ts';

it.each([1, 2, 16])(
  'probes soon after a rejection that follows an idle minute, at a concurrency of %i',
  async (concurrency) => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, concurrency, maxAttempts: 20 });
    const sent: number[] = [];
    let isOver = false;
    const task = async () => {
      sent.push(clock.now());
      await new Promise<void>((done) => clock.setTimer(done, 200));
      if (isOver) throw Object.assign(new Error('too many requests'), { status: 429 });
    };
    void limiter.run(task);
    await clock.advanceAsync(60_000);
    isOver = true;
    limiter.run(task).catch(() => {});
    await clock.advanceAsync(60_000);
    expect(sent[2]).toBeLessThan(62_000);
    // Each gap is 1.6 times as long as the one before it.
    expect(sent.length).toBeGreaterThan(9);
  },
);
