import { describe, expect, it } from 'vitest';
import { EVENTS, metricTable, SPANS, spanTable } from '../../docs/src/telemetry-tables.ts';
import { ATTRIBUTES } from '../../src/telemetry/attributes.ts';
import type { Metric } from '../../src/telemetry/meter.ts';
import { METRICS } from '../../src/telemetry/metrics.ts';

describe('the tables of the documentation', () => {
  it('have a line for each metric, with its unit and attributes', () => {
    const lines = metricTable().split('\n');
    expect(lines).toHaveLength(2 + Object.keys(METRICS).length);
    expect(lines).toContain(
      '| `headgate.requests` | counter, `{request}` | `headgate.outcome` | ended requests, by outcome |',
    );
    for (const { name } of Object.values<Metric>(METRICS))
      expect(metricTable()).toContain(`\`${name}\``);
  });

  it('have a line for each span and event', () => {
    const lines = spanTable().split('\n');
    const count = Object.keys(SPANS).length + Object.keys(EVENTS).length;
    expect(lines).toHaveLength(2 + count);
    for (const line of lines)
      expect(line.split('|')).toHaveLength(lines[0]?.split('|').length ?? 0);
  });
});

describe('names', () => {
  it('are given once, in small letters, and histograms have buckets that grow', () => {
    const names = Object.values<Metric>(METRICS).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of [...names, ...Object.values(ATTRIBUTES)]) {
      expect(name).toMatch(/^[a-z]+([._][a-z]+)+$/);
    }
    for (const metric of Object.values<Metric>(METRICS)) {
      const { buckets = [] } = metric;
      expect(buckets).toEqual([...buckets].sort((a, b) => a - b));
    }
  });
});
