import { RetryAfterTooLongError } from '../model/errors.ts';
import type { Verdict } from '../model/feedback.ts';
import type { Instrumentation } from '../model/instrumentation.ts';
import type { Ticket } from '../model/ticket.ts';
import { discard } from '../providers/shape.ts';
import type { AdmissionCallback } from '../queue/admission-callback.ts';
import type { Gate } from '../queue/gate.ts';
import type { Clock, Timer } from '../util/clock.ts';
import type { DispatchContext } from './dispatch-context.ts';

/** When the next attempt may be sent. */
export interface RetryPlan {
  readonly delayMs: number;
  /** The time left until the request's deadline, in ms; Infinity if it has none. */
  readonly leftMs: number;
}

/** The failed attempts of a request, and its wait for the next attempt. */
export class Retries {
  /** Failed attempts, without rejections and overloads. */
  private failures = 0;
  private overloads = 0;
  private _wait: RetryWait | undefined = undefined;

  /**
   * Counts a failed attempt.
   * @returns undefined if the request is not sent again
   * @throws RetryAfterTooLongError; any error of `random`
   */
  plan(
    verdict: Verdict,
    error: unknown,
    { attempts, arrivedAt }: Ticket,
    { feedback, retry, clock, random }: DispatchContext<never, unknown>,
  ): RetryPlan | undefined {
    const { retryAfterMs = 0 } = verdict;
    if (verdict.retry !== false && retryAfterMs > feedback.maxRetryAfterMs) {
      discard(error);
      throw new RetryAfterTooLongError(retryAfterMs, feedback.maxRetryAfterMs, error);
    }
    if (verdict.kind === 'overloaded') this.overloads += 1;
    else if (verdict.kind !== 'throttled') this.failures += 1;
    const elapsedMs = clock.now() - arrivedAt;
    const past = { attempts, failures: this.failures, overloads: this.overloads, elapsedMs };
    const delayMs = retry.delay(verdict, past, random);
    return delayMs === undefined ? undefined : { delayMs, leftMs: retry.deadlineMs - elapsedMs };
  }

  /** The wait for the next attempt, not started yet. */
  wait(
    ticket: Ticket,
    gates: readonly Gate[],
    waiting: Waiting,
    instrumentation?: Instrumentation,
  ): RetryWait {
    this._wait = new RetryWait(ticket, gates, waiting, instrumentation);
    return this._wait;
  }

  cancel(): void {
    this._wait?.cancel();
  }
}

/** Receives the end of a wait: exactly one of the two calls, unless the wait is cancelled. */
export interface Waiting {
  /** The request may be sent again. */
  ready(): void;
  /** Its deadline passed first. */
  expired(): void;
}

/** A request between two attempts: first its own delay, then the gates of attempts. */
export class RetryWait implements AdmissionCallback {
  gone = false;
  queued = 0;
  readonly isRetry = true;
  private readonly ticket: Ticket;
  private readonly gates: readonly Gate[];
  private readonly waiting: Waiting;
  readonly instrumentation: Instrumentation | undefined;
  private delay: Timer | undefined = undefined;
  private deadline: Timer | undefined = undefined;
  private passed = 0;
  /** The gate where the request waits. */
  private waitsAt: Gate | undefined = undefined;

  constructor(
    ticket: Ticket,
    gates: readonly Gate[],
    waiting: Waiting,
    instrumentation?: Instrumentation,
  ) {
    this.ticket = ticket;
    this.gates = gates;
    this.waiting = waiting;
    this.instrumentation = instrumentation;
  }

  /**
   * @param delayMs 0 for only the gates
   * @param leftMs the time left until the deadline; Infinity if there is none
   */
  start(clock: Clock, delayMs: number, leftMs: number): void {
    const startedAt = clock.now();
    if (leftMs !== Number.POSITIVE_INFINITY) {
      this.deadline = clock.setTimer(() => {
        // First, so that it cannot pass any more, whatever the listeners of its wait do.
        this.gone = true;
        if (this.waitsAt === undefined) this.retryWaited(clock.now() - startedAt);
        else this.waitsAt.gaveUp(this.ticket, this);
        this.cancel();
        this.waiting.expired();
      }, leftMs);
    }
    if (delayMs === 0) this.enterGates();
    else {
      this.instrumentation?.queued?.(this.ticket, 'retry');
      // A listener may have unsubscribed.
      if (this.gone) return;
      this.delay = clock.setTimer(() => {
        this.retryWaited(delayMs);
        if (!this.gone) this.enterGates();
      }, delayMs);
    }
  }

  admitted(): void {
    this.waitsAt = undefined;
    if (!this.gone) this.enterGates();
  }

  cancel(): void {
    this.gone = true;
    this.delay?.cancel();
    this.deadline?.cancel();
    // This may let others pass, and one of them may cancel this wait again.
    const gate = this.waitsAt;
    this.waitsAt = undefined;
    gate?.left(this);
  }

  /** Its own delay is over, or was cut short. */
  private retryWaited(waitMs: number): void {
    this.ticket.waited('retry', waitMs, 1);
    this.instrumentation?.admitted?.(this.ticket, 'retry', waitMs, 1);
  }

  private enterGates(): void {
    for (let gate = this.gates[this.passed]; gate !== undefined; gate = this.gates[this.passed]) {
      this.passed += 1;
      this.waitsAt = gate;
      // It is called when it may pass, or was called already.
      if (!gate.enter(this.ticket, this)) return;
      this.waitsAt = undefined;
    }
    this.deadline?.cancel();
    if (!this.gone) this.waiting.ready();
  }
}

/** By ticket, the gates of operators that limit attempts, not requests. */
const passed = new WeakMap<Ticket, readonly Gate[]>();

/** Makes each further attempt of the request pass this gate again. */
export function passesAgain(ticket: Ticket, gate: Gate): void {
  passed.set(ticket, [...(passed.get(ticket) ?? []), gate]);
}

export function attemptGatesOf(ticket: Ticket): readonly Gate[] | undefined {
  return passed.get(ticket);
}
