import { metrics } from '@opentelemetry/api';
import { expectEqual } from '../expect.ts';
import type { RecordsJob } from '../job.ts';
import { startSdk } from '../sdk.ts';

/** As many buckets as headgate's durations have, in s. */
const BUCKETS = Array.from({ length: 22 }, (_, n) => 0.005 * 2 ** n);
/** The attributes of a successful request and of its wait. */
const NAMED = { 'headgate.name': 'default' };
const WAITED = { 'headgate.name': 'default', 'headgate.gate': 'concurrency' };

/** Nanoseconds that an SDK needs for the histograms of one request. */
export async function records({ tasks, warmUp }: RecordsJob): Promise<number> {
  const sdk = startSdk(undefined);
  const meter = metrics.getMeter('bench');
  const histogram = (name: string) =>
    meter.createHistogram(name, { advice: { explicitBucketBoundaries: BUCKETS } });
  const [wait, attempt, whole] = [histogram('wait'), histogram('attempt'), histogram('whole')];
  const counter = meter.createCounter('requests');
  const run = (count: number) => {
    for (let at = 0; at < count; at += 1) {
      const seconds = at / count;
      wait.record(seconds, WAITED);
      attempt.record(seconds / 2, NAMED);
      whole.record(seconds * 2, NAMED);
    }
    counter.add(count);
  };
  run(warmUp);
  const start = performance.now();
  run(tasks);
  const elapsedMs = performance.now() - start;
  expectEqual('requests recorded', await sdk.total('requests'), warmUp + tasks);
  return (elapsedMs * 1e6) / tasks;
}
