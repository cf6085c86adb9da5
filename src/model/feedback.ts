import { print } from '../util/print.ts';
import { warn } from '../util/warn.ts';

/**
 * What the result of an attempt says about the provider:
 * - `ok`: it answered;
 * - `throttled`: we send too much (429);
 * - `overloaded`: it lacks capacity for all its clients (503, 529);
 * - `failed`: something broke (other 5xx, connection errors, errors of your own code);
 * - `fatal`: another attempt cannot help (quota, billing, 401, 403, other 4xx).
 */
export type FeedbackKind = (typeof FEEDBACK_KINDS)[number];

export const FEEDBACK_KINDS = ['ok', 'throttled', 'overloaded', 'failed', 'fatal'] as const;

/**
 * How a provider is seen now:
 * - `normal`: neither of the others;
 * - `throttled`: the provider has asked lately to slow down;
 * - `outage`: it cannot be reached, or an adaptive rate finds that it rejects everything; single
 *   probes are sent.
 */
export type Mode = 'normal' | 'throttled' | 'outage';

/** The units that providers limit. */
export type LimitUnit =
  | 'requests'
  | 'tokens'
  | 'input-tokens'
  | 'output-tokens'
  | 'bytes'
  | 'concurrency';

/**
 * One of the provider's limits, as an answer reports it. A field that was not reported is missing.
 */
export interface ReportedLimit {
  readonly unit: LimitUnit;
  /** The amount that a window allows. */
  readonly limit?: number;
  /** The amount that was left when the provider answered. */
  readonly remaining?: number;
  /** The time from the answer until the limit is full again, in ms. */
  readonly resetMs?: number;
  /**
   * Whether the reset was given as a time. A time counts from the answer, a duration from the
   * moment at which the provider checked the limit. Without `resetMs` that time was not after the
   * answer. Default false.
   */
  readonly isResetTime?: boolean;
  /** Length of the window in ms, if the provider reports it or documents it. */
  readonly windowMs?: number;
}

/** The result of an attempt, as a `FeedbackSubject` takes and emits it. */
export interface Feedback {
  /** What it says about the provider. */
  readonly kind: FeedbackKind;
  /** The wait that the provider asks for, in ms. Values other than numbers > 0 are ignored. */
  readonly retryAfterMs?: number;
  /** Size of the request, which decides the wait if the provider names none. Default 0. */
  readonly bytes?: number;
  /** Which limit was hit, as in {@link Verdict.limit}. */
  readonly limit?: string;
  /** Response headers, names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The provider's limits, as the answer reports them. */
  readonly limits?: readonly ReportedLimit[];
  /**
   * The epoch of the backoff when the attempt was sent: answers of one epoch count once.
   * Default: the present one.
   */
  readonly epoch?: number;
  /** HTTP status, as in {@link Verdict.status}. */
  readonly status?: number;
  /** As in {@link Verdict.outage}: `quota` and `billing` concern all requests. */
  readonly outage?: string;
  /** As in {@link Verdict.connection}: three in a row without an answer are an outage. */
  readonly connection?: ConnectionFailure;
}

/**
 * - `refused`: no connection was made: refused, no address, no route;
 * - `broken`: it was reset or closed before an answer came;
 * - `interrupted`: it was reset or closed while an answer came. The provider had accepted the
 *   request, so this is neither a rejection nor the beginning of an outage.
 */
export type ConnectionFailure = 'refused' | 'broken' | 'interrupted';

/** The meaning of an error or a response. */
export interface Verdict {
  /** What it says about the provider. */
  readonly kind: FeedbackKind;
  /**
   * Whether sending the same request again may help. Default: true for `throttled` and
   * `overloaded`.
   */
  readonly retry?: boolean;
  /** The wait that the provider asks for, in ms; undefined: it names none. */
  readonly retryAfterMs?: number;
  /**
   * The limit that was hit, if the provider names it: a {@link LimitUnit}, or the provider's own
   * name. `'concurrency'` is a limit on concurrent requests: a place is free as soon as one of them
   * ends, so a slower rate does not help.
   */
  readonly limit?: string;
  /** Response headers, names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The provider's limits, as the answer reports them. */
  readonly limits?: readonly ReportedLimit[];
  /** HTTP status; undefined if there was none. */
  readonly status?: number;
  /**
   * Why no request can succeed for now: `quota`, `billing`, `authorisation`, or a classifier's own
   * word. Opens a circuit breaker at once. `quota` and `billing` concern all requests: see
   * `onLongWait`.
   */
  readonly outage?: string;
  /**
   * How the connection failed, if that is why there is no whole answer. Three in a row that were
   * `refused` or `broken` are an outage.
   */
  readonly connection?: ConnectionFailure;
  /** Whether no answer came in time: the client has given up, or the server has (408). */
  readonly timedOut?: boolean;
}

/** Whether the provider accepted no request, for its rate or because of an overload. */
export function isRejection({ kind }: Pick<Verdict, 'kind'>): boolean {
  return kind === 'throttled' || kind === 'overloaded';
}

/** Whether an answer counts as a failure of the provider. Must not throw. */
export type IsFailure = (verdict: Verdict) => boolean;

/** The default of `isFailure` for the circuit breaker. */
export function isTrouble({ kind }: Verdict): boolean {
  return kind === 'failed' || kind === 'overloaded';
}

/** The default of `isFailure` for `adaptive: 'failures'`. */
export function isTroubleOrThrottled(verdict: Verdict): boolean {
  return verdict.kind === 'throttled' || isTrouble(verdict);
}

/** Uses the default if the predicate throws. */
export function judgeOf(isFailure: IsFailure | undefined, usual: IsFailure): IsFailure {
  if (isFailure === undefined) return usual;
  let warned = false;
  return (verdict) => {
    try {
      return isFailure(verdict);
    } catch (error) {
      if (!warned) warn(`headgate: \`isFailure\` threw: ${print(error)}`);
      warned = true;
      return usual(verdict);
    }
  };
}
