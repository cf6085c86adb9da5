import { merge, Observable, ReplaySubject, type Subject, takeUntil } from 'rxjs';
import { LimiterClosedError, QueueClearedError } from '../model/errors.ts';
import type { LimiterEvent, LimiterFact } from '../model/limiter-event.ts';
import { AimdPolicy } from '../policies/aimd-policy.ts';
import type { RequestGate } from '../request/request-gate.ts';
import { checkChoice, checkKeys, wrongType } from '../util/check.ts';
import type { Clock } from '../util/clock.ts';
import { isError } from '../util/print.ts';
import type { RequestCounters } from './request-counters.ts';
import type { LimiterState, PauseSnapshot } from './snapshot.ts';

const WAITING = ['send', 'reject'] as const;

/** Whether waiting requests are sent or rejected when a limiter is closed. */
type OnClose = (typeof WAITING)[number];

/** How a limiter, or a group of them, is closed. */
export interface CloseOptions {
  /** Whether waiting requests, retries too, are sent (default) or rejected. */
  readonly waiting?: OnClose;
}

/** @throws TypeError that names the option */
export function checkClose(where: string, options: CloseOptions): OnClose {
  checkKeys(where, options, ['waiting']);
  const { waiting = 'send' } = options;
  return checkChoice('waiting', waiting, WAITING);
}

/** Checks the reason of a pause or an isolation. @throws TypeError */
export function checkReason(reason: unknown): asserts reason is string | undefined {
  if (reason === undefined || typeof reason === 'string') return;
  wrongType('reason', 'a string', reason);
}

/** Checks the reason for which a queue is cleared. @throws TypeError */
export function checkClearReason(reason: unknown): asserts reason is string | Error | undefined {
  if (!isError(reason)) checkReason(reason);
}

/** The parts of a limiter that its lifecycle changes and reports to. */
interface LifecycleParts {
  readonly gate: RequestGate;
  readonly counters: RequestCounters;
  readonly events: Subject<LimiterEvent>;
  readonly emit: (fact: LimiterFact) => void;
  readonly clock: Clock;
  /** Emits when limits were changed from outside. */
  readonly configured: Observable<void>;
  /** Releases the resources of the limiter. */
  readonly release: () => void;
}

/** The start of a pause, and its reason. */
interface Pause {
  readonly at: number;
  readonly reason: string | undefined;
}

/**
 * Decides whether a limiter sends: pauses and resumes it, clears its queue, and closes it for good.
 */
export class Lifecycle {
  /** The error of requests that arrive after the limiter was closed. */
  closed: LimiterClosedError | undefined = undefined;
  /** Emits when the limiter is closed and drained. */
  readonly ended = new ReplaySubject<void>(1);
  /** Emits when it will not be used any more. */
  readonly abandoned = new ReplaySubject<void>(1);
  private readonly parts: LifecycleParts;
  private pausing: Pause | undefined = undefined;

  constructor(parts: LifecycleParts) {
    this.parts = parts;
  }

  get state(): LimiterState {
    const { gate, counters, clock } = this.parts;
    if (this.closed !== undefined) return counters.isEmpty ? 'closed' : 'draining';
    if (this.pausing !== undefined) return 'paused';
    const { circuitBreaker, adaptive } = gate.policies;
    const now = clock.now();
    if (circuitBreaker?.snapshot(now).state === 'open') return 'circuitOpen';
    if (adaptive instanceof AimdPolicy && adaptive.snapshot(now).state === 'cooling') {
      return 'cooling';
    }
    return 'running';
  }

  /** The state now, then each change. */
  get state$(): Observable<LimiterState> {
    const { events, configured } = this.parts;
    return new Observable((out) => {
      let last: LimiterState | undefined;
      const look = () => {
        const { state } = this;
        if (state === last) return;
        last = state;
        out.next(state);
      };
      out.add(
        merge(events, configured.pipe(takeUntil(this.ended))).subscribe({
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

  get isPaused(): boolean {
    return this.pausing !== undefined;
  }

  /** The reason of the pause, if one was given. */
  get pauseReason(): string | undefined {
    return this.pausing?.reason;
  }

  pausedAt(now: number): PauseSnapshot | undefined {
    const { pausing } = this;
    return pausing && { reason: pausing.reason, pausedMs: now - pausing.at };
  }

  /**
   * Pauses the limiter. If it is paused already, the reason is replaced, and the start of the pause
   * stays.
   */
  pause(reason: string | undefined): void {
    const { gate, emit, clock } = this.parts;
    const at = clock.now();
    const wasPaused = this.isPaused;
    this.pausing = { at: this.pausing?.at ?? at, reason };
    gate.gate.pause();
    if (!wasPaused) emit({ kind: 'paused', at, ...(reason !== undefined && { reason }) });
  }

  resume(): void {
    const { gate, emit, clock } = this.parts;
    const { pausing } = this;
    if (pausing === undefined) return;
    this.pausing = undefined;
    const at = clock.now();
    emit({ kind: 'resumed', at, pausedMs: at - pausing.at });
    // A listener may have paused it again.
    if (!this.isPaused) gate.gate.resume();
  }

  /**
   * Ends the wait of all waiting requests with an error, or with a `QueueClearedError` that has the
   * reason.
   * @throws TypeError for a reason that is neither an Error nor a string
   */
  clear(reason: string | Error | undefined): void {
    checkClearReason(reason);
    if (isError(reason)) this.rejectWaiting(reason, reason.message);
    else this.rejectWaiting(new QueueClearedError(reason), reason);
  }

  private rejectWaiting(error: Error, reason: string | undefined): void {
    const { gate, emit, clock } = this.parts;
    const { waiting } = gate.gate;
    gate.gate.clear(error);
    if (waiting === 0) return;
    const at = clock.now();
    const why = reason !== undefined && { reason };
    emit({ kind: 'cleared', at, requests: waiting, ...why });
  }

  /**
   * @param waiting whether requests that wait, now or before a retry, are sent or rejected; a closed
   * limiter can still reject them
   */
  close(waiting: OnClose): void {
    const error = this.stop();
    if (waiting !== 'reject') return;
    this.rejectWaiting(error, 'closed');
    // Retries that come back would wait for as long as the provider lets nothing in.
    this.parts.gate.gate.suspend({ refusal: () => error });
  }

  /** The limiter will not be used any more. */
  abandon(): void {
    this.parts.release();
    this.abandoned.next();
  }

  /** Takes no new requests from now on. @returns their error */
  private stop(): LimiterClosedError {
    if (this.closed !== undefined) return this.closed;
    const error = new LimiterClosedError();
    this.closed = error;
    const { gate, counters, events, emit, clock } = this.parts;
    const at = clock.now();
    emit({ kind: 'closed', at });
    if (!counters.isEmpty) {
      const { inFlight } = gate.slots;
      emit({ kind: 'draining', at, inFlight, waiting: gate.gate.waiting });
    }
    counters.whenEmpty(() => {
      this.abandon();
      emit({ kind: 'drained', at: clock.now() });
      counters.end();
      this.ended.next();
      this.ended.complete();
      events.complete();
    });
    return error;
  }
}
