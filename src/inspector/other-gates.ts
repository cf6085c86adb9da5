import type { RequestFollower } from '../model/inspection.ts';
import type { RequestGate } from '../request/request-gate.ts';

/** The number of gates that one look checks for activity. */
const LOOKED_AT = 2_000;

/** Notes only whether a gate that is not followed is active. */
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

  /** Stops watching the gate. */
  release(): void {
    const tap = this.gate.deref()?.gate.tap;
    if (tap?.follower === this) tap.follower = undefined;
  }

  /** Whether requests wait or run now, or were sent or have ended since the last call. */
  isActive({ gate: { tap, waiting }, slots }: RequestGate): boolean {
    const seen = tap.sentCount + this.#settled;
    const isActive = seen !== this.#seen || waiting > 0 || slots.inFlight > 0;
    this.#seen = seen;
    return isActive;
  }
}

/** The open gates that an inspector has no place for. */
export class OtherGates {
  /** In the order of their last look, the oldest first. */
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

  /** Removes a gate that has closed, or is followed from now on. */
  delete(gate: RequestGate): void {
    const id = this.#ids.get(gate);
    if (id === undefined) return;
    this.#watched.get(id)?.release();
    this.#watched.delete(id);
  }

  /**
   * Checks some of the gates, different ones each time, and forgets those that were
   * garbage-collected without being closed.
   *
   * @param takeIn called with each gate, and whether it is active. If it follows the gate, it must
   *   call `delete`
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

  /** Stops watching all gates. */
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
