import { from, type Observable } from 'rxjs';
import { discard, isFailedResponse } from '../feedback/shape.ts';
import type { Gate } from '../gate/gate.ts';
import { DeadlineExceededError } from '../model/errors.ts';
import type { FeedbackKind, Verdict } from '../model/feedback.ts';
import type { Ticket } from '../model/ticket.ts';
import { AttemptContext } from './attempt-context.ts';
import { attemptGatesOf } from './attempt-gates.ts';
import type { Deck, Dispatcher } from './dispatcher.ts';
import { Inner } from './inner.ts';
import { PendingBody } from './pending-body.ts';
import { OK, readAnswer, readUsage, withLimits } from './read-answer.ts';
import { Retries, type RetryPlan } from './retries.ts';
import { verdictOn } from './verdict.ts';

/**
 * A request that is being sent: its attempts, one after the other, until one goes well or the
 * request may not be sent again. It holds its ticket's leases all the while.
 */
export class Flight<T, R> {
  readonly ticket: Ticket<T>;
  /** The response that says no it ended with, which is a value all the same. */
  refusal: (R & { readonly status: number }) | undefined = undefined;
  private readonly dispatcher: Dispatcher<T, R>;
  private readonly deck: Deck<T, R>;
  private context: AttemptContext | undefined = undefined;
  private inner: Inner<R> | undefined = undefined;
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

  constructor(ticket: Ticket<T>, dispatcher: Dispatcher<T, R>, deck: Deck<T, R>) {
    this.ticket = ticket;
    this.dispatcher = dispatcher;
    this.deck = deck;
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
      if (this.deck.gone) break;
      if (this.ticket.refusal === undefined) this.attempt();
      else this.crash(this.ticket.refusal);
    } while (this.resend && !this.over);
    this.sending = false;
  }

  private attempt(): void {
    const { ticket } = this;
    const { feedback, probe } = this.dispatcher;
    ticket.sent(feedback.epoch);
    this.reported = false;
    this.running = true;
    this.context = new AttemptContext(ticket);
    probe?.attemptStarted?.(ticket, ticket.attempts);
    // Whoever was told may have unsubscribed.
    if (this.over) return;
    try {
      if (probe?.sending === undefined) this.call(this.context);
      else {
        const context = this.context;
        probe.sending(ticket, () => this.call(context));
      }
    } catch (error) {
      this.error(error);
    }
  }

  private call(context: AttemptContext): void {
    const result = this.dispatcher.project(this.ticket.value, context);
    if (result instanceof Promise) this.await(result);
    else if (!this.over) this.subscribe(from(result));
  }

  /** Runs what hands results on, where something is to be around that. */
  get carry(): ((deliver: () => void) => void) | undefined {
    const { probe } = this.dispatcher;
    if (probe?.delivering === undefined) return undefined;
    return (deliver) => probe.delivering?.(this.ticket, deliver);
  }

  /** @returns false when the attempt is over with this value */
  next(value: R): boolean {
    if (this.over) return false;
    if (this.reading !== undefined) return this.reading.later(() => this.next(value));
    if (!this.reported) {
      if (!isFailedResponse(value)) this.accepted(value);
      else return this.read(value);
      if (this.over) return false;
    }
    if (this.dispatcher.readsAnswers) readUsage(value, this.ticket);
    this.emitted = true;
    this.deck.value(this, value);
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
    this.deck.landed(this);
  }

  error(error: unknown): void {
    if (this.reading !== undefined) this.reading.later(() => this.error(error));
    else if (!this.over && !this.failed(error) && !this.over) this.crash(error);
  }

  /** A response that says no: its body may say more than its status, where it can be read. */
  private read(response: R & { readonly status: number }): boolean {
    const body = new PendingBody();
    const isRead = body.read(response, this.dispatcher.clock, (text) => {
      this.reading = undefined;
      return this.refused(response, text);
    });
    if (!isRead) return this.refused(response);
    this.reading = body;
    return true;
  }

  /** @returns whether the request ends with this response, and the attempt goes on */
  private refused(response: R & { readonly status: number }, body?: string): boolean {
    if (this.failed(response, body)) {
      discard(response);
      return false;
    }
    if (this.over) return false;
    this.refusal = response;
    this.emitted = true;
    this.deck.value(this, response);
    return !this.over;
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
    this.retries?.cancel();
    this.reading?.stop();
    try {
      this.inner?.unsubscribe();
    } finally {
      this.context?.abandon(reason);
      this.ticket.settle('cancelled');
    }
  }

  /** One `then` instead of a subscriber: most projects are async functions. */
  private await(result: Promise<R>): void {
    result.then(
      (value) => {
        if (this.next(value)) this.complete();
      },
      (error: unknown) => this.error(error),
    );
  }

  private subscribe(result: Observable<R>): void {
    // Turning the result into an Observable may have called what unsubscribed.
    if (this.over) return;
    this.inner = new Inner(this);
    this.deck.subscribing?.(this);
    result.subscribe(this.inner);
  }

  /** What every attempt of this request passes. */
  private get gates(): readonly Gate[] {
    const { gates } = this.dispatcher;
    const more = attemptGatesOf(this.ticket);
    return more === undefined ? gates : [...gates, ...more];
  }

  private accepted(value?: R): void {
    const { feedback, retry, readsAnswers } = this.dispatcher;
    this.reported = true;
    const verdict = withLimits(readsAnswers ? readAnswer(value) : OK, this.context?.limits);
    this.ticket.verdict = verdict;
    retry.succeeded();
    feedback.accept(this.ticket.epoch, this.ticket.bytes, verdict.limits);
  }

  private endAttempt(kind: FeedbackKind, error?: unknown): void {
    if (!this.running) return;
    this.running = false;
    this.dispatcher.probe?.attemptEnded?.(this.ticket, this.ticket.attempts, kind, error);
  }

  /** Tells the provider's answer to everyone. @returns whether there will be another attempt */
  private failed(error: unknown, body?: string): boolean {
    const { ticket } = this;
    const { feedback, leastClosureMs } = this.dispatcher;
    let verdict: Verdict;
    try {
      const told = verdictOn(error, this.dispatcher.classify, body);
      verdict = withLimits(told, this.context?.limits);
    } catch (thrown) {
      this.crash(thrown);
      return false;
    }
    this.reported = true;
    ticket.verdict = verdict;
    this.endAttempt(verdict.kind, error);
    const { bytes, epoch } = ticket;
    feedback.answered({ ...verdict, bytes, epoch }, leastClosureMs);
    for (const gate of this.gates) ticket.returnTo(gate);
    if (this.over || this.emitted || this.context?.isLast) return false;
    return this.retry(verdict, error);
  }

  /** @returns whether there will be another attempt */
  private retry(verdict: Verdict, error: unknown): boolean {
    const { ticket } = this;
    const { retry, clock, probe } = this.dispatcher;
    this.retries ??= new Retries();
    let plan: RetryPlan | undefined;
    try {
      plan = this.retries.plan(verdict, error, ticket, this.dispatcher);
    } catch (thrown) {
      this.crash(thrown);
      return false;
    }
    if (plan === undefined) return false;
    ticket.unsent();
    const waiting = {
      ready: () => this.send(),
      // A response that was let go is no error that a user could read.
      expired: () =>
        this.crash(
          isFailedResponse(error) ? new DeadlineExceededError(retry.deadlineMs, error) : error,
        ),
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
    this.deck.crashed(this, error);
  }
}
