import { describe, expect, it } from 'vitest';
import { Closure } from '../../../../src/policies/adaptive-rate/attempts/closure.ts';
import { cycleOf } from '../../../../src/policies/adaptive-rate/measured/cycle.ts';
import { OpenTime } from '../../../../src/policies/adaptive-rate/measured/open-time.ts';
import { attemptAt } from '../attempts.ts';

/** One request in 100 ms. */
const PER_MS = 0.01;

/** A cycle of 2 s that ends with a closure. For half of it there was no demand. */
function cycle(closedMs: number, isRestarted = false) {
  const open = new OpenTime(10, 0, 0);
  open.settled(attemptAt(1_500, { idleMs: 1_000 }), 400);
  if (isRestarted) open.restart(0);
  const closure = new Closure(attemptAt(2_000));
  closure.add(attemptAt(2_000), open);
  const { openMs, idleMs } = cycleOf(closure, open, PER_MS, 0, 2_000, 2_000 + closedMs);
  return { openMs, idleMs };
}

describe('the time without demand of a cycle', () => {
  it('counts as time in which a limit refilled, if its closure is as short as that', () => {
    expect(cycle(400)).toEqual({ openMs: 1_400, idleMs: 600 });
  });

  it('is left out if a used-up window may have closed', () => {
    expect(cycle(401)).toEqual({ openMs: 1_000, idleMs: 1_000 });
  });

  it('is forgotten after an interruption', () => {
    expect(cycle(400, true)).toEqual({ openMs: 2_000, idleMs: 0 });
  });
});
