import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import protobuf from 'protobufjs';
import type { TestContext } from 'vitest';

/**
 * Of opentelemetry-proto 1.x, what is read here: collector/{trace,metrics}/v1 and what they hold.
 */
const SCHEMA = `
syntax = "proto3";
message TraceRequest { repeated ResourceSpans resource_spans = 1; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
message ScopeSpans { Scope scope = 1; repeated Span spans = 2; }
message Span {
  bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4;
  string name = 5; int32 kind = 6;
  fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8;
  repeated KeyValue attributes = 9; repeated Event events = 11; Status status = 15;
}
message Event { fixed64 time_unix_nano = 1; string name = 2; repeated KeyValue attributes = 3; }
message Status { string message = 2; int32 code = 3; }
message MetricsRequest { repeated ResourceMetrics resource_metrics = 1; }
message ResourceMetrics { Resource resource = 1; repeated ScopeMetrics scope_metrics = 2; }
message ScopeMetrics { Scope scope = 1; repeated Metric metrics = 2; }
message Metric {
  string name = 1; string unit = 3;
  Points gauge = 5; Points sum = 7; Histogram histogram = 9;
}
message Points { repeated NumberPoint data_points = 1; }
message NumberPoint { repeated KeyValue attributes = 7; double as_double = 4; sfixed64 as_int = 6; }
message Histogram { repeated HistogramPoint data_points = 1; }
message HistogramPoint { repeated KeyValue attributes = 9; fixed64 count = 4; double sum = 5; }
message Resource { repeated KeyValue attributes = 1; }
message Scope { string name = 1; string version = 2; }
message KeyValue { string key = 1; AnyValue value = 2; }
message AnyValue {
  oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; }
}
`;
const { root } = protobuf.parse(SCHEMA);
/** Nanoseconds of the day are more than a number can hold: they come as text. */
const AS_JSON = { longs: String, bytes: String, defaults: false, arrays: true } as const;

type Attributes = Readonly<Record<string, unknown>>;
interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

export interface ReceivedSpan {
  readonly service: unknown;
  readonly scope: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Undefined: it has no parent. */
  readonly parentId: string | undefined;
  readonly attributes: Attributes;
  readonly events: readonly string[];
  readonly startNs: bigint;
  readonly endNs: bigint;
}

/** The last point of a series. */
export interface ReceivedPoint {
  readonly metric: string;
  readonly attributes: Attributes;
  /** Of a histogram: how many it has counted. */
  readonly value: number;
}

export interface Receiver {
  readonly endpoint: string;
  readonly spans: readonly ReceivedSpan[];
  /** Of the last message. */
  readonly points: readonly ReceivedPoint[];
}

/** Receives OTLP as protobuf over HTTP, and keeps it until the end of the test. */
export async function startReceiver(test: TestContext): Promise<Receiver> {
  const spans: ReceivedSpan[] = [];
  let points: ReceivedPoint[] = [];
  const take: Readonly<Record<string, (body: Uint8Array) => void>> = {
    '/v1/traces': (body) => void spans.push(...spansOf(body)),
    '/v1/metrics': (body) => {
      points = pointsOf(body);
    },
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const isRead = request.headers['content-type'] === 'application/x-protobuf';
      take[request.url ?? '']?.(Buffer.concat(chunks));
      response.writeHead(isRead ? 200 : 415).end();
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  test.onTestFinished(() => server.close().closeAllConnections());
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    get points() {
      return points;
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: the schema above says what it is.
function decode(type: string, body: Uint8Array): any {
  const message = root.lookupType(type);
  return message.toObject(message.decode(body), AS_JSON);
}

function spansOf(body: Uint8Array): ReceivedSpan[] {
  const found: ReceivedSpan[] = [];
  for (const { resource, scopeSpans } of decode('TraceRequest', body).resourceSpans) {
    const service = attributesOf(resource.attributes)['service.name'];
    for (const { scope, spans } of scopeSpans) {
      for (const span of spans) {
        found.push({
          service,
          scope: scope.name,
          name: span.name,
          traceId: span.traceId,
          spanId: span.spanId,
          parentId: span.parentSpanId || undefined,
          attributes: attributesOf(span.attributes),
          events: span.events.map(({ name }: { name: string }) => name),
          startNs: BigInt(span.startTimeUnixNano),
          endNs: BigInt(span.endTimeUnixNano),
        });
      }
    }
  }
  return found;
}

function pointsOf(body: Uint8Array): ReceivedPoint[] {
  const found: ReceivedPoint[] = [];
  for (const { scopeMetrics } of decode('MetricsRequest', body).resourceMetrics) {
    for (const { metrics } of scopeMetrics) {
      for (const { name, gauge, sum, histogram } of metrics) {
        for (const point of (gauge ?? sum ?? histogram).dataPoints) {
          const value = Number(point.count ?? point.asInt ?? point.asDouble);
          found.push({ metric: name, attributes: attributesOf(point.attributes), value });
        }
      }
    }
  }
  return found;
}

function attributesOf(attributes: readonly KeyValue[]): Attributes {
  return Object.fromEntries(
    attributes.map(({ key, value }) => {
      const [said] = Object.values(value);
      return [key, 'intValue' in value ? Number(said) : said];
    }),
  );
}
