import { from, type Observable, type ObservableInput, Subscriber } from 'rxjs';
import type { RetryPolicy } from '../core/retry.ts';
import type { FeedbackSubject } from '../feedback/feedback-subject.ts';
import { discard, isFailedResponse } from '../feedback/shape.ts';
import type { Clock, Random, Timer } from '../model/clock.ts';
import { RetryAfterTooLongError } from '../model/errors.ts';
import type { Verdict } from '../model/feedback.ts';
import type { Outcome } from '../model/outcome.ts';
import type { Probe } from '../model/probe.ts';
import type { Enlisted } from '../model/roster.ts';
import type { Receiver, Ticket } from '../model/ticket.ts';
import { AttemptContext } from './attempt-context.ts';
import type { Slot } from './in-order.ts';

/** How requests are sent: what all flights of one subscription or limiter share. */
export interface Dispatcher<T, R> {
  readonly project: (value: T, context: AttemptContext) => ObservableInput<R>;
  readonly feedback: FeedbackSubject;
  readonly retry: RetryPolicy;
  readonly classify: (error: unknown) => Verdict;
  readonly clock: Clock;
  readonly random: Random;
  readonly probe: Probe | undefined;
}

/** Who gets the results of flights. */
export interface Deck<T, R> {
  value(flight: Flight<T, R>, value: R): void;
  /** The request has gone well. */
  landed(flight: Flight<T, R>): void;
  /** The request has failed for good. */
  crashed(flight: Flight<T, R>, error: unknown): void;
}

/**
 * A request that is being sent: its attempts, one after the other, until one goes well or the
 * request may not be sent again. It holds its ticket's leases all the while.
 */
export class Flight<T, R> implements Receiver, Enlisted<Flight<T, R>> {
  readonly ticket: Ticket<T>;
  /** Its neighbours among the flights of one subscription. */
  before: Flight<T, R> | undefined = undefined;
  after: Flight<T, R> | undefined = undefined;
  /** Its place in the order of results, if they are ordered. */
  slot: Slot<R | Outcome<T, R>> | undefined = undefined;
  /** What it has emitted last, if that is kept. */
  last: R | undefined = undefined;
  readonly #dispatcher: Dispatcher<T, R>;
  readonly #deck: Deck<T, R>;
  #context: AttemptContext | undefined = undefined;
  #inner: Inner<T, R> | undefined = undefined;
  /** Between two attempts: the delay, and the time after which there will be no other. */
  #delay: Timer | undefined = undefined;
  #deadline: Timer | undefined = undefined;
  /** Whether the request waits at the backoff gate. */
  #queued = false;
  /** Whether feedback on the present attempt has been given. */
  #reported = false;
  /** Whether a value was passed on: then the request cannot be sent again. */
  #emitted = false;
  #over = false;

  constructor(ticket: Ticket<T>, dispatcher: Dispatcher<T, R>, deck: Deck<T, R>) {
    this.ticket = ticket;
    this.#dispatcher = dispatcher;
    this.#deck = deck;
  }

  get gone(): boolean {
    return this.#over;
  }

  /** Starts an attempt. */
  send(): void {
    const { ticket } = this;
    const { feedback, probe, project } = this.#dispatcher;
    ticket.attempts += 1;
    ticket.epoch = feedback.epoch;
    this.#reported = false;
    this.#context = new AttemptContext(ticket.attempts, ticket.index);
    probe?.attemptStarted?.(ticket, ticket.attempts);
    try {
      const result = project(ticket.value, this.#context);
      if (result instanceof Promise) this.#await(result);
      else if (!this.#over) this.#subscribe(from(result));
    } catch (error) {
      this.error(error);
    }
  }

  /** @returns false when the attempt is over with this value */
  next(value: R): boolean {
    if (this.#over) return false;
    if (!this.#reported) {
      if (!isFailedResponse(value)) this.#succeeded();
      else if (this.#failed(value)) {
        this.#inner?.unsubscribe();
        discard(value);
        return false;
      }
      if (this.#over) return false;
    }
    this.#emitted = true;
    this.#deck.value(this, value);
    return !this.#over;
  }

  complete(): void {
    if (this.#over) return;
    if (!this.#reported) this.#succeeded();
    if (this.#over) return;
    this.#over = true;
    this.#deck.landed(this);
  }

  error(error: unknown): void {
    if (this.#over || this.#failed(error) || this.#over) return;
    this.#crash(error);
  }

  /** The backoff gate lets the next attempt pass. */
  admitted(): void {
    this.#queued = false;
    this.#endWait();
    this.send();
  }

  /** Lets go of the attempt's Observable. */
  release(): void {
    this.#inner?.unsubscribe();
  }

  /** Nobody wants the result any more. */
  cancel(reason?: unknown): void {
    if (this.#over) return;
    this.#over = true;
    this.#leaveBackoff();
    this.#inner?.unsubscribe();
    this.#context?.abandon(reason);
    this.ticket.settle('cancelled');
  }

  /** One `then` instead of a subscriber: most projects are async functions. */
  #await(result: Promise<R>): void {
    result.then(
      (value) => {
        if (this.next(value)) this.complete();
      },
      (error: unknown) => this.error(error),
    );
  }

  #subscribe(result: Observable<R>): void {
    this.#inner = new Inner(this);
    result.subscribe(this.#inner);
  }

  #succeeded(): void {
    const { feedback, probe, retry } = this.#dispatcher;
    this.#reported = true;
    retry.succeeded();
    probe?.attemptEnded?.(this.ticket, this.ticket.attempts, 'ok');
    feedback.accept(this.ticket.epoch, this.ticket.bytes);
  }

  /** Tells the provider's answer to everyone. @returns whether there will be another attempt */
  #failed(error: unknown): boolean {
    const { ticket } = this;
    const { feedback, probe, retry, classify, clock, random } = this.#dispatcher;
    const verdict = classify(error);
    const { bytes, epoch } = ticket;
    this.#reported = true;
    probe?.attemptEnded?.(ticket, ticket.attempts, verdict.kind, error);
    feedback.next({ ...verdict, bytes, epoch });
    ticket.returnTo(feedback.gate);
    if (this.#over || this.#emitted) return false;
    const { retryAfterMs = 0 } = verdict;
    if (verdict.retry !== false && retryAfterMs > feedback.maxRetryAfterMs) {
      this.#crash(new RetryAfterTooLongError(retryAfterMs, feedback.maxRetryAfterMs, error));
      return false;
    }
    const elapsedMs = clock.now() - ticket.arrivedAt;
    const delayMs = retry.delay(verdict, ticket.attempts, elapsedMs, random);
    if (delayMs === undefined) return false;
    this.#wait(delayMs, retry.deadlineMs - elapsedMs, error);
    return true;
  }

  #wait(delayMs: number, leftMs: number, error: unknown): void {
    const { clock } = this.#dispatcher;
    if (leftMs !== Number.POSITIVE_INFINITY) {
      this.#deadline = clock.setTimer(() => {
        this.#over = true;
        this.#leaveBackoff();
        this.#deck.crashed(this, error);
      }, leftMs);
    }
    if (delayMs === 0) this.#enterBackoff();
    else {
      this.#delay = clock.setTimer(() => {
        this.ticket.waited('retry', delayMs, 1);
        this.#enterBackoff();
      }, delayMs);
    }
  }

  #enterBackoff(): void {
    this.#queued = !this.#dispatcher.feedback.gate.enter(this.ticket, this);
    if (!this.#queued) this.admitted();
  }

  #leaveBackoff(): void {
    this.#endWait();
    if (this.#queued) this.#dispatcher.feedback.gate.left(1);
    this.#queued = false;
  }

  #endWait(): void {
    this.#delay?.cancel();
    this.#deadline?.cancel();
    this.#delay = undefined;
    this.#deadline = undefined;
  }

  #crash(error: unknown): void {
    this.#over = true;
    this.#deck.crashed(this, error);
  }
}

/** Listens to the Observable of one attempt. */
class Inner<T, R> extends Subscriber<R> {
  readonly #flight: Flight<T, R>;

  constructor(flight: Flight<T, R>) {
    super();
    this.#flight = flight;
  }

  protected override _next(value: R): void {
    this.#flight.next(value);
  }

  protected override _error(error: unknown): void {
    try {
      this.#flight.error(error);
    } finally {
      this.unsubscribe();
    }
  }

  /** The attempt is torn down before the next request starts. */
  protected override _complete(): void {
    this.unsubscribe();
    this.#flight.complete();
  }
}
