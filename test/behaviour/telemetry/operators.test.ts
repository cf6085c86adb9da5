import { ManualClock } from 'headgate/simulator';
import { from, NEVER, Subject } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  backoffGate,
  byteBudget,
  byteEstimate,
  chunkBy,
  circuitBreaker,
  concurrencyLimit,
  dispatch,
  FeedbackSubject,
  pace,
  rateLimit,
  Sized,
} from '../../../src/index.ts';
import { METRICS } from '../../../src/telemetry/metrics.ts';
import { parentOf, type Sdk, startSdk } from '../../telemetry/sdk.ts';

let sdk: Sdk;
let clock: ManualClock;
beforeEach(() => {
  sdk = startSdk();
  clock = new ManualClock();
});
afterEach(() => sdk.stop());

const gate = (kind: string) => ({ 'headgate.gate': kind });
const mode = (name: string) => ({ 'headgate.mode': name });
const sleep = (ms: number) => new Promise<void>((resolve) => clock.setTimer(resolve, ms));
const busy = Object.assign(new Error('busy'), { status: 429 });

/** The names of the gauges, and other state, that are told under a name. */
async function told(name: string): Promise<readonly string[]> {
  const now = await sdk.collect();
  const states = Object.values(METRICS)
    .filter(({ instrument }) => instrument === 'gauge' || instrument === 'updowncounter')
    .map((metric): string => metric.name);
  return now.metrics
    .filter(({ descriptor }) => states.includes(descriptor.name))
    .filter(({ descriptor }) =>
      now.points(descriptor.name).some(({ attributes }) => attributes['headgate.name'] === name),
    )
    .map(({ descriptor }) => descriptor.name)
    .sort();
}

describe('a single operator reports its own state, and no other', () => {
  it('concurrencyLimit', async () => {
    from([1, 2, 3])
      .pipe(concurrencyLimit({ name: 'slots', clock, concurrency: 2 }))
      .subscribe();
    const now = await sdk.collect();
    expect(now.value('headgate.concurrency.limit', mode('normal'), 'slots')).toBe(2);
    expect(now.value('headgate.concurrency.limit', mode('throttled'), 'slots')).toBeUndefined();
    expect(now.value('headgate.request.queued', gate('concurrency'), 'slots')).toBe(1);
    expect(await told('slots')).toEqual(['headgate.concurrency.limit', 'headgate.request.queued']);
  });

  it('byteBudget', async () => {
    from(['aaaa', 'bbbb', 'cccc'])
      .pipe(byteBudget({ name: 'bytes', clock, maxBytes: 5 }))
      .subscribe();
    const now = await sdk.collect();
    expect(now.value('headgate.byte_budget.usage', {}, 'bytes')).toBe(8);
    expect(now.value('headgate.byte_budget.limit', {}, 'bytes')).toBe(5);
    expect(now.value('headgate.request.queued', gate('byteBudget'), 'bytes')).toBe(1);
    expect(await told('bytes')).toEqual([
      'headgate.byte_budget.limit',
      'headgate.byte_budget.usage',
      'headgate.request.queued',
    ]);
  });

  it('backoffGate: the mode, the closure, who waits and for how long, without a probe anywhere', async () => {
    const feedback = new FeedbackSubject({ clock });
    from([1, 2])
      .pipe(backoffGate({ name: 'backoff', feedback }))
      .subscribe();
    const source = new Subject<number>();
    source.pipe(backoffGate({ name: 'backoff', feedback })).subscribe();
    const before = await sdk.collect();
    expect(before.value('headgate.backoff.active', {}, 'backoff')).toBe(0);
    feedback.next({ kind: 'throttled', retryAfterMs: 500 });
    source.next(3);
    const now = await sdk.collect();
    expect(now.value('headgate.backoff.active', {}, 'backoff')).toBe(1);
    expect(now.value('headgate.mode', mode('throttled'), 'backoff')).toBe(1);
    expect(now.value('headgate.mode', mode('normal'), 'backoff')).toBe(0);
    // Both operators wait in the one queue of the feedback: it counts once.
    expect(now.value('headgate.request.queued', gate('backoff'), 'backoff')).toBe(1);
    expect(await told('backoff')).toEqual([
      'headgate.backoff.active',
      'headgate.mode',
      'headgate.outage.active',
      'headgate.request.queued',
      'headgate.suspended',
    ]);
    clock.advance(500);
    const open = await sdk.collect();
    expect(open.histogram('headgate.gate.wait.duration', gate('backoff'), 'backoff')).toEqual({
      count: 1,
      sum: 0.5,
    });
    expect(open.value('headgate.request.queued', gate('backoff'), 'backoff')).toBe(0);
  });

  it('rateLimit, pace and circuitBreaker', async () => {
    const limits = { requests: { limit: 2, windowMs: 10_000 } };
    from([1, 2, 3])
      .pipe(rateLimit({ name: 'rate', clock, limits }))
      .subscribe();
    from([1, 2])
      .pipe(pace({ name: 'pace', clock, intervalMs: 50, jitter: 0 }))
      .subscribe();
    const broken = { name: 'circuit', clock, consecutiveFailures: 1 };
    from([1])
      .pipe(circuitBreaker(broken))
      .subscribe((ticket) => ticket.settle('failed'));
    NEVER.pipe(circuitBreaker({ ...broken })).subscribe();
    const now = await sdk.collect();
    const requests = { 'headgate.limit': 'requests' };
    expect(now.value('headgate.rate_limit.usage', requests, 'rate')).toBe(2);
    expect(now.value('headgate.rate_limit.limit', requests, 'rate')).toBe(2);
    expect(now.value('headgate.rate_limit.denied', requests, 'rate')).toBe(1);
    expect(now.value('headgate.request.queued', gate('rateLimit'), 'rate')).toBe(1);
    expect(now.value('headgate.rate.target', { 'headgate.source': 'limit' }, 'rate')).toBe(0.2);
    expect(now.value('headgate.dispatch.interval', {}, 'pace')).toBe(0.05);
    expect(now.value('headgate.request.queued', gate('pace'), 'pace')).toBe(1);
    expect(await told('pace')).toEqual(['headgate.dispatch.interval', 'headgate.request.queued']);
    expect(await told('rate')).toEqual([
      'headgate.rate.target',
      'headgate.rate_limit.limit',
      'headgate.rate_limit.usage',
      'headgate.request.queued',
    ]);
    expect(await told('circuit')).toEqual(['headgate.circuit.state', 'headgate.request.queued']);
    const state = (name: string) =>
      now.value('headgate.circuit.state', { 'headgate.state': name }, 'circuit');
    expect([state('closed'), state('open')]).toEqual([1, 0]);
  });

  it('dispatch', async () => {
    from([1, 2])
      .pipe(dispatch(() => NEVER, { name: 'send', clock }))
      .subscribe();
    const now = await sdk.collect();
    expect(now.value('headgate.request.active', {}, 'send')).toBe(2);
    expect(now.value('headgate.mode', mode('normal'), 'send')).toBe(1);
    expect(await told('send')).toEqual([
      'headgate.backoff.active',
      'headgate.mode',
      'headgate.outage.active',
      'headgate.request.active',
      'headgate.request.queued',
      'headgate.suspended',
    ]);
  });

  it('chunkBy and byteEstimate, whose sizes are told by what they were estimated from', async () => {
    const image = { type: 'image', data: 'AAAA' };
    const values = ['four', 'seven77', { chunks: [image] }, { a: 1 }, new Uint8Array(9), ['ab']];
    from(values)
      .pipe(byteEstimate(undefined, { name: 'in' }), chunkBy({ name: 'in', maxItems: 4 }))
      .subscribe();
    from([1])
      .pipe(byteEstimate(() => 70, { name: 'in' }))
      .subscribe();
    const now = await sdk.collect();
    const sizes = (kind: string) =>
      now.histogram('headgate.request.estimate', { 'headgate.kind': kind }, 'in');
    expect(sizes('text')).toEqual({ count: 3, sum: 4 + 7 + 2 });
    expect(sizes('image')).toEqual({ count: 1, sum: 3 });
    expect(sizes('json')).toEqual({ count: 1, sum: 7 });
    expect(sizes('binary')).toEqual({ count: 1, sum: 9 });
    expect(sizes('custom')).toEqual({ count: 1, sum: 70 });
    expect(now.histogram('headgate.chunk.size', {}, 'in')).toEqual({ count: 2, sum: 6 });
    expect(await told('in')).toEqual([]);
  });

  it('byteEstimate, of what models take', async () => {
    const tokens = { type: 'encoded_text', tokens: [1, 2, 3] };
    const tensor = { dtype: 'int64', data: [1, 2] };
    const chat = { messages: [{ role: 'user', content: 'hello' }] };
    const sizes: number[] = [];
    from([tokens, { chunks: [tokens] }, tensor, chat])
      .pipe(byteEstimate(undefined, { name: 'models' }))
      .subscribe(({ bytes }) => sizes.push(bytes));
    const now = await sdk.collect();
    const told = (kind: string) =>
      now.histogram('headgate.request.estimate', { 'headgate.kind': kind }, 'models');
    const [chunk = 0, input = 0, ofTensor, ofChat] = sizes;
    expect(told('tokens')).toEqual({ count: 2, sum: chunk + input });
    expect(told('tensor')).toEqual({ count: 1, sum: ofTensor });
    expect(told('chat')).toEqual({ count: 1, sum: ofChat });
    expect(now.points('headgate.request.estimate')).toHaveLength(3);
  });

  it('reports nothing once it has ended, or if telemetry is off', async () => {
    const options = { name: 'gone', clock, concurrency: 2 };
    const subscription = NEVER.pipe(concurrencyLimit(options)).subscribe();
    NEVER.pipe(concurrencyLimit({ ...options, name: 'off', telemetry: false })).subscribe();
    expect((await sdk.collect()).value('headgate.concurrency.limit', mode('normal'), 'gone')).toBe(
      2,
    );
    subscription.unsubscribe();
    expect((await sdk.collect()).value('headgate.concurrency.limit', mode('normal'), 'gone')).toBe(
      0,
    );
    expect(await told('off')).toEqual([]);
  });
});

describe('several operators', () => {
  it('of one name add up', async () => {
    for (const concurrency of [2, 3]) {
      from([1, 2, 3, 4])
        .pipe(concurrencyLimit({ name: 'both', clock, concurrency }))
        .subscribe();
    }
    const now = await sdk.collect();
    expect(now.value('headgate.concurrency.limit', mode('normal'), 'both')).toBe(5);
    expect(now.value('headgate.request.queued', gate('concurrency'), 'both')).toBe(2 + 1);
  });

  it('of one stream count a request once, and make one span of it', async () => {
    const feedback = new FeedbackSubject({ clock });
    const name = 'stream';
    from([1, 2])
      .pipe(
        concurrencyLimit({ name, feedback, concurrency: 1 }),
        byteBudget({ name, feedback }),
        backoffGate({ name, feedback }),
        pace({ name, feedback, intervalMs: 10, jitter: 0 }),
        dispatch(() => sleep(100), { name, feedback }),
      )
      .subscribe();
    await clock.advanceAsync(1_000);
    const now = await sdk.collect();
    expect(now.value('headgate.requests', { 'headgate.outcome': 'ok' }, name)).toBe(2);
    expect(now.histogram('headgate.request.duration', {}, name)).toEqual({
      count: 2,
      sum: 0.1 + 0.2,
    });
    expect(now.value('headgate.attempts', {}, name)).toBe(2);
    expect(sdk.finished('headgate.request')).toHaveLength(2);
    const [first, second] = sdk.finished('headgate.attempt');
    const [wait] = sdk.finished('headgate.wait');
    expect(wait?.attributes['headgate.gate']).toBe('concurrency');
    expect(wait && parentOf(wait)).toBe(second && parentOf(second));
    expect(first && parentOf(first)).not.toBe(second && parentOf(second));
  });

  it('of one stream with names of their own each tell all of their part, and nothing stays open', async () => {
    from([1, 2])
      .pipe(
        concurrencyLimit({ name: 'one', clock, concurrency: 1 }),
        dispatch(() => sleep(100), { name: 'other', clock }),
      )
      .subscribe();
    await clock.advanceAsync(1_000);
    const now = await sdk.collect();
    for (const name of ['one', 'other']) {
      expect(now.value('headgate.requests', { 'headgate.outcome': 'ok' }, name), name).toBe(2);
    }
    expect(now.value('headgate.attempts', {}, 'one')).toBe(0);
    expect(now.value('headgate.attempts', {}, 'other')).toBe(2);
    const names = sdk.finished('headgate.request').map((span) => span.attributes['headgate.name']);
    expect(names.sort()).toEqual(['one', 'one', 'other', 'other']);
  });

  it('tell of the waits of retries at the gate of a feedback that has no probe', async () => {
    const feedback = new FeedbackSubject({ clock, backoffMs: 300, reopen: 'all' });
    let calls = 0;
    from([1])
      .pipe(
        dispatch(
          async () => {
            calls += 1;
            if (calls === 1) throw busy;
          },
          { name: 'retried', feedback },
        ),
      )
      .subscribe();
    await clock.advanceAsync(1);
    const closed = await sdk.collect();
    expect(closed.value('headgate.request.queued', gate('backoff'), 'retried')).toBe(1);
    await clock.advanceAsync(1_000);
    const now = await sdk.collect();
    expect(now.histogram('headgate.gate.wait.duration', gate('backoff'), 'retried')).toEqual({
      count: 1,
      sum: 0.3,
    });
    expect(sdk.finished('headgate.wait')).toHaveLength(1);
    const [request] = sdk.finished('headgate.request');
    expect(request?.events.map(({ name }) => name)).toEqual(['headgate.backoff', 'headgate.mode']);
  });
});

describe('what was estimated', () => {
  it('is compared with the usage in an answer automatically', async () => {
    from([new Sized('prompt', 400, 100)])
      .pipe(dispatch(async () => ({ usage: { total_tokens: 50 } }), { name: 'used', clock }))
      .subscribe();
    await clock.advanceAsync(1);
    const now = await sdk.collect();
    const ratio = now.histogram(
      'headgate.byte_estimate.ratio',
      { 'headgate.unit': 'tokens' },
      'used',
    );
    expect(ratio).toEqual({ count: 1, sum: 2 });
    expect(now.value('headgate.tokens', {}, 'used')).toBe(50);
  });
});
