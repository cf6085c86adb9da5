import { deepEqual, equal, throws } from 'node:assert/strict';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CircuitBreaker } from '../../../src/policies/circuit-breaker.ts';
import type { CircuitResult } from '../../../src/policies/circuit-types.ts';
import { runs } from '../../support/runs.ts';

/**
 * One stay in a state, as the rules have it. Attempts remember the stay in which they were sent.
 */
type Stay =
  | { readonly state: 'closed'; failures: number }
  | { readonly state: 'open'; readonly until: number; readonly openMs: number }
  | { readonly state: 'half-open'; readonly openMs: number; free: number; missing: number };

interface Attempt {
  readonly stay: Stay;
  readonly generation: number;
}

class Model {
  stay: Stay = { state: 'closed', failures: 0 };
  readonly told: string[] = [];
  readonly #failures: number;
  readonly #openMs: number;
  readonly #probes: number;

  constructor(failures: number, openMs: number, probes: number) {
    this.#failures = failures;
    this.#openMs = openMs;
    this.#probes = probes;
  }

  at(now: number): Stay {
    if (this.stay.state === 'open' && now >= this.stay.until) {
      this.told.push(`circuitHalfOpen at ${this.stay.until}`);
      const { openMs } = this.stay;
      this.stay = { state: 'half-open', openMs, free: this.#probes, missing: this.#probes };
    }
    return this.stay;
  }

  mayEnter(now: number): boolean {
    const stay = this.at(now);
    return stay.state === 'closed' || (stay.state === 'half-open' && stay.free > 0);
  }

  enter(now: number): Stay {
    const stay = this.at(now);
    if (stay.state === 'half-open') stay.free -= 1;
    return stay;
  }

  end(sentIn: Stay, result: CircuitResult, now: number): void {
    const stay = this.at(now);
    if (stay !== sentIn || stay.state === 'open') return;
    const bad = result === 'failed' || typeof result === 'object';
    if (stay.state === 'half-open') {
      if (bad) this.#open(Math.min(stay.openMs * 2, this.#openMs * 5), now);
      else if (result === 'ignored') stay.free += 1;
      else {
        stay.missing -= 1;
        if (stay.missing > 0) return;
        this.told.push(`circuitClosed at ${now}`);
        this.stay = { state: 'closed', failures: 0 };
      }
    } else if (result === 'ok') stay.failures = 0;
    else if (bad) {
      stay.failures += 1;
      if (typeof result === 'object' || stay.failures === this.#failures) {
        this.#open(this.#openMs, now);
      }
    }
  }

  #open(openMs: number, now: number): void {
    this.told.push(`circuitOpened at ${now}`);
    this.stay = { state: 'open', until: now + openMs, openMs };
  }
}

const options = fc.record({
  consecutiveFailures: fc.integer({ min: 1, max: 4 }),
  openMs: fc.constantFrom(0, 1, 50),
  halfOpenProbes: fc.integer({ min: 1, max: 3 }),
});

const results = fc.constantFrom<CircuitResult>('ok', 'failed', 'ignored', { fatal: 'quota' });

type Step =
  | { readonly kind: 'enter' }
  | { readonly kind: 'advance' }
  /** `which`: counted back from the one that was sent last. */
  | { readonly kind: 'end'; readonly which: number; readonly result: CircuitResult }
  | { readonly kind: 'wait'; readonly ms: number };

const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('enter' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('end' as const),
      which: fc.oneof(fc.constant(0), fc.nat(3), fc.nat(80)),
      result: results,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(1, 20, 50) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('advance' as const) }) },
);

/**
 * Plays a script on the breaker and on the model, and returns what is still on its way. They are
 * compared with `node:assert`: `expect` takes a hundred times as long.
 */
function play(breaker: CircuitBreaker, model: Model, script: readonly Step[]) {
  let now = 0;
  const out: Attempt[] = [];
  const told: string[] = [];
  const tell = (facts: ReturnType<CircuitBreaker['advance']>) =>
    told.push(...facts.map(({ kind, at }) => `${kind} at ${at}`));
  for (const step of script) {
    if (step.kind === 'wait') now += step.ms;
    else if (step.kind === 'advance') tell(breaker.advance(now));
    else if (step.kind === 'enter') {
      const may = model.mayEnter(now);
      equal(breaker.check(now) === undefined, may);
      if (may) out.push({ stay: model.enter(now), generation: breaker.enter(now) });
      else throws(() => breaker.enter(now));
    } else if (out.length > 0) {
      const [attempt] = out.splice(out.length - 1 - (step.which % out.length), 1);
      if (attempt === undefined) continue;
      model.end(attempt.stay, step.result, now);
      tell(breaker.record(attempt.generation, step.result, now));
    }
    const stay = model.at(now);
    const retryAfterMs = stay.state === 'open' ? stay.until - now : 0;
    const shown = breaker.snapshot(now);
    deepEqual([shown.state, shown.retryAfterMs], [stay.state, retryAfterMs]);
  }
  tell(breaker.advance(now));
  deepEqual(told, model.told);
  return { now, out };
}

describe('the circuit breaker, in any interleaving', () => {
  it('follows the rules, and reports each transition once', () => {
    fc.assert(
      fc.property(options, fc.array(steps, { maxLength: 120, size: 'max' }), (given, script) => {
        const { consecutiveFailures, openMs, halfOpenProbes } = given;
        const model = new Model(consecutiveFailures, openMs, halfOpenProbes);
        play(new CircuitBreaker(given), model, script);
      }),
      { numRuns: runs(300) },
    );
  });

  it('loses no place for a probe: once all have ended it can always be closed', () => {
    fc.assert(
      fc.property(options, fc.array(steps, { maxLength: 120, size: 'max' }), (given, script) => {
        const { consecutiveFailures, openMs, halfOpenProbes } = given;
        const breaker = new CircuitBreaker(given);
        const model = new Model(consecutiveFailures, openMs, halfOpenProbes);
        const { now, out } = play(breaker, model, script);
        for (const { generation } of out) breaker.record(generation, 'ignored', now);
        const later = now + openMs * 5;
        for (let probe = 0; probe < halfOpenProbes; probe++) {
          expect(breaker.check(later)).toBeUndefined();
          breaker.record(breaker.enter(later), 'ok', later);
        }
        expect(breaker.snapshot(later)).toMatchObject({ state: 'closed', probes: 0 });
      }),
      { numRuns: runs(300) },
    );
  });
});
