import {
  map,
  merge,
  Observable,
  type ObservedValueOf,
  ReplaySubject,
  Subject,
  skip,
  takeUntil,
} from 'rxjs';
import { LimiterClosedError } from '../model/errors.ts';
import type { GateKind } from '../model/outcome.ts';
import type { Ticket } from '../model/ticket.ts';
import { AimdPolicy } from '../policies/aimd-policy.ts';
import type { CircuitBreakerPolicy } from '../policies/circuit-breaker-policy.ts';
import type { RetryPolicy } from '../policies/retry.ts';
import type { AdmissionCheck, Newcomer, WaitListener, WaitStart } from '../queue/gate-rules.ts';
import type { AttemptTimeouts } from '../request/attempt-timeouts.ts';
import { resolveCommonOptions } from '../request/common-options.ts';
import type { DispatchContext } from '../request/dispatch-context.ts';
import { gateOpener } from '../request/gate-options.ts';
import type { RequestGate } from '../request/request-gate.ts';
import {
  attemptTimeoutsOf,
  dispatchContextOf,
  type Project,
  type ProjectOutput,
  retryPolicyOf,
} from '../request/send-options.ts';
import type { TicketFactoryOptions } from '../request/ticket-factory.ts';
import { gaugeSnapshotOf, watchGate } from '../request/watch-gates.ts';
import type { Clock } from '../util/clock.ts';
import { type LimiterEvent, type LimiterFact, leveled } from './events.ts';
import { ImpossibleRequests } from './impossible-requests.ts';
import type { LimiterOptions } from './limiter-options.ts';
import { NamedRequests } from './named-requests.ts';
import {
  type CountedBefore,
  type CountedRequests,
  type LimiterProgress,
  RequestCounters,
} from './request-counters.ts';
import type { SharedLimits } from './shared-limits.ts';
import {
  bindingOf,
  type LimiterSnapshot,
  type LimiterState,
  type PauseSnapshot,
  snapshotOf,
} from './snapshot.ts';

/** Whether waiting requests are sent or rejected when a limiter is closed. */
export type OnClose = 'send' | 'reject';

/** Since when a limiter is paused, and why. */
interface Pause {
  readonly at: number;
  readonly reason: string | undefined;
}

/** What a limiter of a group shares with the others. */
export interface GroupSide {
  /** The key of this one. */
  readonly key: string;
  /** What an earlier limiter of the key has counted. */
  readonly before: CountedBefore | undefined;
  readonly shared: SharedLimits | undefined;
  /** What is the same for all keys that use one store. */
  readonly peers: object | undefined;
  /** Those of other keys, to be shared if attempts have the same time: one timer, not one a key. */
  readonly timeouts: AttemptTimeouts | undefined;
  readonly isHeard: () => boolean;
  readonly emit: (event: LimiterEvent) => void;
}

const runtimes = new WeakMap<RequestGate, LimiterRuntime>();

/** The limiter of a gate; undefined: it is that of a stream. */
export function runtimeOf(gate: RequestGate): LimiterRuntime | undefined {
  return runtimes.get(gate);
}

/** The inside of a limiter: its gate, its counters, and its events. */
export class LimiterRuntime implements CountedRequests, AdmissionCheck, WaitListener {
  readonly clock: Clock;
  readonly gate: RequestGate;
  readonly retry: RetryPolicy;
  readonly counters: RequestCounters;
  readonly impossible: ImpossibleRequests;
  /** What ticket factories need. */
  readonly around: TicketFactoryOptions;
  private readonly options: LimiterOptions;
  private readonly group: GroupSide | undefined;
  private readonly timeouts: AttemptTimeouts | undefined;
  private readonly circuitBreaker: CircuitBreakerPolicy | undefined;
  private readonly events = new Subject<LimiterEvent>();
  /** Emits when the limiter is closed and drained. */
  private readonly ended = new ReplaySubject<void>(1);
  /** Emits when it will not be used any more. */
  private readonly abandoned = new ReplaySubject<void>(1);
  private readonly unwatch: () => void;
  private readonly _configured = new Subject<void>();
  private closed: LimiterClosedError | undefined = undefined;
  /** Made with the first request that has an id. */
  private named: NamedRequests | undefined = undefined;
  private pausing: Pause | undefined = undefined;

  /** @throws RangeError or TypeError that names a wrong option */
  constructor(options: LimiterOptions, group: GroupSide | undefined) {
    this.options = options;
    this.group = group;
    const around = resolveCommonOptions(options).observed();
    const { clock, instrumentation } = around;
    this.clock = clock;
    // Before the gate opens: wrong options throw here, where nothing has begun yet.
    this.counters = new RequestCounters(clock, this, options, (percent) =>
      this.emit({ kind: 'milestone', at: clock.now(), percent }),
    );
    this.gate = gateOpener(options)(around, {
      isPrioritized: true,
      ...(group && { key: group.key }),
      ...(group?.shared && { shared: group.shared.policy }),
      ...(group?.peers && { peers: group.peers }),
      emit: (fact) => this.emit(fact),
      check: this,
      listener: this,
    });
    this.retry = retryPolicyOf(options, this.gate.isPaced);
    this.timeouts = attemptTimeoutsOf(options, clock, group?.timeouts);
    this.circuitBreaker = this.gate.policies.circuitBreaker;
    this.impossible = new ImpossibleRequests(() => [
      this.gate.policies,
      group?.shared?.policies ?? {},
    ]);
    const { feedback, gate } = this.gate;
    this.around = {
      clock,
      instrumentation,
      listener: this.counters,
      impossible: this.impossible,
      feedback,
      tap: gate.tap,
      named: this,
    };
    if (group?.before !== undefined) {
      this.counters.countedBefore(group.before.ended);
      this.gate.queues.capacity.dropped = group.before.dropped;
    }
    runtimes.set(this.gate, this);
    this.unwatch = watchGate(instrumentation, this.gate, () => ({
      ...gaugeSnapshotOf(this.gate),
      progress: this.counters.standing,
      isPaused: this.isPaused,
    }));
  }

  get events$(): Observable<LimiterEvent> {
    return merge(this.events, this.modes$);
  }

  /** Changes of the mode are reported by their own timer, while there are subscribers. */
  get modes$(): Observable<LimiterEvent> {
    const { clock, gate } = this;
    return gate.feedback.mode$.pipe(
      skip(1),
      map((mode) => leveled({ kind: 'modeChanged', at: clock.now(), mode })),
      takeUntil(this.abandoned),
    );
  }

  get state$(): Observable<LimiterState> {
    return new Observable((out) => {
      let last: LimiterState | undefined;
      const look = () => {
        const { state } = this;
        if (state === last) return;
        last = state;
        out.next(state);
      };
      out.add(
        merge(this.events, this._configured.pipe(takeUntil(this.ended))).subscribe({
          next: () => look(),
          complete: () => {
            look();
            out.complete();
          },
        }),
      );
      look();
    });
  }

  get progress$(): Observable<LimiterProgress> {
    return new Observable((out) => {
      out.add(this.counters.reports.subscribe({ next: (report) => out.next(report) }));
      out.next(this.counters.progress());
      out.add(this.ended.subscribe(() => out.complete()));
    });
  }

  get state(): LimiterState {
    if (this.closed !== undefined) return this.counters.isEmpty ? 'closed' : 'draining';
    if (this.pausing !== undefined) return 'paused';
    const { circuitBreaker, adaptive } = this.gate.policies;
    const now = this.clock.now();
    if (circuitBreaker?.snapshot(now).state === 'open') return 'circuitOpen';
    if (adaptive instanceof AimdPolicy && adaptive.snapshot(now).state === 'cooling') {
      return 'cooling';
    }
    return 'running';
  }

  /** Requests that hold a slot. */
  get inFlight(): number {
    return this.gate.slots.inFlight;
  }

  /** Requests that wait, with a ticket or without. */
  get waiting(): number {
    return this.gate.gate.waiting;
  }

  get binding(): GateKind | undefined {
    return bindingOf(this.gate);
  }

  /** A closed limiter lets no request wait, and an open circuit none that fails meanwhile. */
  turnsAway(newcomer: Newcomer): Error | undefined {
    return this.closed ?? this.circuitBreaker?.refusalOnArrival(newcomer, this.clock);
  }

  waits({ gate, limit, position, waiting, untilAt }: WaitStart): void {
    const named = limit === undefined ? undefined : { limit };
    const until = untilAt === undefined ? undefined : { untilAt };
    this.emit({
      kind: 'waiting',
      at: this.clock.now(),
      gate,
      ...named,
      position,
      waiting,
      ...until,
    });
  }

  waited(gate: GateKind, waitMs: number, rounds: number, limit: string | undefined): void {
    if (!this.isHeard()) return;
    const named = limit === undefined ? undefined : { limit };
    this.emit({ kind: 'waited', at: this.clock.now(), gate, waitMs, rounds, ...named });
  }

  snapshot(): LimiterSnapshot {
    const { gate, counters, state, clock } = this;
    const now = clock.now();
    const paused = this.pausedAt(now);
    const fleet = gate.fleet?.snapshot();
    return snapshotOf({ gate, counters, state, paused, fleet, now });
  }

  /** A request with an id has arrived. */
  add(ticket: Ticket, id: unknown): void {
    this.named ??= new NamedRequests();
    this.named.add(ticket, id);
  }

  /** @returns how many requests with this id wait */
  setPriority(id: unknown, priority: number): number {
    const requests = this.named?.of(id) ?? [];
    // Before any of them passes and ends.
    const waiting = requests.filter(({ ticket }) => !Number.isNaN(ticket.waitsSince)).length;
    if (requests.length > 0) this.gate.gate.setPriority(requests, priority);
    return waiting;
  }

  get isPaused(): boolean {
    return this.pausing !== undefined;
  }

  /** Why it is paused, where that was said. */
  get pauseReason(): string | undefined {
    return this.pausing?.reason;
  }

  /** A new reason replaces the one before; the start of the pause stays. */
  pause(reason: string | undefined): void {
    const at = this.clock.now();
    const wasPaused = this.isPaused;
    this.pausing = { at: this.pausing?.at ?? at, reason };
    this.gate.gate.pause();
    if (!wasPaused) this.emit({ kind: 'paused', at, ...(reason !== undefined && { reason }) });
  }

  resume(): void {
    const { pausing } = this;
    if (pausing === undefined) return;
    this.pausing = undefined;
    const at = this.clock.now();
    this.emit({ kind: 'resumed', at, pausedMs: at - pausing.at });
    // A listener may have paused it again.
    if (!this.isPaused) this.gate.gate.resume();
  }

  /** Ends the wait of all waiting requests. */
  clear(error: Error, reason?: string): void {
    const { waiting } = this;
    this.gate.gate.clear(error);
    if (waiting === 0) return;
    const at = this.clock.now();
    this.emit({ kind: 'cleared', at, requests: waiting, ...(reason !== undefined && { reason }) });
  }

  private pausedAt(now: number): PauseSnapshot | undefined {
    const { pausing } = this;
    return pausing && { reason: pausing.reason, pausedMs: now - pausing.at };
  }

  /** Limits were changed from outside. */
  configured(): void {
    this.impossible.changed();
    this.retry.isPaced = this.gate.isPaced;
    this.gate.fleet?.configured();
    this.gate.changed();
    this._configured.next();
  }

  /**
   * @param waiting whether waiting requests are sent or rejected; a closed limiter can still reject
   * them
   */
  close(waiting: OnClose): void {
    this.stop();
    if (waiting === 'reject' && this.closed !== undefined) this.clear(this.closed, 'closed');
  }

  private stop(): void {
    if (this.closed !== undefined) return;
    this.closed = new LimiterClosedError();
    const at = this.clock.now();
    this.emit({ kind: 'closed', at });
    if (!this.counters.isEmpty) {
      const { inFlight, waiting } = this;
      this.emit({ kind: 'draining', at, inFlight, waiting });
    }
    this.counters.whenEmpty(() => {
      this.abandon();
      this.emit({ kind: 'drained', at: this.clock.now() });
      this.counters.end();
      this.ended.next();
      this.ended.complete();
      this.events.complete();
    });
  }

  /** It will not be used any more. */
  abandon(): void {
    this.gate.close();
    this.unwatch();
    this.abandoned.next();
  }

  dispatchContextOf<T, O extends ProjectOutput>(
    project: Project<T, O>,
  ): DispatchContext<T, ObservedValueOf<O>> {
    const { options, retry, timeouts } = this;
    const { gate, feedback } = this.gate;
    const { instrumentation } = this.around;
    const parts = { feedback, gate, retry, instrumentation, timeouts, answers: this.gate };
    return dispatchContextOf(project, options, parts);
  }

  /** An event without subscribers is not created. */
  emit(fact: LimiterFact): void {
    if (!this.isHeard()) return;
    const event = leveled(fact);
    this.events.next(event);
    this.group?.emit(event);
  }

  isHeard(): boolean {
    return this.events.observed || this.group?.isHeard() === true;
  }
}
