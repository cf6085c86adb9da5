import { describe, expect, it } from 'vitest';
import { createLimiter, FeedbackSubject, type Limiter } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { expectIdle, fate } from '../../limiter/harness.ts';
import { listen, script } from '../../limiter/rig.ts';

describe('two limiters with one feedback', () => {
  const pair = () => {
    const clock = new ManualClock();
    const feedback = new FeedbackSubject({ clock });
    return { clock, feedback, one: createLimiter({ feedback }), two: createLimiter({ feedback }) };
  };

  it('wait for the same backoff, each with events of its own requests', async () => {
    const { clock, feedback, one, two } = pair();
    const events = [listen(one), listen(two)];
    feedback.next({ kind: 'throttled', retryAfterMs: 100 });
    const told = [fate(one.run(() => 1)), fate(one.run(() => 2)), fate(two.run(() => 3))];
    expect([one.snapshot().waiting, two.snapshot().waiting]).toEqual([2, 1]);
    await clock.advanceAsync(100);
    expect(told.map(({ value }) => value)).toEqual([1, 2, 3]);
    const waits = events.map((heard) => heard.filter(({ kind }) => kind === 'waited').length);
    expect(waits).toEqual([2, 1]);
    expectIdle(one);
    expectIdle(two);
  });

  it('send one probe between them, and all requests when it succeeds', async () => {
    const { clock, feedback, one, two } = pair();
    feedback.next({ kind: 'throttled', retryAfterMs: 100 });
    const scripts = [script(one), script(two)];
    for (const { run } of scripts) {
      run('a');
      run('b');
    }
    const started = () => scripts.flatMap((each) => each.started);
    await clock.advanceAsync(1000);
    expect(started()).toHaveLength(1);
    for (const { end } of scripts) end('a');
    // The rate has learned from the rejection, and paces what follows.
    await clock.advanceAsync(1000);
    expect(started()).toHaveLength(4);
  });

  it('send the next probe if the first one is cancelled', async () => {
    const { clock, feedback, one, two } = pair();
    feedback.next({ kind: 'throttled', retryAfterMs: 100 });
    const controller = new AbortController();
    const first = script(one);
    const second = script(two);
    fate(one.run(first.task('probe'), { signal: controller.signal }));
    second.run('next');
    await clock.advanceAsync(100);
    expect([first.started, second.started]).toEqual([['probe'], []]);
    controller.abort();
    await clock.advanceAsync(0);
    expect(second.started).toEqual(['next']);
  });

  it.each([
    ['is closed', (limiter: Limiter) => limiter.close({ waiting: 'reject' })],
    ['adapts no more', (limiter: Limiter) => limiter.configure({ adaptive: false })],
  ])('leave the outage that one of them has found when that one %s', async (_what, end) => {
    const { clock, feedback, one, two } = pair();
    const busy = Object.assign(new Error('busy'), { status: 429 });
    for (let n = 0; n < 20; n += 1) fate(one.run(() => Promise.reject(busy)));
    await clock.advanceAsync(60_000);
    expect([feedback.mode, two.snapshot().mode]).toEqual(['outage', 'outage']);
    end(one);
    expect([feedback.mode, two.snapshot().mode]).not.toContain('outage');
    one.close({ waiting: 'reject' });
  });
});
