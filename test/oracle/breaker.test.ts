import { equal } from 'node:assert/strict';
import { describe, expect, it } from 'vitest';
import { CircuitBreaker } from '../../src/policies/circuit-breaker.ts';
import { recorded } from './fixtures.ts';

type State = 'closed' | 'open' | 'half_open';
type Check = readonly ['check', at: number, refusedForMs: number | null, state: State];
type End = readonly ['end', at: number, attempt: number, ok: boolean, State, failures: number];

interface Case {
  readonly consecutiveFailures: number;
  readonly openMs: number;
  readonly halfOpenProbes: number;
  readonly steps: readonly (Check | End)[];
}

interface Followed {
  /** Steps with the same answer. */
  readonly steps: number;
  /** Refusals of a half-open circuit whose probes are all out. */
  readonly busy: number;
  /** Whether an answer came to an attempt that was sent before the last change of state. */
  readonly late: boolean;
}

/** Goes along with an original until an answer comes late: from there it is on another way. */
function follow({ steps, ...options }: Case): Followed {
  const breaker = new CircuitBreaker(options);
  const attempts: { readonly generation: number; readonly changes: number }[] = [];
  let before: string | undefined;
  let changes = 0;
  let followed = 0;
  let busy = 0;
  const look = (now: number) => {
    const state = breaker.snapshot(now).state.replace('-', '_');
    if (state !== before) changes += 1;
    before = state;
    return state;
  };
  for (const step of steps) {
    const now = step[1];
    look(now);
    if (step[0] === 'check') {
      const [, , refusedForMs, state] = step;
      const refusal = breaker.check(now);
      if (refusal === undefined) {
        attempts.push({ generation: breaker.enter(now), changes });
      }
      // `expect` takes a hundred times as long as all the rest.
      equal(look(now), state);
      const isBusy = refusal !== undefined && state === 'half_open';
      if (isBusy) busy += 1;
      equal(refusal?.retryAfterMs ?? null, isBusy ? options.openMs : refusedForMs);
    } else {
      const [, , attempt, ok, state, failures] = step;
      const sent = attempts[attempt];
      if (sent?.changes !== changes) return { steps: followed, busy, late: true };
      breaker.record(sent.generation, ok ? 'ok' : 'failed', now);
      equal(look(now), state);
      equal(breaker.snapshot(now).failures, failures);
    }
    followed += 1;
  }
  return { steps: followed, busy, late: false };
}

describe('a circuit breaker', () => {
  const cases = recorded<Case>('breaker');

  it('does what that of gentlify does', () => {
    const followed = cases.map(follow);
    expect(followed.filter(({ late }) => !late).length).toBeGreaterThan(300);
    expect(followed.reduce((sum, { steps }) => sum + steps, 0)).toBeGreaterThan(15_000);
  });

  it('unlike there, says the configured time to those it refuses while its probes are out', () => {
    const busy = cases.map(follow).reduce((sum, each) => sum + each.busy, 0);
    expect(busy).toBeGreaterThan(100);
    const breaker = new CircuitBreaker({ consecutiveFailures: 1, openMs: 125 });
    breaker.record(breaker.enter(0), 'failed', 0);
    breaker.enter(500);
    expect(breaker.check(500)?.retryAfterMs).toBe(125);
  });

  it('unlike there, does not open anew for answers of before its last change', () => {
    expect(cases.filter((each) => follow(each).late).length).toBeGreaterThan(300);
    const breaker = new CircuitBreaker({ consecutiveFailures: 1, openMs: 125 });
    const sent = [breaker.enter(0), breaker.enter(0)];
    breaker.record(sent[0] ?? -1, 'failed', 0);
    breaker.record(sent[1] ?? -1, 'failed', 100);
    expect(breaker.check(100)?.retryAfterMs).toBe(25);
  });
});
