import { context, createContextKey, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { ManualClock } from 'headgate/simulator';
import { from, Subject } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Instrumentation } from '../../../src/advanced.ts';
import { backoffGate, createLimiter, FeedbackSubject, throttle } from '../../../src/index.ts';
import { type Sdk, startSdk } from '../../telemetry/sdk.ts';

let sdk: Sdk;
let clock: ManualClock;
beforeEach(() => {
  sdk = startSdk();
  clock = new ManualClock();
});
afterEach(() => sdk.stop());

const CANCELLED = { 'headgate.outcome': 'cancelled' };
const AT_SLOT = { 'headgate.gate': 'concurrency' };

/** How often sizes are estimated tells how many tickets there are: the first that waits has one. */
function counting() {
  const seen: number[] = [];
  const estimate = (n: number) => {
    seen.push(n);
    return { bytes: n };
  };
  return { seen, estimate };
}

describe('a request that waits, where telemetry is on', () => {
  it('gets its ticket when its turn comes, and is reported completely', async () => {
    const { seen, estimate } = counting();
    const first = new Subject<number>();
    const send = (n: number) => (n === 1 ? first : [n]);
    from([1, 2, 3])
      .pipe(throttle(send, { clock, concurrency: 1, estimate }))
      .subscribe();
    expect(seen).toEqual([1, 2]);
    await clock.advanceAsync(2_000);
    first.complete();
    expect(seen).toEqual([1, 2, 3]);
    const now = await sdk.collect();
    expect(now.histogram('headgate.gate.wait.duration', AT_SLOT)).toEqual({ count: 2, sum: 4 });
    expect(now.histogram('headgate.request.duration')).toEqual({ count: 3, sum: 6 });
    expect(sdk.finished('headgate.request')).toHaveLength(3);
    expect(sdk.finished('headgate.wait')).toHaveLength(2);
    // The first ends last: the others pass as its slot is given back.
    expect(sdk.finished('headgate.request').map((span) => span.attributes)).toMatchObject(
      [2, 3, 1].map((bytes) => ({ 'headgate.mode': 'normal', 'headgate.bytes': bytes })),
    );
  });

  it('gets its ticket on arrival if it has a context', () => {
    const key = createContextKey('caller');
    const { seen, estimate } = counting();
    const source = new Subject<number>();
    const first = new Subject<number>();
    const contexts: unknown[] = [];
    const send = (n: number) => {
      contexts.push(context.active().getValue(key));
      return n === 1 ? first : [n];
    };
    source.pipe(throttle(send, { clock, concurrency: 1, estimate })).subscribe();
    for (const n of [1, 2, 3, 4, 5]) {
      const around = n === 4 ? ROOT_CONTEXT.setValue(key, 'mine') : ROOT_CONTEXT;
      context.with(around, () => source.next(n));
    }
    expect(seen).toEqual([1, 2, 4]);
    context.with(ROOT_CONTEXT.setValue(key, 'of another'), () => first.complete());
    expect(contexts).toEqual([undefined, undefined, undefined, 'mine', undefined]);
  });

  it('has the mode of its arrival, whatever the mode is when its turn comes', async () => {
    const source = new Subject<number>();
    const limiter = createLimiter({ clock, backoff: { backoffMs: 1_000 } });
    let calls = 0;
    const send = async (n: number) => {
      calls += 1;
      if (calls === 1) throw Object.assign(new Error('busy'), { status: 429 });
      return n;
    };
    source.pipe(limiter.throttle(send)).subscribe();
    source.next(1);
    await clock.advanceAsync(1);
    expect(limiter.snapshot().mode).toBe('throttled');
    source.next(2);
    await clock.runAllAsync();
    const modes = sdk.finished('headgate.request').map(({ attributes }) => attributes);
    expect(modes.map((each) => each['headgate.mode']).sort()).toEqual(['normal', 'throttled']);
  });

  it.each(['throttle', 'limiter.throttle'])(
    'is counted, and has its span, if its stream is unsubscribed: %s',
    async (way) => {
      const limiter = createLimiter({ clock, concurrency: 1 });
      const other = limiter.throttle(() => new Subject<number>());
      const send = () => new Subject<number>();
      const operator =
        way === 'throttle' ? throttle(send, { clock, concurrency: 1 }) : limiter.throttle(send);
      const stream = from([1, 2, 3]).pipe(operator).subscribe();
      if (way !== 'throttle') from([4, 5]).pipe(other).subscribe();
      await clock.advanceAsync(3_000);
      stream.unsubscribe();
      const now = await sdk.collect();
      expect(now.value('headgate.requests', CANCELLED)).toBe(3);
      expect(now.value('headgate.request.given_up', AT_SLOT)).toBe(2);
      const gaveUp = sdk
        .finished('headgate.request')
        .filter(({ attributes }) => attributes['headgate.gate'] === 'concurrency');
      expect(gaveUp.map(({ duration: [seconds] }) => seconds)).toEqual([3, 3]);
      if (way !== 'throttle') expect(limiter.snapshot().ended.cancelled).toBe(3);
    },
  );

  it('is counted once if the making of its ticket ends the stream', async () => {
    const first = new Subject<number>();
    const source = new Subject<number>();
    const estimate = (n: number) => {
      if (n === 3) stream.unsubscribe();
      return { bytes: 1 };
    };
    const send = (n: number) => (n === 1 ? first : [n]);
    const stream = source.pipe(throttle(send, { clock, concurrency: 1, estimate })).subscribe();
    for (const n of [1, 2, 3, 4, 5]) source.next(n);
    first.complete();
    const now = await sdk.collect();
    expect(now.value('headgate.requests', CANCELLED)).toBe(3);
    expect(now.value('headgate.requests', { 'headgate.outcome': 'ok' })).toBe(2);
  });

  it('ends the stream once if its size cannot be estimated then', async () => {
    const first = new Subject<number>();
    const errors: unknown[] = [];
    const estimate = (n: number) => {
      if (n > 2) throw new Error('no size');
      return { bytes: 1 };
    };
    from([1, 2, 3, 4])
      .pipe(throttle((n) => (n === 1 ? first : [n]), { clock, concurrency: 1, estimate }))
      .subscribe({ error: (error) => errors.push(error) });
    first.complete();
    expect(errors).toMatchObject([{ code: 'ESTIMATOR_FAILED' }]);
  });

  it('gets its ticket on arrival if a custom instrumentation needs it', () => {
    const { seen, estimate } = counting();
    const told: string[] = [];
    const instrumentation: Instrumentation = {
      arrived: ({ value }) => void told.push(`arrived ${value}`),
      queued: ({ value }, gate) => void told.push(`queued ${value} ${gate}`),
    };
    from([1, 2, 3])
      .pipe(
        throttle(() => new Subject<number>(), { clock, concurrency: 1, estimate, instrumentation }),
      )
      .subscribe();
    expect(seen).toEqual([1, 2, 3]);
    const arrivals = told.filter((line) => line.startsWith('arrived'));
    expect(arrivals).toEqual(['arrived 1', 'arrived 2', 'arrived 3']);
    expect(told).toContain('queued 3 concurrency');
  });
});

it('a request gets its ticket on arrival if a shared gate has its own instrumentation', () => {
  const told: unknown[] = [];
  const instrumentation: Instrumentation = { queued: ({ value }) => void told.push(value) };
  const feedback = new FeedbackSubject({ clock, instrumentation });
  feedback.next({ kind: 'throttled', retryAfterMs: 1_000 });
  from([1, 2, 3])
    .pipe(backoffGate({ feedback, clock, telemetry: { spans: 'off' } }))
    .subscribe();
  expect(told).toEqual([1, 2, 3]);
});

it('a span that is active at its arrival is the parent of its request', () => {
  const source = new Subject<number>();
  const caller = sdk.tracer.startSpan('caller');
  source.pipe(throttle((n: number) => [n], { clock })).subscribe();
  context.with(trace.setSpan(ROOT_CONTEXT, caller), () => source.next(1));
  const [span] = sdk.finished('headgate.request');
  expect(span?.parentSpanContext?.spanId).toBe(caller.spanContext().spanId);
});
