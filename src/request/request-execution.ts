import { from, type Observable } from 'rxjs';
import { errorIn, isKnownError } from '../feedback/error-value.ts';
import { discard, isFailedResponse } from '../feedback/shape.ts';
import type { Timer } from '../model/clock.ts';
import { type AttemptTimeoutError, DeadlineExceededError } from '../model/errors.ts';
import type { FeedbackKind, Verdict } from '../model/feedback.ts';
import type { Ticket } from '../model/ticket.ts';
import type { Gate } from '../queue/gate.ts';
import { AttemptContext } from './attempt-context.ts';
import { attemptGatesOf } from './attempt-gates.ts';
import { AttemptSubscriber } from './attempt-subscriber.ts';
import type { TimedAttempt } from './attempt-timeouts.ts';
import type { BoundTask } from './bound-task.ts';
import type { DispatchContext } from './dispatch-context.ts';
import { PendingBody } from './pending-body.ts';
import { isUsedUp, OK, readAnswer, readUsage, withLimits } from './read-answer.ts';
import { reportUnhandled } from './report-unhandled.ts';
import { Retries, type RetryPlan } from './retries.ts';
import { verdictOn } from './verdict.ts';

/** Who gets the results of flights. */
export interface ExecutionListener<T, R> {
  /** Nobody wants results any more: nothing is sent. */
  readonly gone: boolean;
  /** Restores what was around the call that the request comes from; undefined: nothing need be. */
  readonly bound?: Pick<BoundTask<unknown>, 'runInAsyncScope'> | undefined;
  /** An Observable is about to be subscribed to, which may have to be torn down. */
  subscribing?(execution: RequestExecution<T, R>): void;
  value(execution: RequestExecution<T, R>, value: R): void;
  /** The request has gone well. */
  succeeded(execution: RequestExecution<T, R>): void;
  /** The request has failed for good. */
  failed(execution: RequestExecution<T, R>, error: unknown): void;
}

/**
 * A request that is being sent: its attempts, one after the other, until one goes well or the
 * request may not be sent again. It holds its ticket's leases all the while.
 */
export class RequestExecution<T, R> implements TimedAttempt {
  startedAt = Number.NaN;
  earlier: TimedAttempt | undefined = undefined;
  later: TimedAttempt | undefined = undefined;
  readonly ticket: Ticket<T>;
  /** The answer that says no it ended with, which is a value all the same. */
  refusal: R | undefined = undefined;
  private readonly dispatch: DispatchContext<T, R>;
  private readonly listener: ExecutionListener<T, R>;
  private context: AttemptContext | undefined = undefined;
  /** The same while what the attempt says counts. */
  private current: AttemptContext | undefined = undefined;
  private inner: AttemptSubscriber<R> | undefined = undefined;
  /** Since the first attempt that failed. */
  private retries: Retries | undefined = undefined;
  /** The body of a response that says no is being read, and what came after it waits. */
  private reading: PendingBody | undefined = undefined;
  /** An attempt is being started; another is to follow. */
  private sending = false;
  private resend = false;
  /** The attempt runs, and its end has not been told yet. */
  private running = false;
  /** Whether the provider's answer to the present attempt has been told: its first value tells. */
  private reported = false;
  /** Whether a value was passed on: then the request cannot be sent again. */
  private emitted = false;
  private over = false;
  /** Ends the request at its deadline, while an attempt runs. */
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
   * Starts an attempt. One that fails in the same turn may be followed by the next: in a loop, so
   * that each is torn down before, and the stack does not grow.
   */
  send(): void {
    if (this.sending) {
      this.resend = true;
      return;
    }
    this.sending = true;
    do {
      this.resend = false;
      if (this.listener.gone) break;
      if (this.ticket.refusal === undefined) this.attempt();
      else this.crash(this.ticket.refusal);
    } while (this.resend && !this.over);
    this.sending = false;
  }

  private attempt(): void {
    const { ticket } = this;
    const { feedback, probe } = this.dispatch;
    const at = ticket.readAt;
    if (this.isLate(at)) return;
    ticket.sent(feedback.epoch);
    this.reported = false;
    this.running = true;
    this.context = new AttemptContext(ticket);
    this.current = this.context;
    this.dispatch.tap.follower?.sent(ticket);
    probe?.attemptStarted?.(ticket, ticket.attempts);
    // Whoever was told may have unsubscribed.
    if (this.over) return;
    try {
      const { context } = this;
      const { bound } = this.listener;
      if (bound === undefined) this.start(context);
      // First, so that a probe may put a trace context of its own in the place of the caller's.
      else bound.runInAsyncScope(() => this.start(context));
      // Most projects are asynchronous; one that has ended already needs no timer.
      if (this.running && this.current === context) this.bound(at);
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
    const { retry, clock, timeouts } = this.dispatch;
    timeouts?.started(this, at);
    const { deadlineMs } = retry;
    if (deadlineMs === Number.POSITIVE_INFINITY) return;
    const leftMs = this.ticket.arrivedAt + deadlineMs - clock.now();
    const expire = () => {
      const error = new DeadlineExceededError(deadlineMs, this.lastError);
      this.abandon(error);
      this.crash(error);
    };
    this.deadline = clock.setTimer(expire, Math.max(0, leftMs), false);
  }

  private unbound(): void {
    this.dispatch.timeouts?.ended(this);
    this.deadline?.cancel();
    this.deadline = undefined;
  }

  /** Told by `timeouts`: the attempt has taken too long. */
  timedOut(error: AttemptTimeoutError): void {
    if (this.over) return;
    this.abandon(error);
    this.error(error);
  }

  /** Ends the attempt that runs; nothing that it says from now on counts. */
  private abandon(reason: unknown): void {
    const { context } = this;
    this.current = undefined;
    this.reading?.stop();
    this.reading = undefined;
    try {
      this.inner?.unsubscribe();
    } finally {
      context?.abandon(reason);
    }
  }

  private start(context: AttemptContext): void {
    const { probe } = this.dispatch;
    if (probe?.sending === undefined) this.call(context);
    else probe.sending(this.ticket, () => this.call(context));
  }

  private call(context: AttemptContext): void {
    const result = this.dispatch.project(this.ticket.value, context);
    if (result instanceof Promise) this.await(result, context);
    else if (!this.over) this.subscribe(from(result));
  }

  /** Runs what hands results on, where something is to be around that. */
  get carry(): ((deliver: () => void) => void) | undefined {
    const { probe } = this.dispatch;
    if (probe?.delivering === undefined) return undefined;
    return (deliver) => probe.delivering?.(this.ticket, deliver);
  }

  /** @returns false when the attempt is over with this value */
  next(value: R): boolean {
    if (this.over) return false;
    if (this.reading !== undefined) return this.reading.later(() => this.next(value));
    if (!this.reported) {
      if (isFailedResponse(value)) return this.read(value);
      const verdict = this.verdictIn(value);
      if (verdict !== undefined) return this.refused(value, verdict);
      if (!this.over) this.accepted(value);
      if (this.over) return false;
    }
    if (this.dispatch.readsUsage) readUsage(value, this.ticket);
    this.emitted = true;
    this.listener.value(this, value);
    return !this.over;
  }

  complete(): void {
    if (this.reading !== undefined) {
      this.reading.later(() => this.complete());
      return;
    }
    if (!this.over && !this.reported) this.accepted();
    if (this.over) return;
    this.over = true;
    this.endAttempt('ok');
    this.listener.succeeded(this);
  }

  error(error: unknown): void {
    if (this.reading !== undefined) this.reading.later(() => this.error(error));
    else if (!this.over && !this.failed(error, this.verdictOn(error)) && !this.over) {
      this.crash(error);
    }
  }

  /** A response that says no: its body may say more than its status, where it can be read. */
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

  /** @returns whether the request ends with this answer, and the attempt goes on */
  private refused(answer: R, verdict: Verdict | undefined): boolean {
    if (this.failed(answer, verdict, true)) {
      discard(answer);
      return false;
    }
    if (this.over) return false;
    this.refusal = answer;
    this.emitted = true;
    this.listener.value(this, answer);
    return !this.over;
  }

  /** Of the body of an error that came as a value; undefined of all other values. */
  private verdictIn(value: R): Verdict | undefined {
    const error = errorIn(value);
    if (error === undefined) return undefined;
    const verdict = this.verdictOn(error);
    return verdict !== undefined && isKnownError(verdict) ? verdict : undefined;
  }

  /** @returns undefined: the classifier threw, and the request has failed with that */
  private verdictOn(error: unknown, body?: string): Verdict | undefined {
    try {
      const verdict = verdictOn(error, this.dispatch.classify, body);
      return withLimits(verdict, this.context?.limits);
    } catch (thrown) {
      this.crash(thrown);
      return undefined;
    }
  }

  /** Lets go of the attempt's Observable. */
  release(): void {
    this.inner?.unsubscribe();
  }

  /** Nobody wants the result any more. */
  cancel(reason?: unknown): void {
    if (this.over) {
      this.release();
      return;
    }
    this.over = true;
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
          if (this.current === context && this.next(value)) this.complete();
        } catch (thrown) {
          reportUnhandled(thrown);
        }
      },
      (error: unknown) => {
        try {
          if (this.current === context) this.error(error);
        } catch (thrown) {
          reportUnhandled(thrown);
        }
      },
    );
  }

  private subscribe(result: Observable<R>): void {
    // Turning the result into an Observable may have called what unsubscribed.
    if (this.over) return;
    this.inner = new AttemptSubscriber(this);
    this.listener.subscribing?.(this);
    result.subscribe(this.inner);
  }

  /** What every attempt of this request passes. */
  private get gates(): readonly Gate[] {
    const { gates } = this.dispatch;
    const more = attemptGatesOf(this.ticket);
    return more === undefined ? gates : [...gates, ...more];
  }

  private accepted(value?: R): void {
    const { feedback, retry, answers } = this.dispatch;
    this.reported = true;
    const verdict = withLimits(answers.readsAnswers ? readAnswer(value) : OK, this.context?.limits);
    this.ticket.verdict = verdict;
    retry.succeeded();
    if (verdict.limits !== undefined && answers.leastClosureMs > 0 && isUsedUp(verdict.limits)) {
      feedback.slowDown();
    }
    feedback.accept(this.ticket.epoch, this.ticket.bytes, verdict.limits);
  }

  private endAttempt(kind: FeedbackKind, error?: unknown): void {
    if (!this.running) return;
    this.running = false;
    this.unbound();
    this.dispatch.probe?.attemptEnded?.(this.ticket, this.ticket.attempts, kind, error);
  }

  /**
   * Tells the provider's answer to everyone.
   * @param isAnswer whether it came as a value, which is no error that a user could read
   * @returns whether there will be another attempt
   */
  private failed(error: unknown, verdict: Verdict | undefined, isAnswer = false): boolean {
    if (verdict === undefined) return false;
    const { ticket } = this;
    const { feedback, answers, tap } = this.dispatch;
    this.reported = true;
    this.lastError = error;
    ticket.verdict = verdict;
    this.endAttempt(verdict.kind, error);
    const { bytes, epoch } = ticket;
    const epochBefore = feedback.epoch;
    feedback.answered({ ...verdict, bytes, epoch }, answers.leastClosureMs);
    tap.follower?.rejected(ticket, verdict, epochBefore, feedback.epoch);
    for (const gate of this.gates) ticket.returnTo(gate);
    if (this.over || this.emitted || this.context?.isLast) return false;
    return this.retry(verdict, error, isAnswer);
  }

  /** @returns whether there will be another attempt */
  private retry(verdict: Verdict, error: unknown, isAnswer: boolean): boolean {
    const { ticket } = this;
    const { retry, clock, probe } = this.dispatch;
    this.retries ??= new Retries();
    let plan: RetryPlan | undefined;
    try {
      plan = this.retries.plan(verdict, error, ticket, this.dispatch);
    } catch (thrown) {
      this.crash(thrown);
      return false;
    }
    if (plan === undefined) return false;
    ticket.unsent();
    const waiting = {
      ready: () => this.send(),
      expired: () =>
        this.crash(isAnswer ? new DeadlineExceededError(retry.deadlineMs, error) : error),
    };
    const wait = this.retries.wait(ticket, this.gates, waiting, probe);
    // The attempt is torn down before the next one, which may follow in this very turn.
    try {
      this.inner?.unsubscribe();
    } finally {
      if (!wait.gone) wait.start(clock, plan.delayMs, plan.leftMs);
    }
    return true;
  }

  private crash(error: unknown): void {
    this.over = true;
    this.retries?.cancel();
    this.endAttempt('failed', error);
    this.listener.failed(this, error);
  }
}
