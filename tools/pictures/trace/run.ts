import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { createLimiter } from 'headgate';
import { createProvider } from 'headgate/simulator';

type Exported = ReturnType<InMemorySpanExporter['getFinishedSpans']>[number];

/** A span of the run; times in ms. */
export interface TracedSpan {
  readonly id: string;
  readonly parentId: string | undefined;
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly string[];
  /** The traces of linked spans. */
  readonly links: readonly string[];
}

const REQUEST = { inputTokens: 120, maxTokens: 400, outputTokens: 300, bytes: 1_700 };
const REQUESTS = 60;

/**
 * Sends requests into a provider that answers 429 for a time.
 * @returns the trace of a request that waited for a slot, was rejected, waited, and succeeded
 */
export async function tracedRun(): Promise<readonly TracedSpan[]> {
  const exporter = new InMemorySpanExporter();
  const tracing = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  const limiter = createLimiter({
    name: 'chat',
    concurrency: 8,
    telemetry: { tracer: tracing.getTracer('pictures') },
  });
  const provider = createProvider({
    seed: 3,
    latency: { meanMs: 280, sigma: 0.4 },
    rejectLatencyMs: 30,
    storms: [{ fromMs: 500, toMs: 1_000, status: 429, retryAfterMs: 900 }],
  });
  const call = async () => {
    const { usage, headers } = await provider.submitOrThrow(REQUEST);
    return { headers, usage: { total_tokens: usage.inputTokens + usage.outputTokens } };
  };
  await Promise.all(
    Array.from({ length: REQUESTS }, () => limiter.run(call, { bytes: REQUEST.bytes })),
  );
  limiter.close();
  const traces = new Map<string, Exported[]>();
  for (const span of exporter.getFinishedSpans()) {
    const { traceId } = span.spanContext();
    traces.set(traceId, [...(traces.get(traceId) ?? []), span]);
  }
  const found = [...traces.values()].filter(
    (spans) => countOf(spans, 'headgate.attempt') >= 2 && countOf(spans, 'headgate.wait') >= 2,
  );
  const [longest] = found.sort((a, b) => linksIn(b) - linksIn(a) || b.length - a.length);
  if (longest === undefined) throw new Error('no request waited and was turned away: run again');
  return longest.map(tracedSpan).sort((a, b) => a.startMs - b.startMs || b.endMs - a.endMs);
}

function countOf(spans: readonly Exported[], name: string): number {
  return spans.filter((span) => span.name.startsWith(name)).length;
}

/** Prefers a trace with a wait that links to the 429 of another request. */
function linksIn(spans: readonly Exported[]): number {
  return spans.reduce((sum, { links }) => sum + links.length, 0);
}

function tracedSpan(span: Exported): TracedSpan {
  const ms = ([seconds, nanos]: readonly [number, number]) => seconds * 1_000 + nanos / 1e6;
  return {
    id: span.spanContext().spanId,
    parentId: span.parentSpanContext?.spanId,
    name: span.name,
    startMs: ms(span.startTime),
    endMs: ms(span.endTime),
    attributes: span.attributes,
    events: span.events.map(({ name }) => name),
    links: span.links.map(({ context }) => context.traceId),
  };
}
