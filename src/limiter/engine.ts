import {
  map,
  merge,
  Observable,
  type ObservableInput,
  type ObservedValueOf,
  ReplaySubject,
  Subject,
  skip,
  takeUntil,
} from 'rxjs';
import type { CircuitCore } from '../core/circuit-core.ts';
import { CoolingCore } from '../core/cooling-core.ts';
import type { Demand } from '../core/core.ts';
import { isUsual, type RateCore } from '../core/rate-core.ts';
import { UnknownLimitError } from '../core/rate-limit/errors.ts';
import type { RetryPolicy } from '../core/retry.ts';
import { DEFAULT_CONCURRENCY } from '../core/slots.ts';
import type { Door, WaitListener } from '../gate/rules.ts';
import type { Clock } from '../model/clock.ts';
import { LimiterClosedError } from '../model/errors.ts';
import type { GateKind } from '../model/outcome.ts';
import { surroundings } from '../operators/common-options.ts';
import type { Dispatcher } from '../operators/dispatcher.ts';
import { type Gates, gatesOf } from '../operators/gates.ts';
import type { IntakeSurroundings } from '../operators/intake.ts';
import { readingOf, watchGates } from '../operators/reading.ts';
import { dispatcherOf, type Project, retryPolicyOf } from '../operators/send-options.ts';
import { Census, type Counted, type LimiterProgress } from './census.ts';
import { type LimiterEvent, type LimiterFact, leveled } from './events.ts';
import type { LimiterOptions } from './limiter-options.ts';
import type { SharedLimits } from './shared-limits.ts';
import {
  bindingOf,
  type LimiterSnapshot,
  type LimiterState,
  snapshotOf,
  waitingAt,
} from './snapshot.ts';

/** What one limiter of a group has in common with the others. */
export interface GroupSide {
  readonly shared: SharedLimits | undefined;
  readonly isHeard: () => boolean;
  readonly tell: (event: LimiterEvent) => void;
}

/** What works inside a limiter: its gates, who counts its requests, and what it tells. */
export class Engine implements Counted, Door, WaitListener {
  readonly clock: Clock;
  readonly gates: Gates;
  readonly census: Census;
  /** What intakes need. */
  readonly around: IntakeSurroundings;
  maxConcurrency: number;
  private readonly options: LimiterOptions;
  private readonly group: GroupSide | undefined;
  private readonly retry: RetryPolicy;
  private readonly circuitBreaker: CircuitCore | undefined;
  /** Rate limits of its own, and those that it shares. */
  private readonly limits: readonly RateCore[];
  private readonly events = new Subject<LimiterEvent>();
  /** Emits when the limiter is closed and drained. */
  private readonly ended = new ReplaySubject<void>(1);
  /** Emits when nobody will use it any more. */
  private readonly abandoned = new ReplaySubject<void>(1);
  private readonly unwatch: () => void;
  private readonly _configured = new Subject<void>();
  private closed: LimiterClosedError | undefined = undefined;

  /** @throws RangeError or TypeError that names a wrong option */
  constructor(options: LimiterOptions, group: GroupSide | undefined) {
    this.options = options;
    this.group = group;
    this.maxConcurrency = options.concurrency ?? DEFAULT_CONCURRENCY;
    const { clock, probe } = surroundings(options);
    this.clock = clock;
    this.gates = gatesOf(options)({
      isPrioritized: true,
      ...(group?.shared && { commons: group.shared.commons }),
      tell: (fact) => this.tell(fact),
      door: this,
      listener: this,
    });
    this.retry = retryPolicyOf(options, this.gates.attempt.isPaced);
    this.circuitBreaker = this.gates.attempt.cores.circuitBreaker;
    this.limits = [this.gates.attempt.cores.rateLimit, group?.shared?.rateLimit].filter(
      (core) => core !== undefined,
    );
    this.census = new Census(clock, this, options, (percent) =>
      this.tell({ kind: 'milestone', at: clock.now(), percent }),
    );
    this.around = { clock, probe, attendance: this.census, feedback: this.gates.feedback };
    this.unwatch = watchGates(probe, this.gates, () => ({
      ...readingOf(this.gates),
      progress: this.census.standing,
    }));
  }

  get events$(): Observable<LimiterEvent> {
    return merge(this.events, this.modes$);
  }

  /** Changes of the mode are told by a timer of their own, as long as somebody listens. */
  get modes$(): Observable<LimiterEvent> {
    const { clock, gates } = this;
    return gates.feedback.mode$.pipe(
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
      out.add(this.census.reports.subscribe({ next: (report) => out.next(report) }));
      out.next(this.census.progress());
      out.add(this.ended.subscribe(() => out.complete()));
    });
  }

  get state(): LimiterState {
    if (this.closed !== undefined) return this.census.isEmpty ? 'closed' : 'draining';
    const { circuitBreaker, adaptive } = this.gates.attempt.cores;
    const now = this.clock.now();
    if (circuitBreaker?.snapshot(now).state === 'open') return 'circuitOpen';
    if (adaptive instanceof CoolingCore && adaptive.snapshot(now).state === 'cooling') {
      return 'cooling';
    }
    return 'running';
  }

  /** Requests that hold a slot. */
  get inFlight(): number {
    return this.gates.concurrency.core.inFlight;
  }

  /** Requests that wait, with a ticket or without. */
  get waiting(): number {
    return waitingAt(this.gates);
  }

  get binding(): GateKind | undefined {
    return bindingOf(this.gates);
  }

  /** Why a request can never be sent; undefined: it can. */
  refusal(demand: Demand): Error | undefined {
    return impossible(demand, this.limits);
  }

  /** A limiter that is closed, or whose circuit is open, lets nobody wait. */
  turnsAway(): Error | undefined {
    return this.closed ?? this.circuitBreaker?.refusalAtTheDoor(this.clock);
  }

  waited(gate: GateKind, waitMs: number, rounds: number): void {
    if (this.isHeard()) this.tell({ kind: 'waited', at: this.clock.now(), gate, waitMs, rounds });
  }

  snapshot(): LimiterSnapshot {
    const { gates, census, maxConcurrency, state, clock } = this;
    return snapshotOf({ gates, census, maxConcurrency, state, now: clock.now() });
  }

  /** Limits were changed from outside. */
  configured(): void {
    this.census.limitsStand = false;
    const { attempt, byteBudget, concurrency } = this.gates;
    attempt.changed();
    byteBudget.drain();
    concurrency.drain();
    this._configured.next();
  }

  close(): void {
    if (this.closed !== undefined) return;
    this.closed = new LimiterClosedError();
    this.tell({ kind: 'closed', at: this.clock.now() });
    this.census.whenEmpty(() => {
      this.abandon();
      this.tell({ kind: 'drained', at: this.clock.now() });
      this.census.end();
      this.ended.next();
      this.ended.complete();
      this.events.complete();
    });
  }

  /** Nobody will use it any more. */
  abandon(): void {
    this.gates.attempt.close();
    this.unwatch();
    this.abandoned.next();
  }

  dispatcherOf<T, O extends ObservableInput<unknown>>(
    project: Project<T, O>,
  ): Dispatcher<T, ObservedValueOf<O>> {
    const { attempt, feedback } = this.gates;
    const { probe } = this.around;
    const { probe: _, ...options } = this.options;
    return dispatcherOf(project, feedback, attempt.gate, this.retry, {
      ...options,
      ...(probe && { probe }),
      readsAnswers: attempt.readsAnswers,
      leastClosureMs: attempt.leastClosureMs,
    });
  }

  /** Nothing is made of an event to which nobody listens. */
  tell(fact: LimiterFact): void {
    if (!this.isHeard()) return;
    const event = leveled(fact);
    this.events.next(event);
    this.group?.tell(event);
  }

  private isHeard(): boolean {
    return this.events.observed || this.group?.isHeard() === true;
  }
}

/** Why a request can never be sent, whatever it waits; undefined: it can. */
function impossible(ticket: Demand, cores: readonly RateCore[]): Error | undefined {
  if (ticket.costs !== undefined) {
    const names = cores.flatMap((core) => core.limits.names);
    const unknown = Object.keys(ticket.costs).find(
      (name) => !names.includes(name) && !isUsual(name),
    );
    if (unknown !== undefined) return new UnknownLimitError(unknown, names);
  }
  for (const core of cores) {
    const error = core.impossible(ticket);
    if (error !== undefined) return error;
  }
  return undefined;
}
