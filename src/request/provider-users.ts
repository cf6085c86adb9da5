import type { Verdict } from '../model/feedback.ts';
import type { GaugeSnapshot } from '../model/gauge.ts';
import type { Instrumentation } from '../model/instrumentation.ts';
import { partsOf } from '../model/join-instrumentations.ts';
import type { Emit, PolicyEvent } from '../model/policy-events.ts';
import type { Refusing } from '../queue/gate-rules.ts';
import type { Clock } from '../util/clock.ts';

/** A gate whose requests may all have to fail. */
interface SuspendableGate {
  readonly waiting: number;
  /** Refuses all requests that arrive, for as long as `refusal` returns an error. */
  suspend(refusing: Refusing): void;
  /** Ends the wait of all waiting requests. */
  clear(error: Error): void;
}

/** A sender to the provider. */
interface Member {
  readonly gate: SuspendableGate;
  /** Receives the events of policies, beside the instrumentations. */
  readonly emit: Emit | undefined;
  /** Receives the answers that others report of the provider. */
  readonly hear: ((verdict: Verdict) => void) | undefined;
}

/** Sums of times are not exact: this much may be left after the time that an error names. */
const ROUNDING_MS = 1e-6;

/** Members that register several times. A member stays until all its registrations have ended. */
class Registrations<T> {
  readonly #members = new Map<T, { times: number; readonly end: (() => void) | undefined }>();
  readonly #begin: (member: T) => (() => void) | undefined;

  /**
   * @param begin is called for the first registration of a member; the function that it returns is
   *   called when the last one has ended
   */
  constructor(begin: (member: T) => (() => void) | undefined = () => undefined) {
    this.#begin = begin;
  }

  get members(): Iterable<T> {
    return this.#members.keys();
  }

  /** @returns ends this registration */
  add(member: T): () => void {
    const known = this.#members.get(member) ?? { times: 0, end: this.#begin(member) };
    this.#members.set(member, known);
    known.times += 1;
    return () => {
      known.times -= 1;
      if (known.times !== 0) return;
      this.#members.delete(member);
      known.end?.();
    };
  }
}

/**
 * All gates that send to one provider. One answer may decide for all of them: the requests that
 * wait at any of them fail, and so do those that arrive before a given time. Each instrumentation
 * receives every backoff, mode and outage once, even if it was registered several times.
 */
export class ProviderUsers implements Refusing {
  readonly #clock: Clock;
  readonly #members = new Set<Member>();
  readonly #watched = new Registrations<Instrumentation>();
  readonly #shown: Registrations<Instrumentation>;
  #until = Number.NEGATIVE_INFINITY;
  /**
   * Makes the error of a suspension from the time left in ms; undefined: requests are not refused.
   */
  #errorOf: ((leftMs: number) => Error) | undefined = undefined;

  /** @param snapshot the state that instrumentations are shown */
  constructor(clock: Clock, snapshot: () => GaugeSnapshot) {
    this.#clock = clock;
    this.#shown = new Registrations((part) => part.opened?.(snapshot));
  }

  /** A gate sends to this provider. @returns ends that */
  join(gate: SuspendableGate, emit?: Member['emit'], hear?: Member['hear']): () => void {
    const member = { gate, emit, hear };
    this.#members.add(member);
    if (this.#errorOf !== undefined) gate.suspend(this);
    return () => this.#members.delete(member);
  }

  /** Another sender received this answer: adaptive policies here learn from it. */
  hear(verdict: Verdict): void {
    for (const { hear } of [...this.#members]) hear?.(verdict);
  }

  /** Reports to this instrumentation until all its registrations end. @returns ends this one */
  watch(instrumentation: Instrumentation | undefined): () => void {
    const parts = instrumentation === undefined ? [] : partsOf(instrumentation);
    return endOf(parts.map((part) => this.#watched.add(part)));
  }

  /** As `watch`, and shows the state to the instrumentation. @returns ends both */
  show(instrumentation: Instrumentation): () => void {
    const unwatch = this.watch(instrumentation);
    const shown = partsOf(instrumentation).map((part) => this.#shown.add(part));
    return endOf([...shown, unwatch]);
  }

  emit(event: PolicyEvent): void {
    this.tell((instrumentation) => instrumentation.changed?.(event));
    for (const { emit } of [...this.#members]) emit?.(event);
  }

  /** Calls a hook of each instrumentation. */
  tell(hook: (instrumentation: Instrumentation) => void): void {
    for (const instrumentation of this.#watched.members) hook(instrumentation);
  }

  /** The number of waiting requests at all gates. */
  get waiting(): number {
    let waiting = 0;
    for (const { gate } of this.#members) waiting += gate.waiting;
    return waiting;
  }

  /** Fails all waiting requests, and those that arrive before `untilAt`. */
  suspend(untilAt: number, errorOf: (leftMs: number) => Error): void {
    this.#until = untilAt;
    this.#errorOf = errorOf;
    for (const { gate } of this.#members) gate.suspend(this);
    this.clear(errorOf(untilAt - this.#clock.now()));
  }

  refusal(): Error | undefined {
    if (this.#errorOf === undefined) return undefined;
    const leftMs = this.#until - this.#clock.now();
    if (leftMs > ROUNDING_MS) return this.#errorOf(leftMs);
    this.#errorOf = undefined;
    return undefined;
  }

  /** Fails all waiting requests, after the request whose answer decided it. */
  clear(error: Error): void {
    const members = [...this.#members];
    queueMicrotask(() => {
      for (const { gate } of members) gate.clear(error);
    });
  }
}

function endOf(registrations: readonly (() => void)[]): () => void {
  return () => {
    for (const end of registrations) end();
  };
}
