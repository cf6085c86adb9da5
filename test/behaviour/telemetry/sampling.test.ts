import { context, TraceFlags, trace } from '@opentelemetry/api';
import {
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';
import { ManualClock } from 'headgate/simulator';
import { from } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { chunkBy, createLimiter, Sized, throttle } from '../../../src/index.ts';
import { type Sdk, startSdk } from '../../telemetry/sdk.ts';

let sdk: Sdk | undefined;
let clock: ManualClock;
beforeEach(() => {
  clock = new ManualClock();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await sdk?.stop();
});

/** An SDK, and the names of the spans that are started with it, sampled or not. */
function started(sampler: Sampler) {
  sdk = startSdk({ sampler });
  const startSpan = vi.spyOn(sdk.tracer.constructor.prototype, 'startSpan');
  return { sdk, names: () => startSpan.mock.calls.map(([name]) => name) };
}

const none = () => new TraceIdRatioBasedSampler(0);
const all = () => new TraceIdRatioBasedSampler(1);
const samplers = [
  ['a ratio of 0', none],
  ['a parent-based ratio of 0', () => new ParentBasedSampler({ root: none() })],
] as const;

const sleep = (ms: number) => new Promise<void>((resolve) => clock.setTimer(resolve, ms));
const busy = Object.assign(new Error('busy'), { status: 429, headers: { 'retry-after': '1' } });

/** A request that waits for a slot, is rejected, waits for a backoff, and is sent again. */
async function eventful() {
  const limiter = createLimiter({ clock, concurrency: 1 });
  const slot = await limiter.acquire();
  let attempts = 0;
  const seen: unknown[] = [];
  const sent = limiter.run(async () => {
    attempts += 1;
    seen.push(trace.getSpanContext(context.active()));
    await sleep(10);
    if (attempts === 1) throw busy;
  });
  await clock.advanceAsync(50);
  slot.release();
  await clock.advanceAsync(10_000);
  await sent;
  return seen;
}

describe('a request that the sampler leaves out', () => {
  it.each(samplers)('starts its own span and none below it, with %s', async (_, sampler) => {
    const { sdk, names } = started(sampler());
    const seen = await eventful();
    // The lease that held the slot is a request, too.
    expect(names()).toEqual(['headgate.request', 'headgate.request']);
    expect(seen).toHaveLength(2);
    for (const span of seen) expect(span).toMatchObject({ traceFlags: TraceFlags.NONE });
    expect(sdk.finished()).toEqual([]);
  });

  it('would have started a span for each wait and attempt', async () => {
    const { names } = started(all());
    await eventful();
    expect(names().filter((name) => name === 'headgate.wait')).toHaveLength(2);
    expect(names().filter((name) => name === 'headgate.attempt')).toHaveLength(1 + 2);
  });

  it.each(samplers)(
    'starts none at all where its caller was left out, with %s',
    async (_, sampler) => {
      const { sdk, names } = started(sampler());
      const caller = sdk.tracer.startSpan('caller');
      const seen = await context.with(trace.setSpan(context.active(), caller), eventful);
      expect(names()).toEqual(['caller']);
      expect(seen).toEqual([caller.spanContext(), caller.spanContext()]);
    },
  );

  it.each(samplers)(
    'starts none at all where its chunk was left out, with %s',
    async (_, sampler) => {
      const { names } = started(sampler());
      let sent = 0;
      from([1, 2, 3, 4].map((n) => new Sized(n, 10)))
        .pipe(
          chunkBy({ clock, maxItems: 2 }),
          throttle(() => sleep(10), { clock, concurrency: 1 }),
        )
        .subscribe(() => {
          sent += 1;
        });
      await clock.advanceAsync(1_000);
      expect(sent).toBe(2);
      expect(names()).toEqual(['headgate.chunk', 'headgate.chunk']);
    },
  );
});

describe('a request whose caller is recorded, and not sampled', () => {
  const recorder: Sampler = { shouldSample: () => ({ decision: SamplingDecision.RECORD }) };

  it('has spans that are recorded, if the sampler says so', async () => {
    const { sdk, names } = started(recorder);
    const caller = sdk.tracer.startSpan('caller');
    const seen = await context.with(trace.setSpan(context.active(), caller), eventful);
    expect(names().filter((name) => name === 'headgate.attempt')).toHaveLength(1 + 2);
    expect(new Set(names())).toEqual(
      new Set(['caller', 'headgate.request', 'headgate.wait', 'headgate.attempt']),
    );
    const { traceId } = caller.spanContext();
    for (const span of seen) expect(span).toMatchObject({ traceId, traceFlags: TraceFlags.NONE });
    // An exporter gets only sampled spans.
    expect(sdk.finished()).toEqual([]);
  });

  it('has no recorded spans with a parent-based sampler', async () => {
    const { sdk, names } = started(new ParentBasedSampler({ root: recorder }));
    const caller = sdk.tracer.startSpan('caller');
    await context.with(trace.setSpan(context.active(), caller), eventful);
    // The lease that held the slot is a request, too.
    expect(names()).toEqual(['caller', 'headgate.request', 'headgate.request']);
  });
});

describe('a request whose caller was chosen', () => {
  it('has its spans with a parent-based ratio of 0', async () => {
    const { sdk } = started(new ParentBasedSampler({ root: none() }));
    const traceId = '1'.repeat(32);
    const caller = { traceId, spanId: '2'.repeat(16), traceFlags: TraceFlags.SAMPLED };
    await context.with(trace.setSpanContext(context.active(), caller), eventful);
    const ids = sdk.finished().map((span: ReadableSpan) => span.spanContext().traceId);
    expect(ids).toHaveLength(2 + 2 + 3);
    expect(new Set(ids)).toEqual(new Set([traceId]));
  });
});
