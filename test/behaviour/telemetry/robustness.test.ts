import { context, type Meter, TraceFlags, type Tracer, trace } from '@opentelemetry/api';
import { range } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Instrumentation } from '../../../src/advanced.ts';
import { createLimiter, throttle } from '../../../src/index.ts';
import { type Sdk, startSdk } from '../../telemetry/sdk.ts';

let sdk: Sdk;
beforeEach(() => {
  sdk = startSdk();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await sdk.stop();
});

const drained = (count: number, options = {}) =>
  new Promise<void>((complete) => {
    range(0, count)
      .pipe(throttle(async (n: number) => n, { concurrency: 50, ...options }))
      .subscribe({ complete });
  });

describe('telemetry that fails', () => {
  it('affects no request: broken instruments and tracers', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const broken = () => {
      throw new Error('broken');
    };
    const histogram = { record: broken };
    const observable = { addCallback: () => {}, removeCallback: () => {} };
    const meter = {
      createHistogram: () => histogram,
      createObservableCounter: () => observable,
      createObservableGauge: () => observable,
      createObservableUpDownCounter: () => observable,
      addBatchObservableCallback: () => {},
    } as unknown as Meter;
    const tracer = { startSpan: broken } as unknown as Tracer;
    const limiter = createLimiter({ telemetry: { meter, tracer }, concurrency: 2 });
    const results = await Promise.all([1, 2, 3, 4].map((n) => limiter.run(async () => n)));
    expect(results).toEqual([1, 2, 3, 4]);
    await drained(100, { telemetry: { meter, tracer } });
    expect(warn).toHaveBeenCalled();
    expect(limiter.snapshot().concurrency.inFlight).toBe(0);
  });

  it('from the start is left out, with a warning', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const meter = {
      createHistogram: () => {},
      createObservableCounter: () => {
        throw new Error('no instruments');
      },
    } as unknown as Meter;
    expect(await createLimiter({ telemetry: { meter } }).run(async () => 1)).toBe(1);
    expect(warn.mock.calls[0]?.[0]).toContain('goes on without telemetry: Error: no instruments');
  });

  it('does not stop the user’s instrumentation', async () => {
    const told: string[] = [];
    const instrumentation: Instrumentation = {
      arrived: () => void told.push('arrived'),
      attemptStarted: () => {
        told.push('started');
        throw new Error('mine');
      },
      settled: (_ticket, outcome) => void told.push(outcome),
      sending: (_ticket, send) => {
        told.push('sending');
        send();
        send();
      },
    };
    vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    let calls = 0;
    await createLimiter({ instrumentation }).run(async () => {
      calls += 1;
    });
    expect(told).toEqual(['arrived', 'started', 'sending', 'ok']);
    expect(calls).toBe(1);
    const now = await sdk.collect();
    expect(now.value('headgate.requests', { 'headgate.outcome': 'ok' })).toBe(1);
  });
});

describe('a request whose caller is not sampled', () => {
  it('makes no spans, and keeps its context', async () => {
    const start = vi.spyOn(sdk.tracer.constructor.prototype, 'startSpan');
    const caller = { traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: TraceFlags.NONE };
    const parent = trace.setSpanContext(context.active(), caller);
    const limiter = createLimiter();
    const seen = await context.with(parent, () =>
      limiter.run(async () => trace.getSpanContext(context.active())),
    );
    expect(seen).toEqual(caller);
    expect(start).not.toHaveBeenCalled();
    expect(sdk.finished()).toEqual([]);
  });
});
