/** What the result of an attempt says about the provider. */

/**
 * - `ok`: it answered;
 * - `throttled`: we send too much (429);
 * - `overloaded`: it has too much to do, whoever sends (503, 529);
 * - `failed`: something broke (other 5xx, connection errors, errors of your own code);
 * - `fatal`: asking again cannot help (quota, billing, 401, 403, other 4xx).
 */
export type FeedbackKind = (typeof FEEDBACK_KINDS)[number];

export const FEEDBACK_KINDS = ['ok', 'throttled', 'overloaded', 'failed', 'fatal'] as const;

/**
 * - `throttled`: the provider has asked us lately to slow down;
 * - `outage`: it lets nothing in, and single probes go (where the rate adapts).
 */
export type Mode = 'normal' | 'throttled' | 'outage';

/** What a provider counts against a limit of its own. */
export type LimitUnit =
  | 'requests'
  | 'tokens'
  | 'input-tokens'
  | 'output-tokens'
  | 'bytes'
  | 'concurrency';

/** What an answer says of one of the provider's limits. Each field is missing where it is not said. */
export interface ReportedLimit {
  readonly unit: LimitUnit;
  /** Of a window. */
  readonly limit?: number;
  /** What was left of it when the provider answered. */
  readonly remaining?: number;
  /** From the answer until nothing is used any more, in ms. */
  readonly resetMs?: number;
  /**
   * Whether that was told as a time of day: it holds from the answer then, and a duration from when the
   * provider looked at the limit. Default false.
   */
  readonly isResetTime?: boolean;
  /** Length of the window, in ms, where the provider says it or is known for it. */
  readonly windowMs?: number;
}

export interface Feedback {
  readonly kind: FeedbackKind;
  /** Milliseconds that the provider asked to wait. Values that are no number > 0 are ignored. */
  readonly retryAfterMs?: number;
  /** Size of the request, which scales the wait where the provider named none. Default 0. */
  readonly bytes?: number;
  /** Which limit was hit, as in {@link Verdict.limit}. */
  readonly limit?: string;
  /** Response headers, names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What the answer says of the provider's limits. */
  readonly limits?: readonly ReportedLimit[];
  /**
   * The backoff that was in force when the attempt was sent: answers of one epoch count once.
   * Default: the present one.
   */
  readonly epoch?: number;
}

/** How an error or a response is to be taken. */
export interface Verdict {
  readonly kind: FeedbackKind;
  /** Whether sending the same request again may help. Default: true for `throttled` and `overloaded`. */
  readonly retry?: boolean;
  readonly retryAfterMs?: number;
  /**
   * Which limit was hit, where the provider says: a {@link LimitUnit}, or its own name for it.
   * `'concurrency'` is a cap on what is in flight, which no slower rate keeps: a place is free as soon
   * as a request ends.
   */
  readonly limit?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** What the answer says of the provider's limits. */
  readonly limits?: readonly ReportedLimit[];
  /** HTTP status, where there was one. */
  readonly status?: number;
  /**
   * Why no request will go well for now: `quota`, `billing`, `authorisation`, or what a classifier
   * says. Opens a circuit breaker at once.
   */
  readonly outage?: string;
}
