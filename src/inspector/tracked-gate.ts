import { runtimeOf } from '../limiter/limiter-runtime.ts';
import type { RequestGate } from '../request/request-gate.ts';
import { FleetWatch } from './fleet-watch.ts';
import { clip } from './format.ts';
import { type GateState, stateOf } from './gate-state.ts';
import { limitRowsOf } from './limit-rows.ts';
import type { Words } from './phrases.ts';
import { GateFollower } from './request-follower.ts';
import type { RequestLog } from './request-log.ts';
import { stationsOf } from './stations.ts';
import { Timeline } from './timeline.ts';
import { type Controls, GATES, type GateDetail, type GateSummary } from './wire.ts';
import { wordsOf } from './words.ts';

/** Characters of a name: in the list, and in full. */
const LIST_NAME = 60;
const FULL_NAME = 240;

/** Rates are means over so many seconds. */
const RATE_SECONDS = 3;

/** What tracked gates have in common. */
export interface TrackedParts {
  readonly log: RequestLog;
  readonly wallNow: () => number;
  readonly show: ((value: unknown) => string) | undefined;
  readonly nextId: () => number;
}

interface Counters {
  readonly sent: number;
  readonly ok: number;
  readonly failed: number;
  readonly throttled: number;
  readonly bytes: number;
  readonly tokens: number;
}

type Shown = 'stations' | 'limits' | 'bytes' | 'mode' | 'limit' | 'maxLimit' | 'ended' | 'dropped';

/** What was seen at one look. */
interface Seen extends Pick<GateDetail, Shown> {
  readonly words: Words;
}

/** What waited for a gate at the last look may wait for another one now. */
const NO_WAITS = Object.fromEntries(GATES.map((gate) => [gate, 0]));

const NONE: Counters = { sent: 0, ok: 0, failed: 0, throttled: 0, bytes: 0, tokens: 0 };

/** One limiter or stream as it is followed: its counts, its time line, and what is said of it. */
export class TrackedGate {
  readonly id: number;
  readonly kind: GateSummary['kind'];
  readonly fullName: string;
  readonly timeline = new Timeline();
  readonly #gate: WeakRef<RequestGate>;
  readonly #follower: GateFollower;
  readonly #wallNow: () => number;
  readonly #fleet: FleetWatch;
  #counted: Counters = NONE;
  /** What was seen last: it stands when the gate has gone. */
  #last: Seen;
  #state: GateState | undefined;
  /** When it went, by the wall clock. */
  endedAt: number | undefined = undefined;

  constructor(id: number, gate: RequestGate, { log, wallNow, show, nextId }: TrackedParts) {
    this.id = id;
    this.kind = kindOf(gate);
    this.fullName = clip(nameOf(gate, this.kind, id), FULL_NAME);
    this.#gate = new WeakRef(gate);
    this.#wallNow = wallNow;
    this.#fleet = new FleetWatch(wallNow);
    const { clock } = gate.feedback;
    this.#follower = new GateFollower({
      add: (record) => log.add(id, record),
      slowMs: () => log.slowMs(id),
      wallNow,
      gateNow: () => clock.now(),
      show,
      nextId,
    });
    gate.gate.tap.follower = this.#follower;
    this.#last = this.#read(gate);
  }

  /** Looks at the gate; four times a second. */
  look(): void {
    const gate = this.endedAt === undefined ? this.#gate.deref() : undefined;
    if (gate === undefined) {
      if (this.endedAt === undefined) this.end();
      return;
    }
    this.#follower.look();
    this.#last = this.#read(gate);
    this.#putPoint(this.#state);
  }

  /** It has gone: what was seen last stands. */
  end(): void {
    if (this.endedAt !== undefined) return;
    const gate = this.#gate.deref();
    if (gate !== undefined) {
      this.#last = this.#read(gate);
      this.#putPoint(undefined);
      gate.gate.tap.follower = undefined;
    }
    this.endedAt = this.#wallNow();
    this.#state = undefined;
  }

  /** Nobody looks any more. */
  release(): void {
    const gate = this.#gate.deref();
    if (gate !== undefined) gate.gate.tap.follower = undefined;
  }

  /** The gate, for who may control it. */
  get gate(): RequestGate | undefined {
    return this.endedAt === undefined ? this.#gate.deref() : undefined;
  }

  /** Whether no request ever came. */
  get isUnused(): boolean {
    const { ok, failed, rejected, cancelled } = this.#last.ended;
    return this.#follower.sentCount + ok + failed + rejected + cancelled === 0;
  }

  get perSecond(): number {
    if (this.endedAt !== undefined) return 0;
    return Math.round(this.timeline.mean('sent', RATE_SECONDS) * 10) / 10;
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
      fleet: this.#fleet.view(this.gate),
      binding: state?.binding,
      longestWaitMs: state?.longestWaitMs ?? 0,
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

  #read(gate: RequestGate): Seen {
    const state = stateOf(gate, gate.feedback.clock.now());
    this.#state = state;
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
      words: wordsOf(state, this.timeline.mean('sent', RATE_SECONDS)),
    };
  }

  #putPoint(state: GateState | undefined): void {
    const { sentCount, okCount, failedCount, throttledCount, bytes, tokens } = this.#follower;
    const counted = {
      sent: sentCount,
      ok: okCount,
      failed: failedCount,
      throttled: throttledCount,
      bytes,
      tokens,
    };
    const before = this.#counted;
    this.#counted = counted;
    const second = Math.floor(this.#wallNow() / 1_000);
    this.timeline.put(
      second,
      {
        sent: counted.sent - before.sent,
        ok: counted.ok - before.ok,
        failed: counted.failed - before.failed,
        throttled: counted.throttled - before.throttled,
        bytes: counted.bytes - before.bytes,
        tokens: counted.tokens - before.tokens,
      },
      state === undefined
        ? {}
        : {
            ...ratesOf(state),
            inFlight: state.inFlight,
            limit: finite(state.limit),
            ...NO_WAITS,
            ...state.waitingBy,
          },
    );
  }
}

/** Requests a second that may be sent, by who says so. */
function ratesOf({ gate, rate }: GateState) {
  const origin = rate?.origin;
  const known = rate === undefined ? Number.NaN : finite(rate.perSecond);
  return {
    rateSet: gate.policies.rateLimit?.limits.perSecond('requests') ?? Number.NaN,
    rateTold: origin === 'headers' ? known : Number.NaN,
    rateLearned: origin === 'learned' ? known : Number.NaN,
  };
}

function finite(value: number): number {
  return Number.isFinite(value) ? value : Number.NaN;
}

function kindOf(gate: RequestGate): GateSummary['kind'] {
  if (gate.key !== undefined) return 'key';
  return runtimeOf(gate) === undefined ? 'stream' : 'limiter';
}

function nameOf({ name, key }: RequestGate, kind: GateSummary['kind'], id: number): string {
  if (key !== undefined) return name === undefined ? key : `${name} / ${key}`;
  if (name !== undefined) return name;
  return kind === 'stream' ? `throttle ${id}` : `limiter ${id}`;
}
