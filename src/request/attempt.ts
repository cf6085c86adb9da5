import type { Observable } from 'rxjs';
import { AttemptTimeoutError } from '../model/errors.ts';
import type { Verdict } from '../model/feedback.ts';
import type { Ticket } from '../model/ticket.ts';
import { OK, verdictOn, withLimits } from '../providers/classify.ts';
import { PendingBody } from '../providers/read-body.ts';
import { errorIn, isKnownError, limitsOfResult } from '../providers/result.ts';
import { discard, isAnyResponse, isFailedResponse, read } from '../providers/shape.ts';
import type { Timed } from '../util/timers.ts';
import {
  AttemptContext,
  type Attempting,
  AttemptSubscriber,
  reportUnhandled,
} from './attempt-context.ts';
import { resultsOf } from './project-results.ts';
import { warnOfStream } from './returned-stream.ts';
import { type DispatchContext, readsUsage } from './send-options.ts';

/** The request that an attempt is made for. It decides what follows from the answer. */
export interface AttemptedRequest<T, R> {
  readonly ticket: Ticket<T>;
  readonly dispatch: DispatchContext<T, R>;
  /** Whether the request has ended; then all results of attempts are ignored. */
  readonly isOver: boolean;
  /** The attempt is about to subscribe to the project's Observable. */
  subscribing(): void;
  /** The answer is good. The attempt goes on until `completed`. */
  accepted(verdict: Verdict): void;
  /**
   * Called when the answer is not a success, or there is none.
   * @param isAnswer whether it came as a value, and not as an error
   * @returns whether there will be another attempt
   */
  rejected(error: unknown, verdict: Verdict, isAnswer: boolean): boolean;
  /** A value for the user. */
  emitted(value: R): void;
  /** The answer that was rejected is a value for the user: there will be no other attempt. */
  emittedRejected(answer: R): void;
  /** The attempt has succeeded, and the request with it. */
  completed(): void;
  /** The request has failed for good. */
  failed(error: unknown): void;
}

/**
 * One call of `project`: subscribes to its result, reads the answer, and reports it to the request.
 * The first value, or the completion without one, is the answer.
 */
export class Attempt<T, R> implements Timed, Attempting<R> {
  startedAt = Number.NaN;
  /** The neighbours of this attempt among the running ones. */
  before: Timed | undefined = undefined;
  after: Timed | undefined = undefined;
  readonly context: AttemptContext;
  private readonly request: AttemptedRequest<T, R>;
  private subscriber: AttemptSubscriber<R> | undefined = undefined;
  /** The body of a response that is being read; later notifications wait. */
  private body: PendingBody | undefined = undefined;
  private isAnswered = false;
  /** Whether its value is its whole result. */
  isWhole = false;
  /** Whether the project's Observable is being subscribed to, and the answer that began meanwhile. */
  private isSubscribing = false;
  private begunWith: Verdict | undefined = undefined;

  constructor(request: AttemptedRequest<T, R>) {
    this.request = request;
    this.context = new AttemptContext(request.ticket);
  }

  /** @throws what `project` throws */
  start(): void {
    const { ticket, dispatch } = this.request;
    const { instrumentation } = dispatch;
    if (instrumentation?.sending === undefined) this.call();
    else instrumentation.sending(ticket, () => this.call());
  }

  timedOut(timeoutMs: number): void {
    if (this.request.isOver) return;
    const error = new AttemptTimeoutError(timeoutMs);
    this.abandonReporting(error);
    this.error(error);
  }

  /** As `abandon`, if no caller can catch an error of the project's teardown. */
  abandonReporting(reason: unknown): void {
    try {
      this.abandon(reason);
    } catch (thrown) {
      reportUnhandled(thrown);
    }
  }

  /** Ends the attempt: all its further results are ignored. */
  abandon(reason: unknown): void {
    this.body?.stop();
    this.body = undefined;
    try {
      this.release();
    } finally {
      this.context.abandon(reason);
    }
  }

  /** Unsubscribes from the project's Observable. */
  release(): void {
    this.subscriber?.unsubscribe();
  }

  /** @returns false if this value ends the attempt */
  next(value: R): boolean {
    const { request } = this;
    if (request.isOver) return false;
    if (this.body !== undefined) return this.body.later(() => this.next(value));
    if (!this.isAnswered) {
      if (isFailedResponse(value)) return this.judgeResponse(value);
      const verdict = this.errorVerdict(value);
      if (verdict !== undefined) return this.judgeAnswer(value, verdict);
      if (!request.isOver) this.accept(value);
      if (request.isOver) return false;
    }
    if (readsUsage(request.dispatch)) this.context.readUsage(value);
    request.emitted(value);
    return !request.isOver;
  }

  complete(): void {
    if (this.body !== undefined) {
      this.body.later(() => this.complete());
      return;
    }
    if (!this.isAnswered) this.accept();
    if (!this.request.isOver) this.request.completed();
  }

  error(error: unknown): void {
    if (this.body !== undefined) {
      this.body.later(() => this.error(error));
      return;
    }
    if (this.request.isOver) return;
    // ky throws an error with an unread response, and axios one with an unread stream in `data`.
    const response = read(error, 'response');
    const fail = (body?: string) => {
      if (this.judgeError(error, body)) discard(response);
      return false;
    };
    if (!isFailedResponse(response) || !this.readBody(response, fail)) fail();
  }

  /** Handles an error. @returns whether there will be another attempt */
  private judgeError(error: unknown, body?: string): boolean {
    const { request } = this;
    if (this.reject(error, this.verdictOn(error, body), false)) return true;
    if (!request.isOver) request.failed(error);
    return false;
  }

  private call(): void {
    const { ticket, dispatch } = this.request;
    const result = dispatch.project(ticket.value, this.context);
    if (result instanceof Promise) this.await(result);
    else if (!this.request.isOver) this.subscribe(resultsOf(result));
  }

  /** Uses one `then` instead of a subscriber: most projects are async functions. */
  private await(result: Promise<R>): void {
    result.then(
      (value) => {
        try {
          if (this.context.isAbandoned) return;
          const { tail } = this.context;
          this.isWhole = tail === undefined;
          if (this.isWhole) warnOfStream(value);
          if (!this.next(value)) return;
          if (tail === undefined) this.complete();
          else tail.follow(this);
        } catch (thrown) {
          reportUnhandled(thrown);
        }
      },
      (error: unknown) => {
        try {
          if (!this.context.isAbandoned) this.error(error);
        } catch (thrown) {
          reportUnhandled(thrown);
        }
      },
    );
  }

  private subscribe(result: Observable<R>): void {
    // Converting the result to an Observable may have caused an unsubscription.
    if (this.request.isOver) return;
    this.subscriber = new AttemptSubscriber(this);
    this.request.subscribing();
    this.isSubscribing = true;
    result.subscribe(this.subscriber);
    this.isSubscribing = false;
    const { begunWith } = this;
    // Most Observables that answer within this call end within it.
    if (begunWith !== undefined && this.context.isRunning) this.request.ticket.begun(begunWith);
  }

  /** @param value undefined: the attempt completes without one */
  private accept(value?: R, verdict = this.goodVerdict(value)): void {
    this.isAnswered = true;
    const { readsAnswers } = this.request.dispatch.answers;
    const limits = readsAnswers ? limitsOfResult(value) : undefined;
    const answer = withLimits(verdict, limits ?? this.context.limits);
    this.request.accepted(answer);
    if (value === undefined || this.isWhole) return;
    if (this.isSubscribing) this.begunWith = answer;
    else this.request.ticket.begun(answer);
  }

  /** Gives telemetry the status of a Response. */
  private goodVerdict(value: R | undefined): Verdict {
    if (this.request.dispatch.instrumentation === undefined) return OK;
    return isAnyResponse(value) ? { kind: 'ok', status: value.status } : OK;
  }

  /** @returns whether there will be another attempt */
  private reject(error: unknown, verdict: Verdict | undefined, isAnswer: boolean): boolean {
    this.isAnswered = true;
    return verdict !== undefined && this.request.rejected(error, verdict, isAnswer);
  }

  /**
   * Handles a response that is not ok. Its body, if it can be read, may say more than its status.
   * @returns false if that ends the attempt
   */
  private judgeResponse(response: R): boolean {
    const judge = (text?: string) => this.judgeAnswer(response, this.verdictOn(response, text));
    return this.readBody(response, judge) || judge();
  }

  /** Reads the body of a response, if there is one. @returns whether `judge` gets it later */
  private readBody(response: unknown, judge: (body?: string) => boolean): boolean {
    this.body = PendingBody.read(response, this.request.dispatch.clock, (text) => {
      this.body = undefined;
      return judge(text);
    });
    return this.body !== undefined;
  }

  /**
   * Handles an answer that may be a rejection.
   * @returns whether it is emitted, so that the attempt goes on
   */
  private judgeAnswer(answer: R, verdict: Verdict | undefined): boolean {
    const { request } = this;
    if (verdict?.kind === 'ok') {
      this.accept(answer, verdict);
      if (!request.isOver) request.emitted(answer);
      return !request.isOver;
    }
    if (this.reject(answer, verdict, true)) {
      discard(answer);
      return false;
    }
    if (request.isOver) return false;
    request.emittedRejected(answer);
    return !request.isOver;
  }

  /** The verdict on a value that is the body of an error; undefined for other values. */
  private errorVerdict(value: R): Verdict | undefined {
    const error = errorIn(value);
    if (error === undefined) return undefined;
    const verdict = this.verdictOn(error);
    return verdict !== undefined && isKnownError(verdict) ? verdict : undefined;
  }

  /** @returns undefined if the classifier threw; the request has failed with that error */
  private verdictOn(error: unknown, body?: string): Verdict | undefined {
    const { request } = this;
    try {
      const verdict = verdictOn(error, request.dispatch.classify, body);
      return withLimits(verdict, this.context.limits);
    } catch (thrown) {
      request.failed(thrown);
      return undefined;
    }
  }
}
