import type { Clock } from '../util/clock.ts';

/** Says whether requests are refused now. */
export interface Refusing {
  /** The error of a request that comes now; undefined: requests are refused no more. */
  refusal(): Error | undefined;
}

/** A gate whose requests may all have to fail. */
export interface SuspendableGate {
  readonly waiting: number;
  /** Refuses all that comes, for as long as it says so. */
  suspend(refusing: Refusing): void;
  /** Ends the wait of all that wait. */
  clear(error: Error): void;
}

/**
 * Fails all requests at once, at every gate that sends to one provider: those that wait, and those
 * that come until a time. So one answer decides for everyone.
 */
export class Suspension implements Refusing {
  private readonly clock: Clock;
  private readonly gates = new Set<SuspendableGate>();
  private until = Number.NEGATIVE_INFINITY;
  /** Makes the error, of the time left in ms. */
  private errorOf: ((leftMs: number) => Error) | undefined = undefined;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** @returns a function that removes the gate */
  add(gate: SuspendableGate): () => void {
    this.gates.add(gate);
    if (this.errorOf !== undefined) gate.suspend(this);
    return () => this.gates.delete(gate);
  }

  /** How many requests wait, at all gates. */
  get waiting(): number {
    let waiting = 0;
    for (const gate of this.gates) waiting += gate.waiting;
    return waiting;
  }

  /** Fails what waits, and what comes before `untilAt`. */
  start(untilAt: number, errorOf: (leftMs: number) => Error): void {
    this.until = untilAt;
    this.errorOf = errorOf;
    for (const gate of this.gates) gate.suspend(this);
    this.clear(errorOf(untilAt - this.clock.now()));
  }

  refusal(): Error | undefined {
    if (this.errorOf === undefined) return undefined;
    const leftMs = this.until - this.clock.now();
    if (leftMs > 0) return this.errorOf(leftMs);
    this.errorOf = undefined;
    return undefined;
  }

  /** Fails what waits now, after the request whose answer decided it. */
  clear(error: Error): void {
    const gates = [...this.gates];
    queueMicrotask(() => {
      for (const gate of gates) gate.clear(error);
    });
  }
}
