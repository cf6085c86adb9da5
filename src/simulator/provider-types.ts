import type { Clock } from '../util/clock.ts';
import type { LimitStatus } from './limits/limit-set.ts';
import type { TokenCounts } from './limits/limit-state.ts';
import type { ProviderStats } from './provider-stats.ts';

/** A request to a simulated provider. All counts are whole numbers >= 0. */
export interface ModelRequest {
  inputTokens: number;
  /** The most output tokens; this number is charged up front. */
  maxTokens: number;
  /** The output tokens of the answer, at most `maxTokens`. Default: `maxTokens`. */
  outputTokens?: number;
  /** Payload size. Default 0. Counted in the statistics. */
  bytes?: number;
  apiKey?: string;
  /** When it fires, the request ends, its unit is free, and the promise rejects with its reason. */
  signal?: AbortSignal;
  /** Called at once when the request is admitted, before it gets a unit. */
  onAdmitted?: () => void;
  /** Called when a unit starts the request; not for a request that will fail with a status. */
  onStarted?: (work: StartedWork) => void;
}

/** The facts that are known when a unit starts a request. */
export interface StartedWork {
  /** Milliseconds from now to the answer. */
  serviceMs: number;
  outputTokens: number;
  limits: readonly LimitStatus[];
}

/** How a client should treat an answer. */
export type AnswerKind = 'ok' | 'throttled' | 'overloaded' | 'failed' | 'fatal';

/** The answer of the provider. Failures are answers too: only an abort rejects the promise. */
export interface ProviderAnswer {
  /** HTTP status; 0 when the connection broke. */
  status: number;
  kind: AnswerKind;
  /** Such as `rate_limit_exceeded`, `insufficient_quota`, `ECONNRESET`; none for a success. */
  code?: string;
  message?: string;
  retryAfterMs?: number;
  /** The limit that rejected the request. */
  limit?: string;
  usage: TokenCounts;
  /** The limits when the request was admitted or rejected. */
  limits: readonly LimitStatus[];
  /** From arrival to this answer. */
  latencyMs: number;
}

/** An answer with the headers that the provider sends with it. */
export interface AnswerWithHeaders extends ProviderAnswer {
  headers: Readonly<Record<string, string>>;
}

/** A model provider with real limits, on its own clock. */
export interface Provider {
  readonly clock: Clock;
  readonly seed: number;
  /** Whether a key would be accepted. */
  authorises(apiKey: string | undefined): boolean;
  /**
   * Sends a request. Resolves with the answer, also if it is a rejection or a failure.
   *
   * @throws RangeError or TypeError for a malformed request; the signal's reason after an abort
   */
  submit(request: ModelRequest): Promise<ProviderAnswer>;
  /**
   * As `submit`, but like a client library: throws every answer that is not ok.
   *
   * @throws ProviderError with `status`, `code` and `headers`
   */
  submitOrThrow(request: ModelRequest): Promise<AnswerWithHeaders>;
  /**
   * The time in milliseconds until the provider would accept this request, as far as it is known.
   * 0: it would accept it now. 1: only the answer to another request can make room. Nothing is
   * charged. Real clients cannot know this; a test client that does shows the best possible result.
   */
  waitMs(request: ModelRequest): number;
  stats(): ProviderStats;
}

/** An answer that is not ok, in the shape in which client libraries throw API errors. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  /** HTTP status; undefined when the connection broke. */
  readonly status: number | undefined;
  /** Such as `rate_limit_exceeded`, `insufficient_quota`, `ECONNRESET`. */
  readonly code: string | undefined;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly answer: ProviderAnswer;

  constructor(answer: ProviderAnswer, headers: Readonly<Record<string, string>>) {
    const message = answer.message ?? answer.kind;
    super(answer.status === 0 ? message : `${answer.status} ${message}`);
    this.status = answer.status === 0 ? undefined : answer.status;
    this.code = answer.code;
    this.headers = headers;
    this.answer = answer;
  }
}
