import { map, merge, Observable, type ObservedValueOf, Subject, skip, takeUntil } from 'rxjs';
import { type LimiterEvent, type LimiterFact, leveled } from '../model/limiter-event.ts';
import type { GateKind } from '../model/outcome.ts';
import type { Ticket } from '../model/ticket.ts';
import type { CircuitBreakerPolicy } from '../policies/circuit-breaker-policy.ts';
import type { AdmissionCheck, WaitListener, WaitStart } from '../queue/gate-rules.ts';
import type { Newcomer } from '../queue/waiting-requests.ts';
import { gaugesOf } from '../request/gate-gauges.ts';
import { gateOpener } from '../request/gate-opener.ts';
import { resolveCommonOptions } from '../request/gate-options.ts';
import type { RequestGate } from '../request/request-gate.ts';
import type { NamedRequestOptions } from '../request/request-options.ts';
import type { RequestPipeline } from '../request/result-subscriber.ts';
import type { Project, ProjectOutput } from '../request/send-options.ts';
import { TicketFactory, type TicketFactoryOptions } from '../request/ticket-factory.ts';
import type { Clock } from '../util/clock.ts';
import type { Timeouts } from '../util/timers.ts';
import { ImpossibleRequests } from './impossible-requests.ts';
import { Lifecycle } from './lifecycle.ts';
import type { LimiterOptions } from './limiter-options.ts';
import { NamedRequests } from './named-requests.ts';
import {
  type CountedBefore,
  type CountedRequests,
  type LimiterProgress,
  RequestCounters,
} from './request-counters.ts';
import type { SharedLimits } from './shared-limits.ts';
import { bindingOf, type LimiterSnapshot, snapshotOf } from './snapshot.ts';
import { unchargedRequests } from './uncharged-requests.ts';

/** The parts that a limiter of a group has in common with the others. */
export interface GroupSide {
  /** The key of this limiter. */
  readonly key: string;
  /** The counts of an earlier limiter of the key. */
  readonly before: CountedBefore | undefined;
  readonly shared: SharedLimits | undefined;
  /** An object that all keys of one store have in common. */
  readonly peers: object | undefined;
  /**
   * The attempt timeouts of another key. They are shared if the timeout is equal, so that one timer
   * serves all keys.
   */
  readonly timeouts: Timeouts | undefined;
  /** Whether the events of the group have a listener. */
  readonly isHeard: () => boolean;
  readonly emit: (event: LimiterEvent) => void;
}

const runtimes = new WeakMap<RequestGate, LimiterRuntime>();

/** The limiter of a gate; undefined: it is that of a stream. */
export function runtimeOf(gate: RequestGate): LimiterRuntime | undefined {
  return runtimes.get(gate);
}

/**
 * The inside of a limiter: creates its parts, connects them, and emits their events. An event
 * without a listener is not created.
 */
export class LimiterRuntime implements CountedRequests, AdmissionCheck, WaitListener {
  readonly clock: Clock;
  readonly gate: RequestGate;
  readonly counters: RequestCounters;
  readonly lifecycle: Lifecycle;
  readonly impossible: ImpossibleRequests;
  /** For the tickets of streams and calls. */
  readonly factoryOptions: TicketFactoryOptions;
  /** Whether requests of a stream had `costs`. */
  hasCosts = false;
  private readonly circuitBreaker: CircuitBreakerPolicy | undefined;
  private readonly group: GroupSide | undefined;
  /** All events except changes of the mode, which have a timer of their own. */
  private readonly events = new Subject<LimiterEvent>();
  private readonly configurations = new Subject<void>();
  /** Made with the first request that has an id. */
  private named: NamedRequests | undefined = undefined;

  /** @throws RangeError or TypeError that names a wrong option */
  constructor(options: LimiterOptions, group: GroupSide | undefined) {
    const common = resolveCommonOptions(options).withTelemetry();
    const { clock, instrumentation } = common;
    this.clock = clock;
    this.group = group;
    // Make these before the gate opens: wrong options throw here, where nothing has begun yet.
    this.counters = new RequestCounters(clock, this, options, (percent) =>
      this.emit({ kind: 'milestone', at: clock.now(), percent }),
    );
    this.gate = gateOpener(options)(common, {
      isPrioritized: true,
      ...(group && { key: group.key }),
      ...(group?.shared && { shared: group.shared.policy }),
      ...(group?.peers && { peers: group.peers }),
      emit: (fact) => this.emit(fact),
      check: this,
      listener: this,
      ...(group?.timeouts && { timeouts: group.timeouts }),
    });
    this.circuitBreaker = this.gate.policies.circuitBreaker;
    this.impossible = new ImpossibleRequests(() => [
      this.gate.policies,
      group?.shared?.policies ?? {},
    ]);
    const budgets = [this.gate.policies.costBudget, group?.shared?.policies.costBudget].filter(
      (budget) => budget !== undefined,
    );
    this.counters.uncharged = unchargedRequests(budgets, this.impossible);
    const { feedback, gate } = this.gate;
    this.factoryOptions = {
      clock,
      instrumentation,
      listener: this.counters,
      limits: this.impossible,
      feedback,
      tap: gate.tap,
      named: this,
    };
    if (group?.before !== undefined) {
      this.counters.countedBefore(group.before.ended);
      this.gate.queues.capacity.dropped = group.before.dropped;
    }
    this.lifecycle = new Lifecycle({
      gate: this.gate,
      counters: this.counters,
      events: this.events,
      emit: (fact) => this.emit(fact),
      clock,
      configured: this.configurations,
      release: () => this.gate.close(),
    });
    runtimes.set(this.gate, this);
    this.gate.watch(() => ({
      ...gaugesOf(this.gate),
      progress: this.counters.standing,
      isPaused: this.lifecycle.isPaused,
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
      takeUntil(this.lifecycle.abandoned),
    );
  }

  get progress$(): Observable<LimiterProgress> {
    return new Observable((out) => {
      out.add(this.counters.reports.subscribe({ next: (report) => out.next(report) }));
      out.next(this.counters.progress());
      out.add(this.lifecycle.ended.subscribe(() => out.complete()));
    });
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

  /**
   * Turns a newcomer away if the limiter is closed, or if the circuit is open and `onOpen` lets
   * such a request fail.
   */
  turnsAway(newcomer: Newcomer): Error | undefined {
    return this.lifecycle.closed ?? this.circuitBreaker?.refusalOnArrival(newcomer, this.clock);
  }

  isHeard(): boolean {
    return this.events.observed || this.group?.isHeard() === true;
  }

  waits({ gate, limit, position, waiting, untilAt }: WaitStart): void {
    const named = limit === undefined ? undefined : { limit };
    const until = untilAt === undefined ? undefined : { untilAt };
    const at = this.clock.now();
    this.emit({ kind: 'waiting', at, gate, ...named, position, waiting, ...until });
  }

  waited(gate: GateKind, waitMs: number, rounds: number, limit: string | undefined): void {
    if (!this.isHeard()) return;
    const named = limit === undefined ? undefined : { limit };
    this.emit({ kind: 'waited', at: this.clock.now(), gate, waitMs, rounds, ...named });
  }

  snapshot(): LimiterSnapshot {
    const { gate, counters, lifecycle, clock } = this;
    const now = clock.now();
    const { state } = lifecycle;
    const paused = lifecycle.pausedAt(now);
    const fleet = gate.fleet?.snapshot();
    return snapshotOf({ gate, counters, state, paused, fleet, now });
  }

  /** The pipeline that the requests of a stream pass through. */
  pipelineOf<T, O extends ProjectOutput>(
    project: Project<T, O>,
    options: NamedRequestOptions<T>,
  ): RequestPipeline<T, ObservedValueOf<O>> {
    const { gate } = this;
    if (options.costs !== undefined) this.hasCosts = true;
    return {
      factory: new TicketFactory<T>(this.factoryOptions, options),
      gate: gate.gate,
      dispatch: gate.dispatchContextOf(project),
    };
  }

  /** A request with an id has arrived. */
  add(ticket: Ticket, id: unknown): void {
    this.named ??= new NamedRequests();
    this.named.add(ticket, id);
  }

  /** @returns how many requests with this id wait */
  setPriority(id: unknown, priority: number): number {
    const requests = this.named?.of(id) ?? [];
    // Count first: with its new priority a request may pass and end at once.
    const waiting = requests.filter(({ ticket }) => ticket.isQueued).length;
    if (requests.length > 0) this.gate.gate.setPriority(requests, priority);
    return waiting;
  }

  /**
   * Options were changed by the user.
   * @param namesLimits false: the change has no limit that a store shares
   */
  configured(namesLimits?: boolean): void {
    this.impossible.changed();
    this.gate.fleet?.configured(namesLimits);
    this.gate.changed();
    this.configurations.next();
  }

  private emit(fact: LimiterFact): void {
    if (!this.isHeard()) return;
    const event = leveled(fact);
    this.events.next(event);
    this.group?.emit(event);
  }
}
