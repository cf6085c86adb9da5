import type { RequestFollower } from '../model/inspection.ts';
import type { RequestGate } from '../request/request-gate.ts';

/** Of how many gates it is seen at one look whether they do anything. */
const LOOKED_AT = 2_000;

/** Notes of a gate that is not followed that something goes on there, and nothing more. */
class Watched implements RequestFollower {
  readonly gate: WeakRef<RequestGate>;
  #seen: number;
  #settled = 0;

  constructor(gate: RequestGate) {
    this.gate = new WeakRef(gate);
    this.#seen = gate.gate.tap.sentCount;
    gate.gate.tap.follower = this;
  }

  resent(): void {}

  rejected(): void {}

  settled(): void {
    this.#settled += 1;
  }

  /** Nobody wants to know any more. */
  release(): void {
    const tap = this.gate.deref()?.gate.tap;
    if (tap?.follower === this) tap.follower = undefined;
  }

  /** Whether anything is sent, waits or has ended there since it was asked last. */
  isActive({ gate: { tap, waiting }, slots }: RequestGate): boolean {
    const seen = tap.sentCount + this.#settled;
    const isActive = seen !== this.#seen || waiting > 0 || slots.inFlight > 0;
    this.#seen = seen;
    return isActive;
  }
}

/** The open gates that an inspector has no place for. */
export class OtherGates {
  /** The one that was looked at the longest ago first. */
  readonly #watched = new Map<number, Watched>();
  readonly #ids = new WeakMap<RequestGate, number>();
  #next = 1;

  get size(): number {
    return this.#watched.size;
  }

  add(gate: RequestGate): void {
    const id = this.#next;
    this.#next += 1;
    this.#ids.set(gate, id);
    this.#watched.set(id, new Watched(gate));
  }

  /** It has closed, or is followed from now on. */
  delete(gate: RequestGate): void {
    const id = this.#ids.get(gate);
    if (id === undefined) return;
    this.#watched.get(id)?.release();
    this.#watched.delete(id);
  }

  /**
   * Looks at some of them, others each time, and forgets those that were dropped without being
   * closed. What is taken in is deleted by who takes it.
   *
   * @param takeIn is given each gate, with whether it does anything
   */
  look(takeIn: (gate: RequestGate, isActive: boolean) => void): void {
    const looked = [...first(LOOKED_AT, this.#watched)];
    for (const [id, watched] of looked) {
      this.#watched.delete(id);
      const gate = watched.gate.deref();
      if (gate === undefined) continue;
      this.#watched.set(id, watched);
      takeIn(gate, watched.isActive(gate));
    }
  }

  /** Nobody looks any more. */
  release(): void {
    for (const watched of this.#watched.values()) watched.release();
    this.#watched.clear();
  }
}

function* first<T>(most: number, values: Iterable<T>): Iterable<T> {
  let left = most;
  for (const value of values) {
    if (left === 0) return;
    left -= 1;
    yield value;
  }
}
