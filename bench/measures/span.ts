import { trace } from '@opentelemetry/api';
import { expectEqual } from '../expect.ts';
import type { SpanJob } from '../job.ts';
import { startSdk } from '../sdk.ts';

const NAME = 'bare';

/** Nanoseconds for starting and ending a span that is not sampled. */
export async function span({ tasks, warmUp }: SpanJob): Promise<number> {
  const sdk = startSdk(0);
  const tracer = trace.getTracer('bench');
  const run = (count: number) => {
    for (let at = 0; at < count; at += 1) tracer.startSpan(NAME).end();
  };
  run(warmUp);
  const start = performance.now();
  run(tasks);
  const elapsedMs = performance.now() - start;
  expectEqual('spans sampled', sdk.spans(NAME), 0);
  return (elapsedMs * 1e6) / tasks;
}
