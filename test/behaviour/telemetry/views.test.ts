import {
  AggregationType,
  createAllowListAttributesProcessor,
  MeterProvider,
  type ViewOptions,
} from '@opentelemetry/sdk-metrics';
import { expect, it } from 'vitest';
import { createLimiter } from '../../../src/index.ts';
import { Collected, PullReader } from '../../telemetry/sdk.ts';

/** Metrics of ten requests, of which two fail, through an SDK with views. */
async function collectedWith(views: ViewOptions[]): Promise<Collected> {
  const reader = new PullReader();
  const meter = new MeterProvider({ readers: [reader], views }).getMeter('views');
  const limiter = createLimiter({ concurrency: 1, telemetry: { meter } });
  const send = async (n: number) => {
    if (n < 2) throw Object.assign(new Error('no'), { status: 400 });
  };
  await Promise.allSettled(Array.from({ length: 10 }, (_, n) => limiter.run(() => send(n))));
  return new Collected((await reader.collect()).resourceMetrics);
}

const nameOnly = [createAllowListAttributesProcessor(['headgate.name'])];

it('a View renames and drops metrics, and changes buckets and attributes of histograms', async () => {
  const collected = await collectedWith([
    { instrumentName: 'headgate.requests', name: 'llm.requests' },
    { instrumentName: 'headgate.mode', aggregation: { type: AggregationType.DROP } },
    {
      instrumentName: 'headgate.*.duration',
      aggregation: {
        type: AggregationType.EXPLICIT_BUCKET_HISTOGRAM,
        options: { boundaries: [1, 2] },
      },
      attributesProcessors: nameOnly,
    },
  ]);
  expect(collected.value('llm.requests', { 'headgate.outcome': 'ok' })).toBe(8);
  expect(collected.value('llm.requests', { 'headgate.outcome': 'failed' })).toBe(2);
  expect(collected.points('headgate.requests')).toEqual([]);
  expect(collected.points('headgate.mode')).toEqual([]);
  expect(collected.points('headgate.attempt.duration')).toMatchObject([
    {
      attributes: { 'headgate.name': 'default' },
      value: { count: 10, buckets: { boundaries: [1, 2] } },
    },
  ]);
  expect(collected.histogram('headgate.gate.wait.duration').count).toBe(9);
});

it('the SDK does not add counters whose attribute a View removes, as the guide says', async () => {
  const views = [{ instrumentName: 'headgate.requests', attributesProcessors: nameOnly }];
  const collected = await collectedWith(views);
  expect(collected.value('headgate.requests')).toBe(0);
});
