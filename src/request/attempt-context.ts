import { config, Subscriber } from 'rxjs';
import type { ReportedLimit, Verdict } from '../model/feedback.ts';
import type { Ticket } from '../model/ticket.ts';
import { OK, withLimits } from '../providers/classify.ts';
import { isSuccess, limitsOfResultOrHeaders } from '../providers/result.ts';
import { ReportedUsage } from '../providers/usage.ts';
import { checkAmount, checkNumber } from '../util/check.ts';

/**
 * The second argument of `project`: describes the attempt, and records what it used. Its functions
 * need no `this`, so that it can be destructured: `({ signal, observe }) => …`.
 */
export class AttemptContext {
  /** The number of this attempt of the request, from 1. */
  readonly attempt: number;
  /** Position of the request in its stream, from 0. */
  readonly index: number;
  /** @internal */
  isLast = false;
  /** @internal the provider's limits, as an observed answer reports them */
  limits: readonly ReportedLimit[] | undefined = undefined;
  /**
   * @internal the part of the attempt that follows its value; undefined: the attempt ends with its
   *   value
   */
  tail: AttemptTail | undefined = undefined;
  readonly #ticket: Ticket;
  #usage: ReportedUsage | undefined = undefined;
  #controller: AbortController | undefined = undefined;
  /** The reason of the abort, once there is one. */
  #abandoned: { readonly reason: unknown } | undefined = undefined;

  /** @internal */
  constructor(ticket: Ticket) {
    this.attempt = ticket.attempts;
    this.index = ticket.index;
    this.#ticket = ticket;
  }

  /** Prevents further attempts, whatever the result of this one. */
  get doNotRetry(): () => void {
    return () => {
      this.isLast = true;
    };
  }

  /**
   * Records tokens that the attempt really used, in addition to those recorded before. They replace
   * the estimate.
   */
  get recordTokens(): (tokens: number) => void {
    return (tokens) => this.record('tokens', tokens);
  }

  /**
   * Records money that the attempt really cost, in addition to amounts recorded before, in the
   * currency of the `costBudget`.
   * @throws RangeError or TypeError for a value that is no amount
   */
  get recordCost(): (cost: number) => void {
    return (cost) => {
      checkNumber('cost', cost, 0);
      if (this.isRunning) this.#ticket.record('cost', cost);
    };
  }

  /**
   * Records the used amount of any rate limit, by its name. Limits with `charge: 'settle'` or
   * `'actual'` are charged the recorded amount. After the end of the attempt it has no effect.
   * @throws RangeError or TypeError for a value that is no amount; UnknownLimitError for a name
   * that no limit has
   */
  get record(): (limit: string, amount: number) => void {
    return (limit, amount) => {
      const used = checkAmount(limit || 'amount', amount);
      if (this.isRunning) this.#ticket.recordNamed(limit, used);
    };
  }

  /**
   * Reads the provider's limits and the used tokens from an answer, if the returned value does not
   * have them: SDKs hide the headers and return only the body.
   *
   * Tokens that were recorded before stay as they are. Limits must be observed before the project's
   * first value or error. An answer with a status of 200 to 299 counts as accepted from then on, so
   * observe that of a stream before you read it. After the end of the attempt it has no effect.
   *
   * @param answer a `Response`, the result of an SDK's `withResponse()`, any object with `headers`,
   * the headers themselves, or a body with `usage`. Other values are ignored
   * @returns the answer, unchanged
   * @example
   * const answer = await client.chat.completions.create(body, { signal }).withResponse();
   * return context.observe(answer).data;
   */
  get observe(): <A>(answer: A) => A {
    return (answer) => {
      if (this.isRunning) {
        const limits = limitsOfResultOrHeaders(answer);
        this.limits = limits ?? this.limits;
        if (isSuccess(answer)) this.tellBegun(withLimits(OK, limits));
        this.readUsage(answer);
      }
      return answer;
    };
  }

  /**
   * Aborts when the result is no longer wanted. Created at the first read: most tasks never read
   * it.
   */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#abandoned !== undefined) this.#controller.abort(this.#abandoned.reason);
    return this.#controller.signal;
  }

  /**
   * @internal Keeps the attempt running after its value, until `ended` or `failed` of the returned
   *   tail is called.
   */
  hold(): AttemptTail {
    this.tail = new AttemptTail();
    return this.tail;
  }

  /** @internal the used tokens that a value of the attempt reports, unless the user records them */
  readUsage(value: unknown): void {
    this.#usage = ReportedUsage.read(value, this.#usage, this.#ticket);
  }

  /** @internal */
  get isAbandoned(): boolean {
    return this.#abandoned !== undefined;
  }

  /** @internal */
  abandon(reason?: unknown): void {
    this.#abandoned = { reason };
    this.#controller?.abort(reason);
  }

  /** Later, as other requests are not sent within a turn of the project. */
  private tellBegun(verdict: Verdict): void {
    queueMicrotask(() => {
      if (this.isRunning) this.#ticket.begun(verdict);
    });
  }

  /** @internal whether the attempt runs */
  get isRunning(): boolean {
    return this.#ticket.attempts === this.attempt && this.#ticket.outcome === undefined;
  }
}

/** The methods of an attempt that its tail calls at its end. */
type Followed = Pick<Attempting<never>, 'complete' | 'error'>;

/**
 * The part of an attempt that follows its value, such as the body of a response. The attempt ends
 * when this does. The first call of `ended` or `failed` counts.
 */
export class AttemptTail {
  #attempt: Followed | undefined = undefined;
  /** Set if it ended before the attempt had taken its value. */
  #end: ((attempt: Followed) => void) | undefined = undefined;
  #isOver = false;

  ended(): void {
    this.#over((attempt) => attempt.complete());
  }

  failed(error: unknown): void {
    this.#over((attempt) => attempt.error(error));
  }

  /**
   * Called when the attempt has taken its value. Ends the attempt when the tail ends, at once if it
   * has ended before.
   */
  follow(attempt: Followed): void {
    this.#attempt = attempt;
    this.#end?.(attempt);
  }

  #over(end: (attempt: Followed) => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#attempt === undefined) this.#end = end;
    else end(this.#attempt);
  }
}

/** Receives the notifications of an attempt's Observable. */
export interface Attempting<R> {
  next(value: R): unknown;
  error(error: unknown): void;
  complete(): void;
}

/** Subscribes to the Observable of one attempt. */
export class AttemptSubscriber<R> extends Subscriber<R> {
  private readonly attempting: Attempting<R>;

  constructor(attempting: Attempting<R>) {
    super();
    this.attempting = attempting;
  }

  protected override _next(value: R): void {
    this.attempting.next(value);
  }

  protected override _error(error: unknown): void {
    try {
      this.attempting.error(error);
    } finally {
      this.unsubscribe();
    }
  }

  /** The attempt is torn down before the next request starts. */
  protected override _complete(): void {
    try {
      this.unsubscribe();
    } finally {
      this.attempting.complete();
    }
  }
}

/**
 * Reports an error of a teardown that has no caller: in a separate turn, to RxJS's
 * `config.onUnhandledError` if there is one, as RxJS does.
 */
export function reportUnhandled(thrown: unknown): void {
  setTimeout(() => {
    const { onUnhandledError } = config;
    if (onUnhandledError === null) throw thrown;
    onUnhandledError(thrown);
  });
}
