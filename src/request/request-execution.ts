import { from, type Observable } from 'rxjs';
import { type AttemptTimeoutError, DeadlineExceededError } from '../model/errors.ts';
import type { FeedbackKind, Verdict } from '../model/feedback.ts';
import type { Ticket } from '../model/ticket.ts';
import { errorIn, isKnownError } from '../providers/error-value.ts';
import { discard, isFailedResponse } from '../providers/shape.ts';
import type { Gate } from '../queue/gate.ts';
import type { Timer } from '../util/clock.ts';
import { AttemptContext } from './attempt-context.ts';
import { AttemptSubscriber, reportUnhandled } from './attempt-subscriber.ts';
import type { TimedAttempt } from './attempt-timeouts.ts';
import type { BoundTask } from './bound-task.ts';
import type { DispatchContext } from './dispatch-context.ts';
import {
  isUsedUp,
  OK,
  PendingBody,
  readAnswer,
  readUsage,
  verdictOn,
  withLimits,
} from './read-answer.ts';
import { attemptGatesOf, Retries, type RetryWait } from './retries.ts';

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
 * - `unsent`: no attempt was started yet;
 * - `running`: an attempt runs, and its answer was not reported;
 * - `accepted`: the attempt runs, and a good answer was reported;
 * - `rejected`: the attempt has ended with a failure, which was reported; another one may follow;
 * - `over`: the request has ended.
 *
 * An answer is reported to feedback, policies and instrumentation. The first value is the answer.
 */
type ExecutionState = 'unsent' | 'running' | 'accepted' | 'rejected' | 'over';

/** Whether `send` works in its loop, and whether it was called meanwhile. */
type SendLoop = 'idle' | 'sending' | 'again';

/**
 * A request in flight: its attempts, one after the other, until one succeeds or the request may not
 * be sent again. It holds its ticket's leases meanwhile.
 */
export class RequestExecution<T, R> implements TimedAttempt {
  startedAt = Number.NaN;
  earlier: TimedAttempt | undefined = undefined;
  later: TimedAttempt | undefined = undefined;
  readonly ticket: Ticket<T>;
  /** The answer that is not ok but was emitted as a value, if the request ended with one. */
  refusal: R | undefined = undefined;
  private readonly dispatch: DispatchContext<T, R>;
  private readonly listener: ExecutionListener<T, R>;
  private context: AttemptContext | undefined = undefined;
  private inner: AttemptSubscriber<R> | undefined = undefined;
  /** Since the first attempt that failed. */
  private retries: Retries | undefined = undefined;
  /** The body of a response that is being read; later notifications wait. */
  private reading: PendingBody | undefined = undefined;
  private state: ExecutionState = 'unsent';
  private loop: SendLoop = 'idle';
  /** Whether a value was emitted: then the request cannot be sent again. */
  private hasEmitted = false;
  /** Ends the request at its deadline, while an attempt runs or between two. */
  private deadline: Timer | undefined = undefined;
  /** What the last attempt failed with. */
  private lastError: unknown = undefined;

  constructor(
    ticket: Ticket<T>,
    dispatch: DispatchContext<T, R>,
    listener: ExecutionListener<T, R>,
  ) {
    this.ticket = ticket;
    this.dispatch = dispatch;
    this.listener = listener;
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
      if (this.ticket.refusal === undefined) this.attempt();
      else this.crash(this.ticket.refusal);
    } while (this.isCalledAgain && !this.isOver);
    this.loop = 'idle';
  }

  private get isCalledAgain(): boolean {
    return this.loop === 'again';
  }

  private get isOver(): boolean {
    return this.state === 'over';
  }

  /** Whether an attempt runs whose end was not reported yet. */
  private get isRunning(): boolean {
    return this.state === 'running' || this.state === 'accepted';
  }

  private attempt(): void {
    const { ticket } = this;
    const { feedback, instrumentation } = this.dispatch;
    const at = ticket.readAt;
    if (this.isLate(at)) return;
    ticket.sent(feedback.epoch);
    this.state = 'running';
    this.context = new AttemptContext(ticket);
    this.dispatch.tap.sent(ticket);
    instrumentation?.attemptStarted?.(ticket, ticket.attempts);
    // A listener may have unsubscribed.
    if (this.isOver) return;
    try {
      const { context } = this;
      const { bound } = this.listener;
      if (bound === undefined) this.start(context);
      // First, so that a hook can replace the caller's trace context.
      else bound.runInAsyncScope(() => this.start(context));
      // Most projects are asynchronous; one that has ended already needs no timer.
      if (this.isRunning && this.counts(context)) this.bound(at);
    } catch (error) {
      this.error(error);
    }
  }

  /** @param at the time; NaN: it was not read. @returns whether the deadline has passed, which ends it */
  private isLate(at: number): boolean {
    const { retry, clock } = this.dispatch;
    const { deadlineMs } = retry;
    if (deadlineMs === Number.POSITIVE_INFINITY) return false;
    const now = Number.isNaN(at) ? clock.now() : at;
    if (now - this.ticket.arrivedAt < deadlineMs) return false;
    const error = new DeadlineExceededError(deadlineMs, this.lastError);
    // It was not sent: its end says nothing of the provider.
    this.ticket.refuse(error);
    this.crash(error);
    return true;
  }

  /** Bounds the attempt that runs. */
  private bound(at: number): void {
    this.dispatch.timeouts?.started(this, at);
    this.setDeadline();
  }

  /**
   * @param wait between two attempts, which keeps the process alive until then; undefined: one runs
   * @param isAnswer whether the last attempt ended with a value, which is no error for the user
   */
  private setDeadline(wait?: RetryWait, isAnswer = true): void {
    const { retry, clock } = this.dispatch;
    const { deadlineMs } = retry;
    if (deadlineMs === Number.POSITIVE_INFINITY) return;
    const expire = () => {
      const late = new DeadlineExceededError(deadlineMs, this.lastError);
      if (wait === undefined) this.abandon(late);
      else wait.giveUp();
      this.crash(isAnswer ? late : this.lastError);
    };
    const leftMs = this.ticket.arrivedAt + deadlineMs - clock.now();
    this.deadline = clock.setTimer(expire, Math.max(0, leftMs), wait !== undefined);
  }

  private unbound(): void {
    this.dispatch.timeouts?.ended(this);
    this.deadline?.cancel();
    this.deadline = undefined;
  }

  /** Told by `timeouts`: the attempt has taken too long. */
  timedOut(error: AttemptTimeoutError): void {
    if (this.isOver) return;
    this.abandon(error);
    this.error(error);
  }

  /** Ends the attempt that runs; nothing that it says from now on counts. */
  private abandon(reason: unknown): void {
    const { context } = this;
    this.reading?.stop();
    this.reading = undefined;
    try {
      this.inner?.unsubscribe();
    } finally {
      context?.abandon(reason);
    }
  }

  /** Whether what the attempt says counts: it is the last one, and was not abandoned. */
  private counts(context: AttemptContext): boolean {
    return this.context === context && !context.isAbandoned;
  }

  private start(context: AttemptContext): void {
    const { instrumentation } = this.dispatch;
    if (instrumentation?.sending === undefined) this.call(context);
    else instrumentation.sending(this.ticket, () => this.call(context));
  }

  private call(context: AttemptContext): void {
    const result = this.dispatch.project(this.ticket.value, context);
    if (result instanceof Promise) this.await(result, context);
    else if (!this.isOver) this.subscribe(from(result));
  }

  /** Runs the emission of results inside a context, if there is one. */
  get carry(): ((deliver: () => void) => void) | undefined {
    const { instrumentation } = this.dispatch;
    if (instrumentation?.delivering === undefined) return undefined;
    return (deliver) => instrumentation.delivering?.(this.ticket, deliver);
  }

  /** @returns false if this value ends the attempt */
  next(value: R): boolean {
    if (this.isOver) return false;
    if (this.reading !== undefined) return this.reading.later(() => this.next(value));
    if (this.state === 'running') {
      if (isFailedResponse(value)) return this.read(value);
      const verdict = this.verdictIn(value);
      if (verdict !== undefined) return this.refused(value, verdict);
      if (!this.isOver) this.accepted(value);
      if (this.isOver) return false;
    }
    const { instrumentation, answers } = this.dispatch;
    // Limits count the usage, or telemetry compares it with the estimate.
    if (instrumentation !== undefined || answers.readsAnswers) readUsage(value, this.ticket);
    this.hasEmitted = true;
    this.listener.value(this, value);
    return !this.isOver;
  }

  complete(): void {
    if (this.reading !== undefined) {
      this.reading.later(() => this.complete());
      return;
    }
    if (this.state === 'running') this.accepted();
    if (this.isOver) return;
    this.endAttempt('over', 'ok');
    this.listener.succeeded(this);
  }

  error(error: unknown): void {
    if (this.reading !== undefined) this.reading.later(() => this.error(error));
    else if (!this.isOver && !this.failed(error, this.verdictOn(error)) && !this.isOver) {
      this.crash(error);
    }
  }

  /**
   * Handles a response that is not ok. Its body, if it can be read, may say more than its status.
   */
  private read(response: R): boolean {
    const body = new PendingBody();
    const isRead = body.read(response, this.dispatch.clock, (text) => {
      this.reading = undefined;
      return this.refused(response, this.verdictOn(response, text));
    });
    if (!isRead) return this.refused(response, this.verdictOn(response));
    this.reading = body;
    return true;
  }

  /** @returns whether this answer is emitted, so that the attempt goes on */
  private refused(answer: R, verdict: Verdict | undefined): boolean {
    if (this.failed(answer, verdict, true)) {
      discard(answer);
      return false;
    }
    if (this.isOver) return false;
    this.refusal = answer;
    this.hasEmitted = true;
    this.listener.value(this, answer);
    return !this.isOver;
  }

  /** The verdict on a value that is the body of an error; undefined for other values. */
  private verdictIn(value: R): Verdict | undefined {
    const error = errorIn(value);
    if (error === undefined) return undefined;
    const verdict = this.verdictOn(error);
    return verdict !== undefined && isKnownError(verdict) ? verdict : undefined;
  }

  /** @returns undefined if the classifier threw; the request has failed with that error */
  private verdictOn(error: unknown, body?: string): Verdict | undefined {
    try {
      const verdict = verdictOn(error, this.dispatch.classify, body);
      return withLimits(verdict, this.context?.limits);
    } catch (thrown) {
      this.crash(thrown);
      return undefined;
    }
  }

  /** Unsubscribes from the attempt's Observable. */
  release(): void {
    this.inner?.unsubscribe();
  }

  /** The result is no longer wanted. */
  cancel(reason?: unknown): void {
    if (this.isOver) {
      this.release();
      return;
    }
    this.state = 'over';
    this.unbound();
    this.retries?.cancel();
    try {
      this.abandon(reason);
    } finally {
      this.ticket.settle('cancelled');
    }
  }

  /** One `then` instead of a subscriber: most projects are async functions. */
  private await(result: Promise<R>, context: AttemptContext): void {
    // What ends after its time is over is not the end of the attempt that runs now.
    result.then(
      (value) => {
        try {
          if (!this.counts(context) || !this.next(value)) return;
          if (context.tail === undefined) this.complete();
          else context.tail.follow(this);
        } catch (thrown) {
          reportUnhandled(thrown);
        }
      },
      (error: unknown) => {
        try {
          if (this.counts(context)) this.error(error);
        } catch (thrown) {
          reportUnhandled(thrown);
        }
      },
    );
  }

  private subscribe(result: Observable<R>): void {
    // Turning the result into an Observable may have caused an unsubscription.
    if (this.isOver) return;
    this.inner = new AttemptSubscriber(this);
    this.listener.subscribing?.(this);
    result.subscribe(this.inner);
  }

  /** The gates that every attempt of this request passes. */
  private get gates(): readonly Gate[] {
    const { gates } = this.dispatch;
    const more = attemptGatesOf(this.ticket);
    return more === undefined ? gates : [...gates, ...more];
  }

  private accepted(value?: R): void {
    const { feedback, retry, answers } = this.dispatch;
    this.state = 'accepted';
    const verdict = withLimits(answers.readsAnswers ? readAnswer(value) : OK, this.context?.limits);
    this.ticket.verdict = verdict;
    retry.succeeded();
    if (verdict.limits !== undefined && answers.leastClosureMs > 0 && isUsedUp(verdict.limits)) {
      feedback.provider.slowDown();
    }
    feedback.accept(this.ticket.epoch, this.ticket.bytes, verdict.limits);
  }

  /** Goes on to another state, and reports the end of the attempt if one runs. */
  private endAttempt(next: 'rejected' | 'over', kind: FeedbackKind, error?: unknown): void {
    const { isRunning } = this;
    // A classifier may have cancelled the request: that stays so.
    if (!this.isOver) this.state = next;
    this.unbound();
    if (!isRunning) return;
    this.dispatch.instrumentation?.attemptEnded?.(this.ticket, this.ticket.attempts, kind, error);
  }

  /**
   * Reports the provider's answer to feedback, policies and instrumentation.
   * @param isAnswer whether it came as a value, which is no error for the user
   * @returns whether there will be another attempt
   */
  private failed(error: unknown, verdict: Verdict | undefined, isAnswer = false): boolean {
    if (verdict === undefined) return false;
    const { ticket } = this;
    const { feedback, answers, tap } = this.dispatch;
    this.lastError = error;
    ticket.verdict = verdict;
    this.endAttempt('rejected', verdict.kind, error);
    const { bytes, epoch } = ticket;
    const epochBefore = feedback.epoch;
    feedback.answered({ ...verdict, bytes, epoch }, answers.leastClosureMs, error);
    tap.follower?.rejected(ticket, verdict, epochBefore, feedback.epoch);
    for (const gate of this.gates) ticket.returnTo(gate);
    if (this.isOver || this.hasEmitted || this.context?.isLast) return false;
    return this.retry(verdict, error, isAnswer);
  }

  /** @returns whether there will be another attempt */
  private retry(verdict: Verdict, error: unknown, isAnswer: boolean): boolean {
    const { ticket } = this;
    this.retries ??= new Retries();
    let delayMs: number | undefined;
    try {
      delayMs = this.retries.delayAfter(verdict, error, ticket, this.dispatch);
    } catch (thrown) {
      this.crash(thrown);
      return false;
    }
    if (delayMs === undefined) return false;
    ticket.unsent();
    const wait = this.retries.wait(ticket, this.gates, this.dispatch, () => {
      this.unbound();
      this.send();
    });
    // The attempt is torn down before the next one, which may follow in this turn.
    try {
      this.inner?.unsubscribe();
    } finally {
      if (!wait.gone) {
        this.setDeadline(wait, isAnswer);
        wait.start(delayMs);
      }
    }
    return true;
  }

  private crash(error: unknown): void {
    this.endAttempt('over', 'failed', error);
    this.retries?.cancel();
    this.listener.failed(this, error);
  }
}
