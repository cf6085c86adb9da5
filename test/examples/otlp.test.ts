import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { percentilesOf, type Report } from '../../examples/batch/report.ts';
import { type ReceivedSpan, type Receiver, startReceiver } from './otlp.ts';
import { readResults, runProgram, startServer, temporaryFolder } from './program.ts';

/** What times may differ by on a busy machine: spans end a moment after what the report counts. */
const TOLERANCE = { ms: 50, share: 0.03 };

/** An API that rejects requests by chance: it does so on a machine of any speed. */
const API: Parameters<typeof startServer>[1] = {
  seed: 1,
  latency: { meanMs: 250, sigma: 0.5, perOutputTokenMs: 1 },
  failures: [
    { fault: 'error', probability: 0.2, status: 429 },
    { fault: 'error', probability: 0.02, status: 502 },
  ],
};

const named = (spans: readonly ReceivedSpan[], name: string) =>
  spans.filter((span) => span.name === name);
const durationOf = ({ startNs, endNs }: ReceivedSpan) => Number(endNs - startNs) / 1e6;
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

function expectClose(actual: number, expected: number): void {
  const least = Math.max(TOLERANCE.ms, expected * TOLERANCE.share);
  expect(Math.abs(actual - expected), `${actual} ms, reported ${expected} ms`).toBeLessThan(least);
}

/** How many a histogram or counter has counted, of all its series with these attributes. */
function counted({ points }: Receiver, metric: string, attributes: object = {}): number {
  const wanted = Object.entries(attributes);
  const ours = points.filter(
    (point) =>
      point.metric === metric && wanted.every(([key, value]) => point.attributes[key] === value),
  );
  return sum(ours.map(({ value }) => value));
}

describe('what a real run sends by OTLP', () => {
  it('is what the run has done: spans, their parents, their times, and counts', async (test) => {
    const receiver = await startReceiver(test);
    const server = await startServer(test, API);
    const out = join(await temporaryFolder(test), 'results.jsonl');
    const limits = ['--adaptive', 'off', '--concurrency', '30'];
    const args = ['--json', '--limit', '70', '--base-url', server.url, '--out', out, ...limits];
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint };
    const { stdout, stderr } = await runProgram(test, args, env);
    const report: Report = JSON.parse(stdout);
    expect(stderr).not.toContain('headgate telemetry:');

    const { spans } = receiver;
    const requests = named(spans, 'headgate.request');
    const attempts = named(spans, 'headgate.attempt');
    const waits = named(spans, 'headgate.wait');
    expect(requests).toHaveLength(report.prompts);
    expect(attempts).toHaveLength(report.attempts);
    expect(attempts.filter((span) => span.attributes['error.type'] === '429')).toHaveLength(
      report.rejected,
    );
    expect(report.rejected).toBeGreaterThan(0);
    expect(spans).toHaveLength(requests.length + attempts.length + waits.length);
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
    for (const { service, scope, attributes } of spans) {
      expect([service, scope, attributes['headgate.name']]).toEqual([
        'headgate-batch',
        'headgate',
        'batch',
      ]);
    }

    // Each request begins a trace of its own, and its waits and attempts lie in it.
    expect(new Set(requests.map(({ traceId }) => traceId)).size).toBe(report.prompts);
    for (const request of requests) {
      expect(request.parentId).toBeUndefined();
      const inside = spans.filter(({ traceId }) => traceId === request.traceId);
      for (const span of inside) {
        if (span === request) continue;
        expect(span.parentId).toBe(request.spanId);
        expect(span.endNs).toBeGreaterThanOrEqual(span.startNs);
        // A clock of milliseconds gives the start of some, one of nanoseconds that of others.
        expect(Number(span.startNs - request.startNs) / 1e6).toBeGreaterThan(-2);
        expect(Number(span.endNs - request.endNs) / 1e6).toBeLessThan(2);
      }
      expect(named(inside, 'headgate.attempt')).toHaveLength(
        Number(request.attributes['headgate.attempts']),
      );
    }

    const results = await readResults(out);
    const total = percentilesOf(requests.map(durationOf));
    expectClose(total.p50Ms, report.total.p50Ms);
    expectClose(total.p99Ms, report.total.p99Ms);
    expectClose(sum(attempts.map(durationOf)), sum(results.map(({ latencyMs }) => latencyMs)));
    for (const [gate, { requests: waited }] of Object.entries(report.waits)) {
      const atGate = waits.filter(({ attributes }) => attributes['headgate.gate'] === gate);
      expectClose(
        sum(atGate.map(durationOf)),
        sum(results.map((result) => result.waits[gate] ?? 0)),
      );
      // A wait of up to 1 ms is an event.
      expect(new Set(atGate.map(({ traceId }) => traceId)).size).toBeLessThanOrEqual(waited);
    }

    expect(counted(receiver, 'headgate.requests')).toBe(report.prompts);
    const ok = { 'headgate.outcome': 'ok' };
    expect(counted(receiver, 'headgate.requests', ok)).toBe(report.succeeded);
    expect(counted(receiver, 'headgate.attempts')).toBe(report.attempts);
    const rejected = { 'error.type': '429' };
    expect(counted(receiver, 'headgate.attempts', rejected)).toBe(report.rejected);
    expect(counted(receiver, 'headgate.request.duration')).toBe(report.prompts);
  });
});
