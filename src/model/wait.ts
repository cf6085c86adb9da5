import type { GateKind, GateWait } from './outcome.ts';

/** The wait of a request for one policy so far, linked to its other waits. */
export class Wait {
  readonly gate: GateKind;
  /** The named limit, if the policy has several. */
  readonly limit: string | undefined;
  waitMs: number;
  rounds: number;
  readonly before: Wait | undefined;
  constructor(
    gate: GateKind,
    limit: string | undefined,
    waitMs: number,
    rounds: number,
    before: Wait | undefined,
  ) {
    this.gate = gate;
    this.limit = limit;
    this.waitMs = waitMs;
    this.rounds = rounds;
    this.before = before;
  }
}

/** Adds to the waits of a request. @returns the last of them */
export function longer(
  last: Wait | undefined,
  gate: GateKind,
  limit: string | undefined,
  waitMs: number,
  rounds: number,
): Wait {
  let wait = last;
  while (wait !== undefined && (wait.gate !== gate || wait.limit !== limit)) wait = wait.before;
  if (last === undefined || wait === undefined) return new Wait(gate, limit, waitMs, rounds, last);
  wait.waitMs += waitMs;
  wait.rounds += rounds;
  return last;
}

/** All waits of a request, by cause, and within a cause by named limit. */
export function waitsOf(last: Wait | undefined): Readonly<Partial<Record<GateKind, GateWait>>> {
  const waits: Partial<Record<GateKind, GateWait>> = {};
  for (let wait = last; wait !== undefined; wait = wait.before) {
    const { gate, limit } = wait;
    const { waitMs = 0, rounds = 0, limits } = waits[gate] ?? {};
    const named = limit === undefined ? limits : { ...limits, [limit]: wait.waitMs };
    waits[gate] = {
      waitMs: waitMs + wait.waitMs,
      rounds: rounds + wait.rounds,
      ...(named && { limits: named }),
    };
  }
  return waits;
}
