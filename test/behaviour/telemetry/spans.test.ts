import { context, SpanStatusCode, trace } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { ManualClock } from 'headgate/simulator';
import { from, Subject } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { chunkBy, createLimiter, Sized, throttle } from '../../../src/index.ts';
import { lengthOf, parentOf, type Sdk, startSdk } from '../../telemetry/sdk.ts';

let sdk: Sdk;
let clock: ManualClock;
beforeEach(() => {
  sdk = startSdk();
  clock = new ManualClock();
});
afterEach(() => sdk.stop());

const sleep = (ms: number) => new Promise<void>((resolve) => clock.setTimer(resolve, ms));
const rejected = () =>
  Object.assign(new Error('busy'), { status: 429, headers: { 'retry-after': '2' } });

function idOf(span: ReadableSpan | undefined): string | undefined {
  return span?.spanContext().spanId;
}

describe('the spans of a request', () => {
  it('that waits, gets a 429 and is retried show all of this', async () => {
    const limiter = createLimiter({
      name: 'script',
      clock,
      concurrency: 1,
      backoff: { reopen: 'all', throttledForMs: 0 },
    });
    void limiter.run(() => sleep(100));
    let calls = 0;
    const caller = sdk.tracer.startSpan('caller');
    context.with(trace.setSpan(context.active(), caller), () => {
      void limiter.run(
        async () => {
          calls += 1;
          await sleep(50);
          if (calls === 1) throw rejected();
        },
        { bytes: 40, tokens: 7 },
      );
    });
    await clock.advanceAsync(10_000);
    caller.end();
    const [, request] = sdk.finished('headgate.request');
    expect(parentOf(request as ReadableSpan)).toBe(caller.spanContext().spanId);
    expect(request?.attributes).toEqual({
      'headgate.name': 'script',
      'headgate.mode': 'normal',
      'headgate.bytes': 40,
      'headgate.tokens': 7,
      'headgate.attempts': 2,
      'headgate.epoch': 1,
      'headgate.outcome': 'ok',
    });
    expect(request?.status.code).toBe(SpanStatusCode.UNSET);
    expect(lengthOf(request as ReadableSpan)).toBe(100 + 50 + 2_000 + 50);
    expect(request?.events.map(({ name, attributes }) => [name, attributes])).toEqual([
      ['headgate.backoff', { 'headgate.seconds': 2, 'headgate.source': 'retry_after' }],
      ['headgate.mode', { 'headgate.mode': 'throttled' }],
    ]);

    const waits = sdk.finished('headgate.wait');
    expect(waits.map((wait) => [wait.attributes['headgate.gate'], lengthOf(wait)])).toEqual([
      ['concurrency', 100],
      ['backoff', 2_000],
    ]);
    const [, first, second] = sdk.finished('headgate.attempt');
    expect(first?.attributes).toEqual({
      'headgate.name': 'script',
      'http.response.status_code': 429,
      'error.type': '429',
    });
    expect(first?.status.code).toBe(SpanStatusCode.ERROR);
    expect(second?.attributes).toEqual({
      'headgate.name': 'script',
      'http.request.resend_count': 1,
    });
    for (const span of [...waits, first, second]) {
      expect(parentOf(span as ReadableSpan)).toBe(idOf(request));
    }
  });

  it('that fails are errors, and name the error', async () => {
    const down = Object.assign(new Error('down'), { status: 500 });
    const options = {
      clock,
      outcomes: true,
      maxAttempts: 1,
      circuitBreaker: { consecutiveFailures: 1, onOpen: 'fail' },
    } as const;
    from([1, 2])
      .pipe(throttle(() => Promise.reject(down), { ...options, concurrency: 1 }))
      .subscribe();
    await clock.advanceAsync(1_000);
    const ended = (outcome: string) =>
      sdk
        .finished('headgate.request')
        .find(({ attributes }) => attributes['headgate.outcome'] === outcome);
    const failed = ended('failed');
    const refused = ended('rejected');
    expect(failed?.attributes['error.type']).toBe('500');
    expect(failed?.status.code).toBe(SpanStatusCode.ERROR);
    expect(failed?.events.map(({ name, attributes }) => [name, attributes])).toEqual([
      ['headgate.circuit', { 'headgate.state': 'open' }],
    ]);
    expect(refused?.attributes['error.type']).toBe('CircuitOpenError');
  });

  it('that is given up end with it: unsubscribed, aborted or timed out', async () => {
    const never = () => new Promise<void>(() => {});
    const stream = from([1, 2, 3])
      .pipe(throttle(never, { clock, concurrency: 1 }))
      .subscribe();
    stream.unsubscribe();
    const limiter = createLimiter({ clock, concurrency: 1, waitTimeoutMs: 100 });
    const controller = new AbortController();
    const { signal } = controller;
    const aborted = limiter.run(never, { signal }).catch(() => 'aborted');
    const late = limiter.run(never).catch((error: Error) => error.name);
    await clock.advanceAsync(200);
    expect(await late).toBe('WaitTimeoutError');
    controller.abort();
    expect(await aborted).toBe('aborted');
    const requests = sdk.finished('headgate.request');
    expect(requests.map(({ attributes }) => attributes['headgate.outcome'])).toEqual([
      'cancelled',
      'cancelled',
      'cancelled',
      'rejected',
      'cancelled',
    ]);
    expect(
      sdk.finished('headgate.attempt').map(({ attributes }) => attributes['error.type']),
    ).toEqual(['cancelled', 'cancelled']);
    const now = await sdk.collect();
    expect(now.value('headgate.request.active')).toBe(0);
    for (const { value } of now.points('headgate.request.queued')) expect(value).toBe(0);
    expect(now.value('headgate.requests', { 'headgate.outcome': 'cancelled' })).toBe(4);
    expect(now.value('headgate.attempts', { 'error.type': 'cancelled' })).toBe(2);
  });

  it('of a chunk are below its own, which is below the first item’s and links to others', async () => {
    const callers = ['a', 'b', 'c'].map((name) => sdk.tracer.startSpan(name));
    const items = new Subject<Sized<number>>();
    items
      .pipe(
        chunkBy({ maxItems: 4 }),
        throttle(async (chunk: number[]) => chunk),
      )
      .subscribe();
    for (const caller of [...callers, ...callers.slice(0, 1)]) {
      context.with(trace.setSpan(context.active(), caller), () => items.next(new Sized(1, 10)));
    }
    await new Promise((resolve) => setTimeout(resolve));
    const [chunk] = sdk.finished('headgate.chunk');
    const links = chunk?.links.map(({ context: { spanId } }) => spanId);
    const [first, ...others] = callers.map((caller) => caller.spanContext().spanId);
    expect(parentOf(chunk as ReadableSpan)).toBe(first);
    // A link to the parent would take its place in Jaeger.
    expect(links).toEqual(others);
    expect(chunk?.attributes['headgate.items']).toBe(4);
    const [request] = sdk.finished('headgate.request');
    expect(parentOf(request as ReadableSpan)).toBe(idOf(chunk));
  });
});
