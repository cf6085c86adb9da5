import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
import { freePort } from '../../bench/servers/free-port.ts';
import { answering, ended } from '../dashboards/programs.ts';

/** A span as the query API of Jaeger tells it. */
export interface FoundSpan {
  readonly name: string;
  readonly spanId: string;
  readonly parentId: string | undefined;
  readonly durationMs: number;
  readonly attributes: Readonly<Record<string, unknown>>;
}

export interface Jaeger {
  /** Takes OTLP over HTTP. */
  readonly tracesEndpoint: string;
  readonly address: string;
  services(): Promise<readonly string[]>;
  /** The traces that a search finds, by the query of its page's address. */
  search(query: string): Promise<readonly (readonly FoundSpan[])[]>;
}

interface ApiSpan {
  readonly operationName: string;
  readonly spanID: string;
  readonly references: readonly { readonly refType: string; readonly spanID: string }[];
  /** Microseconds. */
  readonly duration: number;
  readonly tags: readonly { readonly key: string; readonly value: unknown }[];
}

const configOf = (otlp: number, query: number, grpc: number) => `
service:
  extensions: [jaeger_storage, jaeger_query]
  pipelines:
    traces: { receivers: [otlp], exporters: [jaeger_storage_exporter] }
  telemetry:
    metrics: { level: none }
    logs: { level: error }
extensions:
  jaeger_query:
    storage: { traces: memory }
    http: { endpoint: '127.0.0.1:${query}' }
    grpc: { endpoint: '127.0.0.1:${grpc}' }
  jaeger_storage:
    backends: { memory: { memory: { max_traces: 10000 } } }
receivers:
  otlp:
    protocols:
      http: { endpoint: '127.0.0.1:${otlp}' }
exporters:
  jaeger_storage_exporter: { trace_storage: memory }
`;

/** Starts a Jaeger of its own, which keeps traces in memory until the test is over. */
export async function startJaeger(test: TestContext): Promise<Jaeger> {
  const folder = await mkdtemp(join(tmpdir(), 'headgate-jaeger-'));
  const [otlp, query, grpc] = [await freePort(), await freePort(), await freePort()];
  const file = join(folder, 'jaeger.yaml');
  await writeFile(file, configOf(otlp, query, grpc));
  const child = spawn('jaeger', ['--config', file], { stdio: 'ignore' });
  test.onTestFinished(async () => {
    await ended(child);
    await rm(folder, { recursive: true, force: true });
  });
  await once(child, 'spawn');
  const address = `http://127.0.0.1:${query}`;
  await answering(`${address}/api/services`, child);
  const ask = async <T>(path: string): Promise<T> => {
    const response = await fetch(`${address}/api/${path}`);
    const { data, errors } = (await response.json()) as { data: T; errors: unknown };
    if (!response.ok) throw new Error(`${JSON.stringify(errors)}: ${path}`);
    return data;
  };
  return {
    tracesEndpoint: `http://127.0.0.1:${otlp}/v1/traces`,
    address,
    services: () => ask('services'),
    search: async (text) => {
      const traces = await ask<{ spans: ApiSpan[] }[]>(`traces?${text}`);
      return traces.map(({ spans }) => spans.map(found));
    },
  };
}

function found({ operationName, spanID, references, duration, tags }: ApiSpan): FoundSpan {
  return {
    name: operationName,
    spanId: spanID,
    parentId: references.find(({ refType }) => refType === 'CHILD_OF')?.spanID,
    durationMs: duration / 1_000,
    attributes: Object.fromEntries(tags.map(({ key, value }) => [key, value])),
  };
}
