import { describe, expect, it } from 'vitest';
import { buildReport } from '../../examples/batch/report.ts';
import type { LimitsReport } from '../../examples/batch/report-limits.ts';
import { formatBytes, formatMs, formatReport, PLAIN } from '../../examples/batch/report-text.ts';
import { Tally } from '../../examples/batch/tally.ts';
import { FACTS, tallyOf, waited } from './facts.ts';
import { failed, ok } from './outcomes.ts';

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
        concurrency               0   300 ms  waited for a slot
        byte budget               0        0  waited for bytes in flight to come back
        backoff                   0   100 ms  waited after a 429, its own or another's
        retry                     0        0  waited to be sent again after a server error
        latency              100 ms   12.1 s  in calls, of all its attempts
        total                100 ms   12.5 s  from arrival to result

        limits in force       limit     used
        concurrency              64           requests in flight
        byte budget          64 KiB           in flight

        goodput                 1.0           requests succeeded a second
        capacity                3.0           what the provider's limits allow
        used                   33 %           goodput / capacity

      failed:
        p2: no
      "
    `);
  });

  it('has a row for every gate where anybody waited', () => {
    const waits = {
      rateLimit: { waitMs: 2_000, rounds: 1 },
      pace: { waitMs: 200, rounds: 1 },
      circuitBreaker: { waitMs: 30_000, rounds: 1 },
    };
    // Too few for the 99th percentile: they waited all the same.
    const quick = Array.from({ length: 200 }, (_, index) => ok(index));
    const tally = tallyOf(...quick, ok(200, { waits, durationMs: 32_300 }));
    const text = formatReport(buildReport(tally, FACTS), PLAIN);
    expect(text).toMatch(/^ {2}rate limit +0 +0 {2}waited/m);
    expect(text).toMatch(/^ {2}pace +0 +0 {2}waited/m);
    expect(text).toMatch(/^ {2}circuit breaker +0 +0 {2}waited/m);
  });

  it('says which limits were in force, and what was used of them', () => {
    const limits: LimitsReport = {
      concurrency: 64,
      concurrencyAtEnd: 7,
      maxBytes: 5 * 1024 ** 2,
      rate: { perSecond: 23.76, source: 'learned', ceilingPerSecond: 24, isOut: false },
      rateLimit: {
        requests: { limit: 24, windowMs: 1_000, used: 9 },
        input_tokens: { limit: 90_000, windowMs: 60_000, used: 1_234 },
      },
      intervalMs: 400,
      circuitBreaker: 'half-open',
    };
    const report = buildReport(tallyOf(ok(0)), { ...FACTS, limits, tokens: 54_045 });
    expect(report).toMatchObject({ limits, tokens: 54_045 });
    const text = formatReport(report, PLAIN);
    expect(text).toMatch(/^ {2}tokens +54045 +of prompts and answers/m);
    const block = text.slice(text.indexOf('  limits in force'), text.indexOf('  goodput'));
    expect(`\n${block}`).toMatchInlineSnapshot(`
      "
        limits in force       limit     used
        concurrency              64           requests in flight; 7 at the end
        byte budget           5 MiB           in flight
        rate                   23.8           requests a second at the end, learned from 429s; at the last of them it took 24.0
        requests                 24        9  in 1.00 s; used: in the last of them
        input_tokens          90000     1234  in 60.0 s; used: in the last of them
        pace                 400 ms           between two attempts
        circuit breaker   half-open           at the end

      "
    `);
  });

  it.each([
    ['start', null, 'any +requests a second at the end, nothing was known yet$'],
    ['limit', 12, '12.0 +requests a second at the end, as your limits allow$'],
    ['headers', 12, "12.0 +requests a second at the end, by the provider's headers$"],
  ] as const)('says that a rate is from %s', (source, perSecond, text) => {
    const rate = { perSecond, source, ceilingPerSecond: null, isOut: false };
    const report = buildReport(tallyOf(ok(0)), { ...FACTS, limits: { ...FACTS.limits, rate } });
    expect(formatReport(report, PLAIN)).toMatch(new RegExp(`^ {2}rate +${text}`, 'm'));
  });

  it.each([
    [512, '512 B'],
    [65_536, '64 KiB'],
    [1_600, '1.6 KiB'],
    [5 * 1024 ** 2, '5 MiB'],
  ])('writes %d bytes as %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
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
