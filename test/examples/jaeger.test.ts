import { describe, expect, it } from 'vitest';
import { overview } from '../../dashboards/src/overview/overview.ts';
import { whySlow } from '../../dashboards/src/why-slow/why-slow.ts';
import type { Report } from '../../examples/batch/report.ts';
import { type FoundSpan, startJaeger } from './jaeger.ts';
import { runProgram } from './program.ts';

const SERVICE = 'headgate-batch';
const PROMPTS = 70;

/** The searches that the dashboards link to, by their titles, with what is chosen put in. */
function searches(address: string): readonly (readonly [title: string, query: string])[] {
  const links = [overview(), whySlow()].flatMap(({ links = [] }) => links);
  const found = links.filter(({ url }) => url?.includes('/search?'));
  return found.map(({ title, url = '' }) => {
    const filled = url
      .replaceAll('$' + '{jaeger}', address)
      .replaceAll('$' + '{service:percentencode}', SERVICE)
      .replaceAll('$' + '{limiter:percentencode}', 'batch')
      .replaceAll('$' + '{__from}', String(Date.now() - 900_000))
      .replaceAll('$' + '{__to}', String(Date.now()));
    return [title ?? '', filled.replace(`${address}/search?`, '')];
  });
}

const named = (spans: readonly FoundSpan[], name: string) =>
  spans.filter((span) => span.name === name);

/** What a trace must have for a search to have found it rightly. */
const WANTED: Readonly<Record<string, (spans: readonly FoundSpan[]) => boolean>> = {
  'Slow requests': (spans) => named(spans, 'headgate.request').some(isLong),
  'Attempts with 429': (spans) =>
    named(spans, 'headgate.attempt').some(({ attributes }) => attributes['error.type'] === '429'),
  'Long waits': (spans) => named(spans, 'headgate.wait').some(isLong),
};

function isLong({ durationMs }: FoundSpan): boolean {
  return durationMs >= 1_000;
}

describe('a real Jaeger', () => {
  it('has the traces of a real run, and finds what the dashboards link to', async (test) => {
    const jaeger = await startJaeger(test);
    const args = ['--json', '--limit', String(PROMPTS)];
    const env = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: jaeger.tracesEndpoint };
    const { stdout, stderr } = await runProgram(test, args, env);
    const report: Report = JSON.parse(stdout);
    expect(stderr).not.toContain('headgate telemetry:');

    expect(await jaeger.services()).toContain(SERVICE);
    const traces = await jaeger.search(`service=${SERVICE}&limit=1000`);
    expect(traces).toHaveLength(report.prompts);
    const spans = traces.flat();
    expect(named(spans, 'headgate.attempt')).toHaveLength(report.attempts);
    for (const trace of traces) {
      const [request] = named(trace, 'headgate.request');
      expect(request?.parentId).toBeUndefined();
      for (const span of trace) {
        if (span !== request) expect(span.parentId).toBe(request?.spanId);
      }
    }

    const links = searches(jaeger.address);
    expect(links).toHaveLength(6);
    for (const [title, query] of links) {
      const isWanted = WANTED[title];
      const hits = await jaeger.search(query);
      const expected = traces.filter((trace) => isWanted?.(trace));
      expect(expected.length, title).toBeGreaterThan(0);
      expect(hits, title).toHaveLength(Math.min(50, expected.length));
      expect(
        hits.filter((trace) => isWanted?.(trace)),
        title,
      ).toHaveLength(hits.length);
    }
  });
});
