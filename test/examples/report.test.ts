import { describe, expect, it } from 'vitest';
import { buildReport, percentilesOf } from '../../examples/batch/report.ts';
import { resultOf } from '../../examples/batch/results.ts';
import { FACTS, LIMITS, tallyOf, waited } from './facts.ts';
import { failed, ok } from './outcomes.ts';

describe('percentilesOf', () => {
  it('takes the nearest rank', () => {
    const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(percentilesOf(hundred)).toEqual({ p50Ms: 50, p99Ms: 99 });
    expect(percentilesOf([7])).toEqual({ p50Ms: 7, p99Ms: 7 });
    expect(percentilesOf([])).toEqual({ p50Ms: 0, p99Ms: 0 });
  });
});

describe('buildReport', () => {
  it('counts requests that did not wait as 0, and calls as what is left of the time', () => {
    const slow = ok(2, { waits: waited, durationMs: 450, attempts: 3 });
    const report = buildReport(tallyOf(ok(0), ok(1), slow), { ...FACTS, prompts: 3 });
    expect(report).toMatchObject({
      succeeded: 3,
      failed: 0,
      unfinished: 0,
      attempts: 6,
      rejected: 2,
      tokens: null,
      limits: LIMITS,
      waits: {
        concurrency: { p50Ms: 0, p99Ms: 300, requests: 1 },
        byteBudget: { p50Ms: 0, p99Ms: 0, requests: 0 },
        backoff: { p50Ms: 0, p99Ms: 100 },
      },
      latency: { p50Ms: 100, p99Ms: 100 },
      total: { p50Ms: 100, p99Ms: 450 },
      goodput: { requestsPerSecond: 1.5, capacityPerSecond: 3, share: 0.5 },
    });
  });

  it('knows no capacity where nobody tells', () => {
    const { goodput } = buildReport(tallyOf(ok(0)), { ...FACTS, capacity: undefined });
    expect(goodput).toEqual({ requestsPerSecond: 0.5, capacityPerSecond: null, share: null });
  });

  it('gathers failures by what they say', () => {
    const down = new Error('down');
    const errors = [down, down, down, down, ...['a', 'b', 'c', 'd', 'e'].map((text) => text)];
    const { failures, failed: count } = buildReport(
      tallyOf(...errors.map((error, index) => failed(index, error))),
      FACTS,
    );
    expect(count).toBe(9);
    expect(failures).toHaveLength(5);
    expect(failures[0]).toEqual({ error: 'down', count: 4, ids: ['p0', 'p1', 'p2'] });
  });
});

describe('resultOf', () => {
  it('keeps what one wants to know of a request', () => {
    expect(resultOf(ok(3, { waits: waited, durationMs: 450.26, attempts: 2 }))).toEqual({
      id: 'p3',
      index: 3,
      status: 'ok',
      text: 'yes',
      attempts: 2,
      waits: { concurrency: 300, backoff: 100 },
      latencyMs: 50.3,
    });
    expect(resultOf(failed(1, new Error('no')))).toMatchObject({ status: 'failed', error: 'no' });
  });
});
