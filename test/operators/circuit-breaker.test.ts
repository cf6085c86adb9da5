import { of, range, Subject } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import {
  backoffGate,
  circuitBreaker,
  dispatch,
  FeedbackSubject,
  rateLimit,
} from '../../src/index.ts';
import type { PolicyEvent } from '../../src/model/policy-events.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { ApiError, failingWith, watch } from '../request/harness.ts';

type Options = NonNullable<Parameters<typeof circuitBreaker<number>>[0]>;

/** Sends what is pushed; each fails with its own error, if it has one. */
function breaking(options: Options, errors: readonly unknown[]) {
  const clock = new ManualClock();
  const facts: PolicyEvent[] = [];
  const { calls, project } = failingWith(errors, () => clock.now());
  const source = new Subject<number>();
  const probe = { changed: (fact: PolicyEvent) => facts.push(fact) };
  const seen = watch(
    source.pipe(
      circuitBreaker({ clock, instrumentation: probe, openMs: 1_000, ...options }),
      dispatch(project, { clock, outcomes: true, maxAttempts: 1 }),
    ),
  );
  const send = async (value: number) => {
    source.next(value);
    await clock.advanceAsync(0);
  };
  const codes = () =>
    seen.values.map((outcome) =>
      outcome.status === 'ok' ? 'ok' : ((outcome.error as { code?: string }).code ?? 'failed'),
    );
  return { clock, calls, seen, send, codes, facts };
}

const broken = (count: number) => Array<ApiError>(count).fill(new ApiError(500));

describe('circuitBreaker', () => {
  it('opens after 10 failures in a row, and stops sending for 30 s', async () => {
    const { clock, send, codes, calls } = breaking({ openMs: 30_000, onOpen: 'fail' }, broken(10));
    for (let n = 0; n < 12; n += 1) await send(n);
    expect(codes().slice(9)).toEqual(['failed', 'CIRCUIT_OPEN', 'CIRCUIT_OPEN']);
    await clock.advanceAsync(29_999);
    await send(12);
    expect(calls).toHaveLength(10);
    await clock.advanceAsync(1);
    await send(13);
    expect(calls.at(-1)).toBe(30_000);
    await send(14);
    expect(codes().slice(12)).toEqual(['CIRCUIT_OPEN', 'ok', 'ok']);
  });

  it('reports each transition, and never sends a refused request', async () => {
    const { clock, send, facts, seen } = breaking(
      { consecutiveFailures: 1, onOpen: 'fail' },
      broken(1),
    );
    await send(0);
    await send(1);
    expect(seen.values[1]).toMatchObject({
      request: 1,
      error: { retryAfterMs: 1_000 },
      stats: { attempts: 0 },
    });
    await clock.advanceAsync(1_200);
    await send(2);
    expect(facts.map(({ kind, at }) => [kind, at])).toEqual([
      ['circuitOpened', 0],
      ['circuitHalfOpen', 1_000],
      ['circuitClosed', 1_200],
    ]);
  });

  it('makes requests wait by default: for one probe, then for its answer', async () => {
    const { clock, send, calls, codes, seen } = breaking({ consecutiveFailures: 1 }, broken(2));
    for (let n = 0; n < 4; n += 1) await send(n);
    expect(calls).toEqual([0]);
    await clock.advanceAsync(1_000);
    expect(calls).toEqual([0, 1_000]);
    // The probe failed: twice as long. The next goes well, and all go.
    await clock.advanceAsync(2_000);
    expect(calls).toEqual([0, 1_000, 3_000, 3_000]);
    expect(codes()).toEqual(['failed', 'failed', 'ok', 'ok']);
    expect(seen.values[3]?.stats.waits.circuitBreaker?.waitMs).toBe(3_000);
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([{}, { onOpen: 'fail' as const }])('opens at once for a wrong key: %o', async (given) => {
    const { send, codes, seen } = breaking(given, [new ApiError(401)]);
    await send(0);
    await send(1);
    expect(codes()).toEqual(['failed', 'CIRCUIT_OPEN']);
    expect(seen.values[1]).toMatchObject({ error: { reason: 'authorisation' } });
  });

  it('calls `isFailure`, and uses the default if that throws', async () => {
    const isFailure = ({ status }: { status?: number }) => status === 418;
    const errors = [new ApiError(500), new ApiError(418)];
    const picky = breaking({ consecutiveFailures: 1, onOpen: 'fail', isFailure }, errors);
    for (let n = 0; n < 3; n += 1) await picky.send(n);
    expect(picky.codes()).toEqual(['failed', 'failed', 'CIRCUIT_OPEN']);

    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const throwing = () => {
      throw new Error('no');
    };
    const hasty = breaking(
      { consecutiveFailures: 2, onOpen: 'fail', isFailure: throwing },
      broken(2),
    );
    for (let n = 0; n < 3; n += 1) await hasty.send(n);
    expect(hasty.codes()).toEqual(['failed', 'failed', 'CIRCUIT_OPEN']);
    expect(warn).toHaveBeenCalledTimes(1);
    warn.mockRestore();
  });

  it('sends the next probe when one is unsubscribed', async () => {
    const clock = new ManualClock();
    const source = new Subject<number>();
    const breaker = circuitBreaker<number>({
      consecutiveFailures: 1,
      openMs: 1_000,
      onOpen: 'wait',
      clock,
    });
    const tickets = watch(source.pipe(breaker));
    for (let n = 0; n < 3; n += 1) source.next(n);
    expect(tickets.values).toHaveLength(3);
    const [failing, cancelled] = tickets.values;
    failing?.settle('failed');
    cancelled?.settle('cancelled');
    source.next(3);
    source.next(4);
    clock.advance(1_000);
    expect(tickets.values).toHaveLength(4);
    tickets.values[3]?.settle('cancelled');
    expect(tickets.values).toHaveLength(5);
  });

  it('does not count an attempt twice that waits for another gate to be sent again', async () => {
    const clock = new ManualClock();
    const facts: PolicyEvent[] = [];
    const probe = { changed: (fact: PolicyEvent) => facts.push(fact) };
    const seen = watch(
      of('a').pipe(
        circuitBreaker({ consecutiveFailures: 2, clock, instrumentation: probe }),
        rateLimit({
          limits: { requests: { limit: 1, windowMs: 60_000 } },
          clock,
          instrumentation: probe,
        }),
        dispatch(async () => Promise.reject(new ApiError(500)), { clock, random: () => 0 }),
      ),
    );
    await clock.advanceAsync(10);
    // It has passed the breaker again, and waits to fit the rate limit.
    seen.subscription.unsubscribe();
    expect(facts.map(({ kind }) => kind)).toEqual(['limitDenied']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('errors the stream without `outcomes`', async () => {
    const clock = new ManualClock();
    const broken$ = range(0, 3).pipe(
      circuitBreaker({ consecutiveFailures: 1, clock }),
      dispatch(() => Promise.reject(new ApiError(401)), { clock, outcomes: false }),
    );
    const seen = watch(broken$);
    await clock.advanceAsync(0);
    expect(seen).toMatchObject({ state: 'error', error: { status: 401 } });
  });

  it('refuses wrong options, each by its name', () => {
    const wrong: [object, RegExp][] = [
      [{ consecutiveFailures: 0 }, /`consecutiveFailures`.*got 0/],
      [{ openMs: Number.NaN }, /`openMs`.*NaN/],
      [{ halfOpenProbes: 1.5 }, /`halfOpenProbes`/],
      [{ onOpen: 'drop' }, /`onOpen`.*"drop"/],
      [{ isFailure: true }, /`isFailure`/],
      [{ threshold: 3 }, /threshold/],
      [{ reclaimAfterMs: 0 }, /`reclaimAfterMs`/],
    ];
    for (const [options, message] of wrong) expect(() => circuitBreaker(options)).toThrow(message);
  });

  it.each(['before', 'after'])(
    'sends all, with its probe and that of a backoff at once, %s the backoff gate',
    async (where) => {
      const clock = new ManualClock();
      const feedback = new FeedbackSubject({ clock, backoffMs: 1_000 });
      const gates = [
        circuitBreaker<number>({ clock, feedback, consecutiveFailures: 1, openMs: 500 }),
        backoffGate<number>({ feedback }),
      ] as const;
      const [first, second] = where === 'before' ? gates : [gates[1], gates[0]];
      const errors = [new ApiError(429), new ApiError(500)];
      const { calls, project } = failingWith(errors, () => clock.now());
      const source = new Subject<number>();
      const send = dispatch(project, { clock, feedback });
      const seen = watch(source.pipe(first, second, send));
      source.next(0);
      source.next(1);
      await clock.advanceAsync(100);
      source.next(2);
      source.complete();
      await clock.advanceAsync(60_000);
      expect(seen).toMatchObject({ values: ['done', 'done', 'done'], state: 'complete' });
      expect(calls).toHaveLength(5);
      expect(clock.pendingTimers).toBe(0);
    },
  );
});
