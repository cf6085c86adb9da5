import { describe, expect, it } from 'vitest';
import { buildReport, percentilesOf, type RunFacts } from '../../examples/batch/report.ts';
import { formatMs, formatReport, PLAIN } from '../../examples/batch/report-text.ts';
import { resultOf } from '../../examples/batch/results.ts';
import { Tally } from '../../examples/batch/tally.ts';
import { failed, ok } from './outcomes.ts';

const FACTS: RunFacts = {
  ended: 'complete',
  error: null,
  prompts: 4,
  attempts: 6,
  rejected: 2,
  elapsedMs: 2_000,
  capacity: 6,
};
const waited = { concurrency: { waitMs: 300, rounds: 2 }, backoff: { waitMs: 100, rounds: 1 } };

function tallyOf(...outcomes: Parameters<Tally['add']>[0][]): Tally {
  const tally = new Tally();
  for (const outcome of outcomes) tally.add(outcome);
  return tally;
}

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
      waits: {
        concurrency: { p50Ms: 0, p99Ms: 300 },
        byteBudget: { p50Ms: 0, p99Ms: 0 },
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

describe('formatReport', () => {
  it('aligns its figures and explains them', () => {
    const tally = tallyOf(ok(0, { waits: waited, durationMs: 12_500 }), ok(1), failed(2, 'no'));
    expect(`\n${formatReport(buildReport(tally, FACTS), PLAIN)}`).toMatchInlineSnapshot(`
      "
      4 prompts in 2.00 s

        succeeded                 2
        failed                    1
        unfinished                1           the run ended before they had a result
        attempts                  6           calls to the provider
        429s                      2           33 % of the attempts

        time of a request       p50      p99
        concurrency               0   300 ms  waited for a slot: fewer while throttled
        byte budget               0        0  waited for bytes in flight to come back
        backoff                   0   100 ms  waited after a 429, its own or another's
        retry                     0        0  waited to be sent again after a server error
        latency              100 ms   12.1 s  in calls, of all its attempts
        total                100 ms   12.5 s  from arrival to result

        goodput                 1.0           requests succeeded a second
        capacity                3.0           what the provider's limits allow
        used                   33 %           goodput / capacity

      failed:
        p2: no
      "
    `);
  });

  it('leaves out what nobody knows, and says why a run ended', () => {
    const facts = { ...FACTS, ended: 'SIGINT', capacity: undefined, attempts: 0 } as const;
    const text = formatReport(buildReport(new Tally(), facts), PLAIN);
    expect(text).toContain('4 prompts, stopped by SIGINT after 2.00 s');
    expect(text).toMatch(/unfinished +4/);
    expect(text).not.toMatch(/capacity|NaN/);
  });

  it.each([
    [0, '0'],
    [0.4, '0'],
    [12.3, '12 ms'],
    [999.6, '1.00 s'],
    [4_214, '4.21 s'],
    [9_996, '10.0 s'],
    [75_060, '75.1 s'],
    [123_456, '123 s'],
  ])('writes %d ms as %s', (ms, text) => {
    expect(formatMs(ms)).toBe(text);
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
