import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLimiter, FeedbackSubject } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/index.ts';

/** A limiter that sends ten requests of 100 ms a second, all of which are answered. */
function sending() {
  const clock = new ManualClock();
  const feedback = new FeedbackSubject({ clock, reopen: 'all' });
  const limiter = createLimiter({ clock, feedback, random: () => 0.5 });
  const answer = () => new Promise<void>((resolve) => clock.setTimer(resolve, 100));
  let sent = 0;
  const run = async (ms: number) => {
    const end = clock.now() + ms;
    while (clock.now() < end) {
      limiter.run(() => {
        sent += 1;
        return answer();
      });
      await clock.advanceAsync(100);
    }
  };
  return { clock, feedback, limiter, run, sent: () => sent };
}

describe('feedback that is pushed from outside', () => {
  it('teaches the rate: rejections lower it as own ones do', async () => {
    const { feedback, limiter, run } = sending();
    await run(2_000);
    expect(limiter.snapshot().adaptive).toMatchObject({ origin: 'start' });
    for (let stop = 0; stop < 3; stop += 1) {
      feedback.next({ kind: 'throttled', retryAfterMs: 300 });
      await run(3_000);
    }
    const { adaptive } = limiter.snapshot();
    expect(adaptive).toMatchObject({ origin: 'learned' });
    expect(adaptive).not.toMatchObject({ perSecond: Number.POSITIVE_INFINITY });
  });

  it('counts as one closure, and not as an outage, if many are pushed at once', async () => {
    const { feedback, limiter, run, clock, sent } = sending();
    await run(2_000);
    for (let each = 0; each < 20; each += 1) {
      feedback.next({ kind: 'throttled', retryAfterMs: 300 });
    }
    expect(limiter.snapshot().mode).toBe('throttled');
    const before = sent();
    await run(3_000);
    expect(limiter.snapshot().adaptive).toMatchObject({ isOut: false });
    expect(sent() - before).toBeGreaterThan(20);
    await clock.advanceAsync(1_000);
    expect(limiter.snapshot().concurrency.inFlight).toBe(0);
  });

  it('teaches the rate if it is recorded at the limiter, too', async () => {
    const { limiter, run } = sending();
    await run(2_000);
    for (let stop = 0; stop < 3; stop += 1) {
      limiter.recordFailure(Object.assign(new Error('too many'), { status: 429 }));
      await run(3_000);
    }
    expect(limiter.snapshot().adaptive).toMatchObject({ origin: 'learned' });
  });

  it('never stops requests for good, for generated feedback', async () => {
    const anything = fc.constantFrom(Number.NaN, -1, 0, 5, 'ten', undefined, null);
    const said = fc.record({
      kind: fc.constantFrom('ok', 'throttled', 'overloaded', 'failed'),
      retryAfterMs: fc.oneof(fc.nat({ max: 2_000 }), anything),
      limits: fc.oneof(
        anything,
        fc.array(
          fc.record({ unit: fc.constant('requests'), limit: anything, remaining: anything }),
        ),
      ),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(said, { maxLength: 12 }), async (all) => {
        const { feedback, run, clock, sent, limiter } = sending();
        for (const each of all) {
          feedback.next(each as never);
          await run(300);
        }
        const before = sent();
        await clock.advanceAsync(600_000);
        await run(1_000);
        expect(sent()).toBeGreaterThan(before);
        expect(limiter.snapshot().waiting).toBeLessThan(40);
      }),
      { numRuns: 60 },
    );
  });
});
