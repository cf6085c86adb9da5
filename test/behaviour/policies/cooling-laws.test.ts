import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AimdEvent } from '../../../src/model/policy-events.ts';
import { Aimd } from '../../../src/policies/aimd.ts';
import { Interval } from '../../../src/policies/interval.ts';
import { runs } from '../../support/runs.ts';

const THRESHOLD = 3;
const WINDOW = 60;
const COOLING = 60;
const RESET = 5 * COOLING;
const INTERVAL = { intervalMs: 100, maxIntervalMs: 2_000 };

interface Script {
  readonly maxLimit: number;
  readonly initialLimit: number;
  /** Seconds at which something fails, in order. */
  readonly failures: readonly number[];
}

const scripts: fc.Arbitrary<Script> = fc
  .record({
    maxLimit: fc.integer({ min: 1, max: 12 }),
    initialPart: fc.double({ min: 0, max: 1, noNaN: true }),
    // Failures come in bursts, with silences of up to ten minutes between them.
    gaps: fc.array(fc.oneof(fc.nat(5), fc.nat(5), fc.constantFrom(60, 300), fc.nat(600)), {
      maxLength: 40,
      size: 'max',
    }),
  })
  .map(({ maxLimit, initialPart, gaps }) => {
    let at = 0;
    return {
      maxLimit,
      initialLimit: Math.max(1, Math.round(initialPart * maxLimit)),
      failures: gaps.map((gap) => {
        at += gap;
        return at;
      }),
    };
  });

const END = 40 * 600 + 3_600;

function open({ maxLimit, initialLimit }: Script): Aimd {
  const options = { maxLimit, initialLimit, failureThreshold: THRESHOLD };
  return new Aimd(options, 0, new Interval(INTERVAL));
}

const line = ({ kind, at, ...rest }: AimdEvent) =>
  `${at / 1000} ${kind}${'to' in rest ? ` ${rest.from} -> ${rest.to}` : ''}`;

/** The rules, second by second. */
function byTheRules({ maxLimit, initialLimit, failures }: Script): string[] {
  const told: string[] = [];
  let limit = initialLimit;
  let ceiling = maxLimit;
  let doublings = 0;
  let counted: number[] = [];
  let lastFailure = 0;
  let lastStep = 0;
  let next = 0;
  let resting = limit >= ceiling;
  for (let second = 0; second <= END; second++) {
    if (!resting && second - lastStep === COOLING) {
      const from = limit;
      limit = Math.min(ceiling, limit + 1);
      doublings = Math.max(0, doublings - 1);
      lastStep = second;
      resting = limit === ceiling && doublings === 0;
      told.push(`${second} reaccelerated ${from} -> ${limit}`);
    }
    if (ceiling < maxLimit && second - lastFailure === RESET) {
      told.push(`${second} ceilingReset ${ceiling} -> ${maxLimit}`);
      ceiling = maxLimit;
      if (resting) lastStep = second;
      resting = false;
    }
    for (; failures[next] === second; next++) {
      lastFailure = second;
      counted = [...counted.filter((at) => second - at < WINDOW), second];
      if (counted.length < THRESHOLD) continue;
      counted = [];
      ceiling = limit;
      limit = Math.max(1, Math.floor(limit / 2));
      doublings = Math.min(5, doublings + 1);
      lastStep = second;
      resting = false;
      told.push(`${second} decelerated ${ceiling} -> ${limit}`, `${second} coolingStarted`);
    }
  }
  return told;
}

describe('cooling, for any failures at any times', () => {
  it('follows the rules', () => {
    fc.assert(
      fc.property(scripts, (script) => {
        const cooling = open(script);
        const facts = script.failures.flatMap((second) => [...cooling.failed(second * 1000)]);
        facts.push(...cooling.advance(END * 1000));
        expect(facts.map(line)).toEqual(byTheRules(script));
      }),
      { numRuns: runs(300) },
    );
  });

  it('reports the same if a timer drives it or the next failure', () => {
    fc.assert(
      fc.property(scripts, (script) => {
        const lazy = open(script);
        const timed = open(script);
        const lazyFacts: AimdEvent[] = [];
        const timedFacts: AimdEvent[] = [];
        for (const now of [...script.failures.map((second) => second * 1000)]) {
          lazyFacts.push(...lazy.failed(now));
          while (timed.nextChangeAt <= now) {
            const due = timed.nextChangeAt;
            const facts = timed.advance(due);
            expect(facts.length).toBeGreaterThan(0);
            for (const fact of facts) expect(fact.at).toBe(due);
            timedFacts.push(...facts);
          }
          timedFacts.push(...timed.failed(now));
          expect(timed.snapshot(now)).toEqual(lazy.snapshot(now));
        }
        expect(timedFacts).toEqual(lazyFacts);
      }),
    );
  });

  it('keeps limit, ceiling and interval within their bounds, and comes back in the end', () => {
    fc.assert(
      fc.property(
        scripts,
        fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 40, size: 'max' }),
        (script, maxima) => {
          const cooling = open(script);
          let max = script.maxLimit;
          for (const [index, second] of script.failures.entries()) {
            const now = second * 1000;
            cooling.failed(now);
            const maximum = maxima[index];
            if (maximum !== undefined) {
              max = maximum;
              cooling.setMaxLimit(max, now);
            }
            const { limit, ceiling, intervalMs, failures } = cooling.snapshot(now);
            expect(Number.isInteger(limit) && limit >= 1 && limit <= ceiling).toBe(true);
            expect(ceiling).toBeLessThanOrEqual(max);
            expect(intervalMs).toBeGreaterThanOrEqual(INTERVAL.intervalMs);
            expect(intervalMs).toBeLessThanOrEqual(INTERVAL.maxIntervalMs);
            expect(failures).toBeLessThan(THRESHOLD);
          }
          const end = END * 1000;
          cooling.advance(end);
          expect(cooling.snapshot(end)).toMatchObject({
            state: 'running',
            limit: max,
            ceiling: max,
            intervalMs: INTERVAL.intervalMs,
            failures: 0,
            nextChangeInMs: Number.POSITIVE_INFINITY,
          });
        },
      ),
    );
  });
});
