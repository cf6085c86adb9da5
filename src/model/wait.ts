import type { GateKind, GateWait } from './outcome.ts';

/** What waiting at one gate has cost a request so far, on top of its waits at other gates. */
export class Wait {
  readonly gate: GateKind;
  waitMs: number;
  rounds: number;
  readonly before: Wait | undefined;
  constructor(gate: GateKind, waitMs: number, rounds: number, before: Wait | undefined) {
    this.gate = gate;
    this.waitMs = waitMs;
    this.rounds = rounds;
    this.before = before;
  }
}

/** The wait at a gate, if there was one. */
export function waitAt(last: Wait | undefined, gate: GateKind): Wait | undefined {
  let wait = last;
  while (wait !== undefined && wait.gate !== gate) wait = wait.before;
  return wait;
}

/** Adds to the waits of a request. @returns the last of them */
export function longer(
  last: Wait | undefined,
  gate: GateKind,
  waitMs: number,
  rounds: number,
): Wait {
  const wait = waitAt(last, gate);
  if (last === undefined || wait === undefined) return new Wait(gate, waitMs, rounds, last);
  wait.waitMs += waitMs;
  wait.rounds += rounds;
  return last;
}

/** All waits of a request, by their gates. */
export function waitsOf(last: Wait | undefined): Readonly<Partial<Record<GateKind, GateWait>>> {
  const waits: Partial<Record<GateKind, GateWait>> = {};
  for (let wait = last; wait !== undefined; wait = wait.before) {
    waits[wait.gate] = { waitMs: wait.waitMs, rounds: wait.rounds };
  }
  return waits;
}
