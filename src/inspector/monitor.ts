import { traceIds } from '../model/inspection.ts';
import { openGates, type RequestGate } from '../request/request-gate.ts';
import { print } from '../util/print.ts';
import { clip } from './format.ts';
import { OtherGates } from './other-gates.ts';
import { KEPT_MS, RequestLog, type RequestQuery } from './request-log.ts';
import { TrackedGate } from './tracked-gate.ts';
import type { Controls, Frame, GateSummary } from './wire.ts';
import type { FoundRequest, RequestRecord } from './wire-requests.ts';

/**
 * The most limiters and streams that are followed. For others, only their number is known, and
 * whether they are active: an active one takes the place of an idle one.
 */
export const MOST_GATES = 200;
/** The most ended limiters and streams that are kept. */
const MOST_ENDED = 50;
/** A gate that was neither active nor shown for this time gives its place to an active one. */
const IDLE_MS = 10_000;

/** A list of at most this length is sent with every frame; a longer one with each fourth. */
const SHORT_LIST = 20;

/** Characters of a value that is shown. */
const VALUE_LENGTH = 400;

export interface MonitorOptions {
  readonly showValues: boolean;
  /** Whether records name the traces of requests. */
  readonly keepsTraces?: boolean;
  /** Milliseconds since 1970. It may step back, as when the system's clock is set. */
  readonly wallNow: () => number;
}

/** Follows the limiters and streams of the process, and makes the frames that pages show. */
export class Monitor {
  readonly #log = new RequestLog();
  readonly #gates = new Map<number, TrackedGate>();
  readonly #byGate = new WeakMap<RequestGate, TrackedGate>();
  readonly #options: MonitorOptions;
  readonly #wallNow: () => number;
  readonly #unwatch: () => void;
  /** Open, but not followed. */
  readonly #others = new OtherGates();
  #nextGate = 1;
  #nextRequest = 1;
  #looks = 0;

  constructor(options: MonitorOptions) {
    this.#options = options;
    this.#wallNow = neverBack(options.wallNow);
    traceIds.keep(options.keepsTraces === true);
    this.#unwatch = openGates.watch({
      opened: (gate) => this.#opened(gate),
      closed: (gate) => this.#closed(gate),
    });
  }

  /** Looks at everything; called four times a second. */
  look(): void {
    this.#looks += 1;
    for (const gate of this.#gates.values()) gate.look();
    this.#others.look((gate, isActive) => {
      if (this.#gates.size < MOST_GATES || (isActive && this.#displaceIdle())) this.#follow(gate);
    });
    if (this.#looks % 4 === 0) this.#expire();
  }

  close(): void {
    this.#unwatch();
    traceIds.keep(false);
    for (const gate of this.#gates.values()) gate.release();
    this.#others.release();
    this.#gates.clear();
  }

  /** A limiter or stream by its number; undefined: it is not followed, or not any more. */
  find(id: number): TrackedGate | undefined {
    return this.#gates.get(id);
  }

  /** The default gate of a page: the one where most requests wait, or else run. */
  get busiest(): TrackedGate | undefined {
    let busiest: TrackedGate | undefined;
    let most = -1;
    for (const gate of this.#gates.values()) {
      const { waiting, inFlight, condition, perSecond } = gate.summary();
      const isOver = condition === 'ended' || condition === 'closed';
      const weight = isOver ? 0 : 1 + waiting * 1_000 + inFlight + perSecond;
      if (weight > most) [busiest, most] = [gate, weight];
    }
    return busiest;
  }

  get summaries(): readonly GateSummary[] {
    return [...this.#gates.values()].map((gate) => gate.summary());
  }

  /** Requests kept at this moment. */
  get recordCount(): number {
    return this.#log.size;
  }

  /** @param isFirst whether the reader has seen nothing of the gate yet */
  frame(gate: TrackedGate | undefined, controls: Controls | undefined, isFirst: boolean): Frame {
    const isListed = isFirst || this.#gates.size <= SHORT_LIST || this.#looks % 4 === 0;
    return {
      at: this.#wallNow(),
      ...(isListed && { gates: this.summaries, more: this.#others.size }),
      ...(gate && { detail: gate.detail(controls) }),
      ...(gate && isFirst && { history: gate.timeline.last(Number.POSITIVE_INFINITY) }),
      ...(gate && !isFirst && { points: gate.timeline.last(2) }),
    };
  }

  requests(query: RequestQuery): readonly RequestRecord[] {
    return this.#log.find(query, this.#wallNow());
  }

  /** A request by its number; undefined: it, or its limiter or stream, is not known any more. */
  request(id: number): FoundRequest | undefined {
    const found = this.#log.byId(id, this.#wallNow());
    return found !== undefined && this.#gates.has(found.gate) ? found : undefined;
  }

  #opened(gate: RequestGate): void {
    if (this.#gates.size >= MOST_GATES) this.#dropEnded(MOST_GATES - 1);
    if (this.#gates.size >= MOST_GATES) this.#others.add(gate);
    else this.#follow(gate);
  }

  #follow(gate: RequestGate): void {
    this.#others.delete(gate);
    const id = this.#nextGate;
    this.#nextGate += 1;
    const tracked = new TrackedGate(id, gate, {
      log: this.#log,
      wallNow: this.#wallNow,
      show: this.#options.showValues ? (value) => clip(printed(value), VALUE_LENGTH) : undefined,
      nextId: () => {
        const next = this.#nextRequest;
        this.#nextRequest += 1;
        return next;
      },
    });
    this.#gates.set(id, tracked);
    this.#byGate.set(gate, tracked);
  }

  #closed(gate: RequestGate): void {
    const tracked = this.#byGate.get(gate);
    if (tracked === undefined) {
      this.#others.delete(gate);
      return;
    }
    tracked.end();
    // A limiter that was never used, as when options are checked, is of no interest.
    if (tracked.isUnused) this.#gates.delete(tracked.id);
    else this.#dropEnded(Number.POSITIVE_INFINITY);
  }

  /** Stops following the gate that is idle longest. @returns false: all are active or shown */
  #displaceIdle(): boolean {
    const now = this.#wallNow();
    let idlest: TrackedGate | undefined;
    for (const tracked of this.#gates.values()) {
      const isIdle = tracked.endedAt !== undefined || now - tracked.neededAt >= IDLE_MS;
      if (isIdle && (idlest === undefined || tracked.neededAt < idlest.neededAt)) idlest = tracked;
    }
    if (idlest === undefined) return false;
    this.#gates.delete(idlest.id);
    const { gate } = idlest;
    idlest.release();
    if (gate === undefined) return true;
    this.#byGate.delete(gate);
    this.#others.add(gate);
    return true;
  }

  #expire(): void {
    const now = this.#wallNow();
    this.#log.expire(now);
    for (const [id, { endedAt }] of this.#gates) {
      if (endedAt !== undefined && now - endedAt > KEPT_MS) this.#gates.delete(id);
    }
  }

  /** Forgets the gates that ended first, until both `MOST_ENDED` and `mostOfAll` are kept. */
  #dropEnded(mostOfAll: number): void {
    const ended = [...this.#gates.values()].filter(({ endedAt }) => endedAt !== undefined);
    ended.sort((a, b) => (a.endedAt ?? 0) - (b.endedAt ?? 0));
    for (const [index, { id }] of ended.entries()) {
      const isFew = ended.length - index <= MOST_ENDED && this.#gates.size <= mostOfAll;
      if (isFew) return;
      this.#gates.delete(id);
    }
  }
}

/**
 * The same time, which goes on from its latest reading where it steps back: until it has passed that
 * reading again, time lines would be out of order, and nothing would be due.
 */
function neverBack(wallNow: () => number): () => number {
  let last = Number.NEGATIVE_INFINITY;
  let addedMs = 0;
  return () => {
    const now = wallNow();
    addedMs = now < last ? Math.max(addedMs, last - now) : 0;
    last = now + addedMs;
    return last;
  };
}

/** A value as JSON, or printed in another way if that is not possible. */
function printed(value: unknown): string {
  try {
    return typeof value === 'string' ? value : (JSON.stringify(value) ?? print(value));
  } catch {
    return print(value);
  }
}
