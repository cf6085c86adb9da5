import { DeadlineExceededError } from '../model/errors.ts';
import type { FeedbackKind, Verdict } from '../model/feedback.ts';
import type { Outcome } from '../model/outcome.ts';
import type { Ticket } from '../model/ticket.ts';
import type { Gate } from '../queue/gate.ts';
import type { Timer } from '../util/clock.ts';
import type { Linked } from '../util/collections.ts';
import type { BoundTask } from '../util/pending-call.ts';
import { Attempt, type AttemptedRequest } from './attempt.ts';
import type { Slot } from './in-order.ts';
import { attemptGatesOf, Retries, type RetryWait } from './retries.ts';
import type { DispatchContext } from './send-options.ts';

/** Receives the results of an execution. */
export interface ExecutionListener<T, R> {
  /** Whether results are no longer wanted, so that nothing is sent. */
  readonly gone: boolean;
  /** Runs code in the async context of the request's call; undefined if there is none. */
  readonly bound?: Pick<BoundTask<unknown>, 'runInAsyncScope'> | undefined;
  /** An Observable is about to be subscribed to, and may have to be torn down. */
  subscribing?(execution: RequestExecution<T, R>): void;
  value(execution: RequestExecution<T, R>, value: R): void;
  /** The request succeeded. */
  succeeded(execution: RequestExecution<T, R>): void;
  /** The request failed for good. */
  failed(execution: RequestExecution<T, R>, error: unknown): void;
}

/**
 * - `waiting`: no attempt runs; the next one may follow;
 * - `running`: an attempt runs whose end was not reported yet;
 * - `over`: the request has ended.
 */
type ExecutionState = 'waiting' | 'running' | 'over';

/** Whether `send` works in its loop, and whether it was called meanwhile. */
type SendLoop = 'idle' | 'sending' | 'again';

/**
 * A request in flight: its attempts, one after the other, until one succeeds or the request may not
 * be sent again. It holds its ticket's leases meanwhile. {@link Attempt} reads the answers; this
 * class decides what follows from them.
 *
 * Fields that only streams need are here, too: V8 takes several times as long to make an object of
 * a subclass.
 */
export class RequestExecution<T, R>
  implements AttemptedRequest<T, R>, Linked<RequestExecution<T, R>>
{
  readonly ticket: Ticket<T>;
  readonly dispatch: DispatchContext<T, R>;
  /** The answer that is not ok but was emitted as a value, if the request ended with one. */
  rejection: R | undefined = undefined;
  /** The last emitted value, if its stream keeps it. */
  last: R | undefined = undefined;
  /** Its place in the order of its stream's results, if they are ordered. */
  slot: Slot<R | Outcome<T, R>> | undefined = undefined;
  /** Its neighbours among the executions of its stream. */
  before: RequestExecution<T, R> | undefined = undefined;
  after: RequestExecution<T, R> | undefined = undefined;
  private readonly listener: ExecutionListener<T, R>;
  /** The last attempt that was started. */
  private attempt: Attempt<T, R> | undefined = undefined;
  /** The retries; undefined before the first failed attempt. */
  private retries: Retries | undefined = undefined;
  private state: ExecutionState = 'waiting';
  private loop: SendLoop = 'idle';
  /** Whether a value was emitted: then the request cannot be sent again. */
  private hasEmitted = false;
  /** Ends the request at its deadline, while an attempt runs or between two. */
  private deadline: Timer | undefined = undefined;

  constructor(
    ticket: Ticket<T>,
    dispatch: DispatchContext<T, R>,
    listener: ExecutionListener<T, R>,
  ) {
    this.ticket = ticket;
    this.dispatch = dispatch;
    this.listener = listener;
  }

  get isOver(): boolean {
    return this.state === 'over';
  }

  /** Runs the emission of results inside a context, if there is one. */
  get carry(): ((deliver: () => void) => void) | undefined {
    const { instrumentation } = this.dispatch;
    if (instrumentation?.delivering === undefined) return undefined;
    return (deliver) => instrumentation.delivering?.(this.ticket, deliver);
  }

  /**
   * Starts an attempt. If it fails in the same turn, the next may follow at once: in a loop, so
   * that each is torn down first and the stack does not grow.
   */
  send(): void {
    if (this.loop !== 'idle') {
      this.loop = 'again';
      return;
    }
    do {
      this.loop = 'sending';
      if (this.listener.gone) break;
      if (this.ticket.refusal === undefined) this.startAttempt();
      else this.failed(this.ticket.refusal);
    } while (this.isCalledAgain && !this.isOver);
    this.loop = 'idle';
  }

  /** Unsubscribes from the attempt's Observable. */
  release(): void {
    this.attempt?.release();
  }

  /** The result is no longer wanted. */
  cancel(reason?: unknown): void {
    if (this.isOver) {
      this.release();
      return;
    }
    if (this.hasEmitted && this.attempt?.isWhole) {
      // Its whole result was delivered and caused this cancellation, as with `take(1)`.
      this.endAttempt('over', 'ok');
      this.ticket.settle(this.rejection === undefined ? 'ok' : 'failed');
      return;
    }
    this.state = 'over';
    this.stopTimers();
    this.retries?.cancel();
    try {
      this.attempt?.abandon(reason);
    } finally {
      this.ticket.settle('cancelled');
    }
  }

  subscribing(): void {
    this.listener.subscribing?.(this);
  }

  accepted(verdict: Verdict): void {
    const { ticket } = this;
    const { feedback, retry, answers } = this.dispatch;
    ticket.verdict = verdict;
    retry.succeeded();
    feedback.accept(ticket.epoch, ticket.bytes, answers, verdict.limits);
  }

  rejected(error: unknown, reported: Verdict, isAnswer: boolean): boolean {
    const { ticket } = this;
    const { feedback, answers, tap } = this.dispatch;
    const epochBefore = feedback.epoch;
    const { outage } = feedback.gate.policy;
    const { failedProbes } = outage;
    const verdict = answers.understand(feedback.provider.understand(reported, ticket, error));
    ticket.verdict = verdict;
    this.endAttempt('waiting', verdict.kind, error);
    const { bytes, epoch } = ticket;
    const corrected = answers.corrected(verdict);
    feedback.answered({ ...corrected, bytes, epoch }, answers, error);
    // The next probe must be another request: this one may be the cause of its broken connection.
    const wasProbe = outage.failedProbes > failedProbes;
    tap.follower?.rejected(ticket, verdict, epochBefore, feedback.epoch, error);
    const { excused } = ticket;
    for (const gate of this.gates) ticket.returnTo(gate);
    if (this.isOver || this.hasEmitted || this.attempt?.context.isLast) return false;
    const isExcused = ticket.excused > excused;
    const counted: Verdict = isExcused ? { ...corrected, kind: 'overloaded' } : corrected;
    return this.retry(counted, error, isAnswer, wasProbe);
  }

  emitted(value: R): void {
    this.hasEmitted = true;
    this.listener.value(this, value);
  }

  emittedRejected(answer: R): void {
    this.rejection = answer;
    this.emitted(answer);
  }

  completed(): void {
    this.endAttempt('over', 'ok');
    this.listener.succeeded(this);
  }

  failed(error: unknown): void {
    this.endAttempt('over', 'failed', error);
    this.listener.failed(this, error);
  }

  private get isCalledAgain(): boolean {
    return this.loop === 'again';
  }

  /** Whether an attempt runs whose end was not reported yet. */
  private get isRunning(): boolean {
    return this.state === 'running';
  }

  private startAttempt(): void {
    const { ticket } = this;
    const { feedback, instrumentation } = this.dispatch;
    const at = ticket.readAt;
    if (this.failIfLate(at)) return;
    ticket.sent(feedback.epoch);
    this.state = 'running';
    const attempt = new Attempt(this);
    this.attempt = attempt;
    this.dispatch.tap.sent(ticket);
    instrumentation?.attemptStarted?.(ticket, ticket.attempts);
    // A listener may have unsubscribed.
    if (this.isOver) return;
    try {
      const { bound } = this.listener;
      if (bound === undefined) attempt.start();
      // Run it here first, so that a hook can replace the caller's trace context.
      else bound.runInAsyncScope(() => attempt.start());
      // An attempt that has ended already needs no timer; most projects are asynchronous.
      if (this.isRunning) this.startTimers(attempt, at);
    } catch (error) {
      attempt.error(error);
    }
  }

  /**
   * Fails the request if its deadline has passed.
   * @param at the time; NaN: it was not read
   * @returns whether it has failed
   */
  private failIfLate(at: number): boolean {
    const { retry, clock } = this.dispatch;
    if (!this.hasDeadline) return false;
    const now = Number.isNaN(at) ? clock.now() : at;
    if (now - this.ticket.arrivedAt < retry.deadlineMs) return false;
    const error = this.lateError(this.ticket.attempts === 0 ? 'waiting' : 'backoff');
    // The request was not sent: its end is no evidence about the provider.
    this.refuse(error);
    return true;
  }

  /** Fails the request with another error than that of its last attempt. */
  private refuse(error: Error): void {
    this.ticket.refuse(error);
    this.failed(error);
  }

  /** Starts the timers that bound the time of the attempt that runs, and of the request. */
  private startTimers(attempt: Attempt<T, R>, at: number): void {
    const { timeouts, clock } = this.dispatch;
    attempt.startedAt = Number.isNaN(at) ? clock.now() : at;
    timeouts.started(attempt, attempt.startedAt);
    if (this.hasDeadline) this.setDeadline(undefined);
  }

  private lateError(where: DeadlineExceededError['where']): DeadlineExceededError {
    return new DeadlineExceededError(
      this.dispatch.retry.deadlineMs,
      where,
      this.retries?.lastError,
    );
  }

  private get hasDeadline(): boolean {
    return this.dispatch.retry.deadlineMs !== Number.POSITIVE_INFINITY;
  }

  /**
   * Called only with a deadline: V8 allocates for the closure at the start of the function, even if
   * it then returns early.
   * @param wait the wait between two attempts, during which the timer keeps the process alive;
   *   undefined: an attempt runs
   */
  private setDeadline(wait: RetryWait | undefined): void {
    const { retry, clock } = this.dispatch;
    const expire = () => {
      const late = this.lateError(wait === undefined ? 'attempt' : 'backoff');
      wait?.giveUp();
      this.ticket.refuse(late);
      if (wait === undefined) this.attempt?.abandonReporting(late);
      this.failed(late);
    };
    const leftMs = this.ticket.arrivedAt + retry.deadlineMs - clock.now();
    this.deadline = clock.setTimer(expire, Math.max(0, leftMs), wait !== undefined);
  }

  private stopTimers(): void {
    if (this.attempt !== undefined) this.dispatch.timeouts.ended(this.attempt);
    this.deadline?.cancel();
    this.deadline = undefined;
  }

  /** The gates that every attempt of this request passes. */
  private get gates(): readonly Gate[] {
    return attemptGatesOf(this.ticket, this.dispatch.gates);
  }

  /** Goes on to another state, and reports the end of the attempt if one runs. */
  private endAttempt(next: 'waiting' | 'over', kind: FeedbackKind, error?: unknown): void {
    const { isRunning } = this;
    // A classifier may have cancelled the request, which is final.
    if (!this.isOver) this.state = next;
    this.stopTimers();
    if (!isRunning) return;
    this.dispatch.instrumentation?.attemptEnded?.(this.ticket, this.ticket.attempts, kind, error);
  }

  /**
   * @param isAnswer whether it came as a value, which is the result if there is no other attempt
   * @param wasProbe whether it was the probe of an outage: then it waits again, behind all others
   * @returns whether there will be another attempt
   */
  private retry(verdict: Verdict, error: unknown, isAnswer: boolean, wasProbe: boolean): boolean {
    const { ticket } = this;
    this.retries ??= new Retries();
    let delayMs: number | undefined;
    try {
      delayMs = this.retries.delayAfter(verdict, error, ticket, this.dispatch);
    } catch (thrown) {
      this.refuse(thrown as Error);
      return false;
    }
    if (delayMs === undefined) return false;
    if (delayMs === Number.POSITIVE_INFINITY) {
      if (!isAnswer) this.refuse(this.lateError('backoff'));
      return false;
    }
    ticket.unsent();
    const ready = () => {
      this.stopTimers();
      this.send();
    };
    const wait = this.retries.wait(ticket, this.gates, this.dispatch, ready, !wasProbe);
    // The attempt is torn down before the next one, which may follow in this turn.
    try {
      this.release();
    } finally {
      if (!wait.gone) {
        if (this.hasDeadline) this.setDeadline(wait);
        wait.start(delayMs);
      }
    }
    return true;
  }
}
