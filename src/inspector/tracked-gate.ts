import { runtimeOf } from '../limiter/limiter-runtime.ts';
import type { RequestGate } from '../request/request-gate.ts';
import { FleetWatch } from './fleet-watch.ts';
import { clip, shownName } from './format.ts';
import { type GateState, stateOf } from './gate-state.ts';
import { limitRowsOf } from './limit-rows.ts';
import { RecentCalls } from './recent-calls.ts';
import { GateFollower } from './request-follower.ts';
import type { RequestLog } from './request-log.ts';
import { stationsOf } from './stations.ts';
import type { Words } from './stop-words.ts';
import { GatePoints } from './timeline.ts';
import type { Controls, GateDetail, GateSummary } from './wire.ts';
import { wordsOf } from './words.ts';

/** The most characters of a name, in the list and in full. */
const LIST_NAME = 60;
const FULL_NAME = 240;

/** The beginning of a condition is shown from this age on. */
const LEAST_SHOWN_MS = 5_000;

/** The parts that tracked gates share. */
export interface TrackedParts {
  readonly log: RequestLog;
  readonly wallNow: () => number;
  readonly show: ((value: unknown) => string) | undefined;
  readonly nextId: () => number;
}

type Shown = 'stations' | 'limits' | 'bytes' | 'mode' | 'limit' | 'maxLimit' | 'ended' | 'dropped';

/** The state of a gate at one look. */
interface Seen extends Pick<GateDetail, Shown> {
  readonly words: Words;
}

/** A limiter or stream that is followed: its counts, its time line and its state in words. */
export class TrackedGate {
  readonly id: number;
  readonly kind: GateSummary['kind'];
  readonly fullName: string;
  readonly timeline = new GatePoints();
  readonly #gate: WeakRef<RequestGate>;
  readonly #follower: GateFollower;
  readonly #wallNow: () => number;
  readonly #fleet: FleetWatch;
  /** The state at the last look, which is still shown when the gate has ended. */
  #last: Seen;
  #state: GateState | undefined;
  /** How the last calls have ended. */
  readonly #calls = new RecentCalls();
  /** When its present condition began, by the wall clock; undefined: before it was followed. */
  #since: number | undefined = undefined;
  /** When the gate was last active or shown, by the wall clock. */
  neededAt: number;
  /** The value of `#done` when the gate was last active. */
  #doneThen = 0;
  /** When the gate ended, by the wall clock. */
  endedAt: number | undefined = undefined;

  constructor(id: number, gate: RequestGate, { log, wallNow, show, nextId }: TrackedParts) {
    this.id = id;
    this.kind = kindOf(gate);
    this.fullName = nameOf(gate, this.kind, id);
    this.#gate = new WeakRef(gate);
    this.#wallNow = wallNow;
    this.neededAt = wallNow();
    this.#fleet = new FleetWatch(wallNow);
    const { clock } = gate.feedback;
    this.#follower = new GateFollower({
      tap: gate.gate.tap,
      add: (record) => log.add(id, record),
      slowMs: () => log.slowMs(id),
      wallNow,
      gateNow: () => clock.now(),
      show,
      nextId,
    });
    gate.gate.tap.follower = this.#follower;
    this.#state = stateOf(gate, clock.now());
    this.#last = this.#seen(gate, this.#state);
  }

  /** Reads the state of the gate; called four times a second. */
  look(): void {
    const gate = this.endedAt === undefined ? this.#gate.deref() : undefined;
    if (gate === undefined) {
      if (this.endedAt === undefined) this.end();
      return;
    }
    this.#follower.look();
    this.timeline.put(this.#follower, this.#read(gate), this.#wallNow());
  }

  /** Marks the gate as ended, and keeps its last state. */
  end(): void {
    if (this.endedAt !== undefined) return;
    const gate = this.#gate.deref();
    if (gate !== undefined) {
      this.timeline.put(this.#follower, this.#read(gate), this.#wallNow());
      gate.gate.tap.follower = undefined;
    }
    this.endedAt = this.#wallNow();
    this.#state = undefined;
  }

  /** Stops following the gate. */
  release(): void {
    const gate = this.#gate.deref();
    if (gate !== undefined) gate.gate.tap.follower = undefined;
  }

  /** The gate, for controls; undefined: it has ended. */
  get gate(): RequestGate | undefined {
    return this.endedAt === undefined ? this.#gate.deref() : undefined;
  }

  /** Whether no request was sent or has ended. */
  get isUnused(): boolean {
    return this.#done === 0;
  }

  /** A count that grows with each attempt sent and each request ended. */
  get #done(): number {
    const { ok, failed, rejected, cancelled } = this.#last.ended;
    return this.#follower.sentCount + ok + failed + rejected + cancelled;
  }

  get perSecond(): number {
    if (this.endedAt !== undefined) return 0;
    return Math.round(this.timeline.perSecond * 10) / 10;
  }

  summary(): GateSummary {
    const { id, kind, perSecond } = this;
    return {
      id,
      name: clip(this.fullName, LIST_NAME),
      kind,
      condition: this.#words.condition,
      waiting: this.#state?.waiting ?? 0,
      inFlight: this.#state?.inFlight ?? 0,
      perSecond,
    };
  }

  detail(controls: Controls | undefined): GateDetail {
    this.neededAt = this.#wallNow();
    const state = this.#state;
    const { headline, hint, leftMs, leftLabel } = this.#words;
    const { words: _, ...last } = this.#last;
    const { sentCount, throttledCount, bytes: bytesSent } = this.#follower;
    const measured = state?.runtime?.counters.measured;
    return {
      ...this.summary(),
      ...last,
      fullName: this.fullName,
      headline,
      hint,
      leftMs,
      leftLabel,
      since: this.#shownSince,
      fleet: this.#fleet.view(this.gate),
      binding: state?.binding,
      longestWaitMs: state?.longestWaitMs ?? 0,
      running: state?.running ?? 0,
      waitingBy: state?.waitingBy ?? {},
      sent: sentCount,
      bytesSent,
      throttled: throttledCount,
      progress:
        measured?.total === undefined
          ? undefined
          : {
              completed: measured.completed + measured.failed,
              total: measured.total,
              etaMs: measured.etaMs,
            },
      controls,
    };
  }

  /** A condition that changes all the time has no beginning that is worth showing. */
  get #shownSince(): number | undefined {
    if (this.endedAt !== undefined) return this.endedAt;
    const since = this.#since;
    return since !== undefined && this.#wallNow() - since >= LEAST_SHOWN_MS ? since : undefined;
  }

  get #words(): Words {
    if (this.endedAt === undefined) return this.#last.words;
    const what = this.kind === 'stream' ? 'The stream is over' : 'It is gone';
    return {
      condition: 'ended',
      headline: `${what}: this is its last state.`,
      hint: '',
      leftMs: undefined,
      leftLabel: '',
    };
  }

  /** Reads the state of the gate, and keeps it. */
  #read(gate: RequestGate): GateState {
    const state = stateOf(gate, gate.feedback.clock.now());
    const now = this.#wallNow();
    const { condition } = this.#last.words;
    this.#state = state;
    this.#calls.put(this.#follower, state.running, now);
    this.#last = this.#seen(gate, state);
    if (this.#last.words.condition !== condition) this.#since = now;
    const done = this.#done;
    if (done !== this.#doneThen || state.waiting > 0 || state.inFlight > 0) {
      this.neededAt = now;
      this.#doneThen = done;
    }
    return state;
  }

  #seen(gate: RequestGate, state: GateState): Seen {
    const { okCount, failedCount, rejectedCount, cancelledCount } = this.#follower;
    return {
      stations: stationsOf(state),
      limits: limitRowsOf(state),
      bytes: state.bytes,
      mode: state.backoff.mode,
      limit: state.limit,
      maxLimit: state.maxLimit,
      ended: state.runtime?.counters.counts ?? {
        ok: okCount,
        failed: failedCount,
        rejected: rejectedCount,
        cancelled: cancelledCount,
      },
      dropped: gate.queues.capacity.dropped,
      words: wordsOf(state, this.timeline.perSecond, this.#calls),
    };
  }
}

function kindOf(gate: RequestGate): GateSummary['kind'] {
  if (gate.key !== undefined) return 'key';
  return runtimeOf(gate) === undefined ? 'stream' : 'limiter';
}

function nameOf({ name, key }: RequestGate, kind: GateSummary['kind'], id: number): string {
  const given = [name, key].filter((each) => each !== undefined);
  if (given.length > 0) {
    return clip(given.map((each) => shownName(each, FULL_NAME)).join(' / '), FULL_NAME);
  }
  return kind === 'stream' ? `throttle ${id}` : `limiter ${id}`;
}
