import { of, range, Subject } from 'rxjs';
import { describe, expect, it, test } from 'vitest';
import { dispatch, FeedbackSubject, type Outcome, rateLimit, Sized } from '../../src/index.ts';
import type { PolicyEvent } from '../../src/model/policy-events.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { failingWith, tooMany, watch } from '../request/harness.ts';
import { marbles, sending } from '../support/marbles.ts';

const requests = (limit: number, windowMs = 10) => ({ limits: { requests: { limit, windowMs } } });

describe('rateLimit', () => {
  test('admits as many as the limit in each window, in order', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }, clock) => {
      const source = cold('(abc)-d|');
      const results = source.pipe(rateLimit({ ...requests(2), clock }), sending(1, clock));
      expectObservable(results).toBe('(ab)------(cd|)');
      expectSubscriptions(source.subscriptions).toBe('^------!');
    });
  });

  test('charges each subscription on its own', () => {
    marbles(({ cold, expectObservable }, clock) => {
      const results = cold('(ab|)').pipe(rateLimit({ ...requests(2), clock }), sending(1, clock));
      expectObservable(results).toBe('(ab|)');
      expectObservable(results).toBe('(ab|)');
    });
  });

  test('charges the result of `costs`, and the size of a Sized', () => {
    marbles(({ expectObservable }, clock) => {
      const limits = {
        tokens: { limit: 10, windowMs: 5 },
        images: { limit: 2, windowMs: 9 },
      };
      const costs = (value: string) => ({ images: value === 'b' ? 2 : 0 });
      const source = of(new Sized('a', 0, 6), new Sized('b', 0, 4), new Sized('c', 0, 1));
      const results = source.pipe(rateLimit({ limits, costs, clock }), sending(1, clock));
      expectObservable(results).toBe('(ab)-(c|)');
    });
  });

  test('passes nothing while the backoff of its feedback lasts', () => {
    marbles(({ cold, expectObservable }, clock) => {
      const feedback = new FeedbackSubject({ clock, reopen: 'all' });
      feedback.next({ kind: 'throttled', retryAfterMs: 12 });
      const limited = rateLimit<string>({ ...requests(1), feedback });
      // What was charged is sent at once: had a been charged at 0, b would go at 12 with it.
      expectObservable(cold('(ab)|').pipe(limited, sending(1, clock))).toBe(
        '------------a---------(b|)',
      );
    });
  });

  it('charges every attempt, and gives back what was never sent', async () => {
    const clock = new ManualClock();
    const feedback = new FeedbackSubject({ clock, backoffMs: 100 });
    const { calls, project } = failingWith([tooMany(), tooMany()], () => clock.now());
    const limited = rateLimit<string>({ ...requests(1, 1_000), feedback });
    const seen = watch(of('a').pipe(limited, dispatch(project, { feedback })));
    await clock.runAllAsync();
    expect(calls).toEqual([0, 1_000, 2_000]);
    expect(seen).toMatchObject({ values: ['done'], state: 'complete' });
  });

  it("with `onLimit: 'fail'` errors the stream, or fails that request alone", async () => {
    const clock = new ManualClock();
    const options = { ...requests(2), onLimit: 'fail', clock } as const;
    const error = { code: 'RATE_LIMIT_EXCEEDED', limit: 'requests', retryAfterMs: 10 };
    const send = async (value: number) => value;
    const failing = watch(range(0, 4).pipe(rateLimit(options), dispatch(send, { clock })));
    const outcomes = watch(
      range(0, 4).pipe(rateLimit(options), dispatch(send, { clock, outcomes: true })),
    );
    await clock.advanceAsync(0);
    expect(failing).toMatchObject({ state: 'error', error });
    const ofStatus = (status: string) =>
      outcomes.values.filter((each: Outcome<number, number>) => each.status === status);
    expect(ofStatus('ok').map(({ request }) => request)).toEqual([0, 1]);
    expect(ofStatus('failed')).toMatchObject([
      { request: 2, error, stats: { attempts: 0 } },
      { request: 3, error, stats: { attempts: 0 } },
    ]);
    expect(outcomes.state).toBe('complete');
  });

  it('reports each request that does not fit once to its instrumentation', async () => {
    const clock = new ManualClock();
    const facts: PolicyEvent[] = [];
    const instrumentation = { changed: (fact: PolicyEvent) => facts.push(fact) };
    watch(
      range(0, 4).pipe(rateLimit({ ...requests(1), clock, instrumentation }), sending(1, clock)),
    );
    await clock.runAllAsync();
    expect(facts.map(({ kind, at }) => [kind, at])).toEqual([
      ['limitDenied', 0],
      ['limitDenied', 10],
      ['limitDenied', 20],
    ]);
  });

  it('leaves no timer, and gives back what it charged, when it is unsubscribed', () => {
    const clock = new ManualClock();
    const source = new Subject<number>();
    const seen = watch(source.pipe(rateLimit({ ...requests(1), clock })));
    source.next(1);
    source.next(2);
    source.next(3);
    expect(seen.values.map(({ value }) => value)).toEqual([1]);
    expect(clock.pendingTimers).toBeGreaterThan(0);
    seen.subscription.unsubscribe();
    expect(clock.pendingTimers).toBe(0);
    expect(seen.values[0]?.outcome).toBe('cancelled');
  });

  it('refuses wrong options, each by its name', () => {
    const wrong: [object, RegExp][] = [
      [{}, /`limits`/],
      [{ limits: {} }, /`limits`/],
      [{ limits: { tokens: { limit: 0, windowMs: 1 } } }, /`limits.tokens.limit`.*got 0/],
      [{ ...requests(1), onLimit: 'drop' }, /`onLimit`.*"drop"/],
      [{ ...requests(1), refundRejected: 1 }, /`refundRejected`/],
      [{ ...requests(1), costs: {} }, /`costs`/],
      [{ ...requests(1), reclaimAfterMs: 0 }, /`reclaimAfterMs`/],
      [{ ...requests(1), requestsPerMinute: 1 }, /requestsPerMinute/],
    ];
    for (const [options, message] of wrong) {
      expect(() => rateLimit(options as Parameters<typeof rateLimit>[0])).toThrow(message);
    }
  });
});
