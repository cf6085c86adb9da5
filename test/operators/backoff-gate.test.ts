import { merge, of } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { backoffGate, FeedbackSubject, throttle } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/index.ts';
import { marbles, sending } from '../support/marbles.ts';

describe('backoffGate', () => {
  test('is open until a 429 comes, then closed until the backoff is over', () => {
    marbles(({ cold, hot, expectObservable, expectSubscriptions }, clock) => {
      const feedback = new FeedbackSubject({ clock, reopen: 'all' });
      const source = cold(' ab-cd------e-|');
      hot('                 --x').subscribe(() =>
        feedback.next({ kind: 'throttled', retryAfterMs: 5 }),
      );
      const results = source.pipe(backoffGate({ feedback }), sending(1, clock));
      expectObservable(results).toBe('ab-----(cd)e-|');
      expectSubscriptions(source.subscriptions).toBe('^------------!');
    });
  });

  test.each([[undefined], [{}]])(
    'lets no request overtake, not even one that arrives as it opens',
    (instrumentation) => {
      marbles(({ cold, expectObservable }, clock) => {
        const feedback = new FeedbackSubject({ clock, reopen: 'all' });
        // The source emits b before the gate's timer fires, in the same frame.
        const results = cold('a----(b|)').pipe(
          backoffGate({ feedback, instrumentation }),
          sending(1, clock),
        );
        feedback.next({ kind: 'throttled', retryAfterMs: 5 });
        expectObservable(results).toBe('-----(ab|)');
      });
    },
  );

  test('admits one probe, and all others when it has succeeded', () => {
    marbles(({ cold, expectObservable }, clock) => {
      const feedback = new FeedbackSubject({ clock });
      feedback.next({ kind: 'throttled', retryAfterMs: 3 });
      const results = cold('abc|').pipe(backoffGate({ feedback }), sending(99, clock));
      cold('-----x').subscribe(() => feedback.next({ kind: 'ok' }));
      expectObservable(results).toBe('---a-(bc|)');
    });
  });

  test('sends the next probe when one ends without an answer', () => {
    marbles(({ cold, expectObservable }, clock) => {
      const feedback = new FeedbackSubject({ clock });
      feedback.next({ kind: 'throttled', retryAfterMs: 3 });
      const results = cold('abc|').pipe(backoffGate({ feedback }), sending(2, clock));
      expectObservable(results).toBe('---a-b-(c|)');
    });
  });

  test('never shortens a backoff, and no success ends it', () => {
    marbles(({ cold, expectObservable }, clock) => {
      const feedback = new FeedbackSubject({ clock, reopen: 'all' });
      feedback.next({ kind: 'throttled', retryAfterMs: 8 });
      cold('-t-o').subscribe((kind) =>
        feedback.next(kind === 't' ? { kind: 'throttled', retryAfterMs: 2 } : { kind: 'ok' }),
      );
      const results = cold('a|').pipe(backoffGate({ feedback }), sending(1, clock));
      expectObservable(results).toBe('--------(a|)');
    });
  });

  test('has one queue for all gates that share the feedback', () => {
    marbles(({ cold, expectObservable }, clock) => {
      const feedback = new FeedbackSubject({ clock });
      feedback.next({ kind: 'throttled', retryAfterMs: 5 });
      const first = cold(' a-c|').pipe(backoffGate({ feedback }), sending(2, clock));
      const second = cold('-b|').pipe(backoffGate({ feedback }), sending(2, clock));
      expectObservable(merge(first, second)).toBe('-----a-b-(c|)');
    });
  });

  test('lets another stream probe when the probing one is unsubscribed', () => {
    marbles(({ cold, expectObservable }, clock) => {
      const feedback = new FeedbackSubject({ clock });
      feedback.next({ kind: 'throttled', retryAfterMs: 2 });
      const slow = () => cold('---------x|');
      const first = cold(' a').pipe(throttle(slow, { feedback }));
      const second = cold('-b|').pipe(throttle(() => cold('(y|)'), { feedback }));
      expectObservable(first, '-----!').toBe('-----');
      expectObservable(second).toBe('-----(y|)');
    });
  });

  test('passes an error on at once, and stops waiting when it is unsubscribed', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }, clock) => {
      const feedback = new FeedbackSubject({ clock });
      feedback.next({ kind: 'throttled', retryAfterMs: 9 });
      const fails = cold('a-#');
      const waits = cold('a-b');
      expectObservable(fails.pipe(backoffGate({ feedback }))).toBe('--#');
      expectObservable(waits.pipe(backoffGate({ feedback })), '---!').toBe('---');
      expectSubscriptions(fails.subscriptions).toBe('^-!');
      expectSubscriptions(waits.subscriptions).toBe('^--!');
      cold('----x').subscribe(() => {
        expect(feedback.gate.snapshot()).toMatchObject({ waiting: 0, longestWaitMs: 0 });
      });
    });
  });

  test('disarms its timer when the last waiter leaves, not before', () => {
    const clock = new ManualClock();
    const feedback = new FeedbackSubject({ clock });
    feedback.next({ kind: 'throttled', retryAfterMs: 9 });
    const [first, second] = [1, 2].map((value) =>
      of(value).pipe(backoffGate({ feedback })).subscribe(),
    );
    first?.unsubscribe();
    expect(clock.pendingTimers).toBe(1);
    second?.unsubscribe();
    expect(clock.pendingTimers).toBe(0);
  });

  test('throws without a feedback, since only a feedback can close it', () => {
    // @ts-expect-error
    expect(() => backoffGate({})).toThrow(
      new TypeError('`feedback` must be a FeedbackSubject, got undefined'),
    );
    // @ts-expect-error
    expect(() => backoffGate({ feedback: {} })).toThrow(TypeError);
    const feedback = new FeedbackSubject();
    const clock = { now: () => 0, setTimer: () => ({ cancel() {} }) };
    expect(() => backoffGate({ feedback, clock })).toThrow(/`clock`/);
  });
});
