/** The exports for programs that send requests. `headgate/advanced` has the rest. */

export { StoreProtocolError } from './fleet/shared-store.ts';
export type { AcquireOptions, FetchOptions } from './limiter/acquire-options.ts';
export type { Task } from './limiter/calls.ts';
export type { Circuit, Isolation } from './limiter/circuit.ts';
export { createLimiterGroup, type LimiterGroup } from './limiter/group.ts';
export type { GroupEvent } from './limiter/group-events.ts';
export type { LimiterGroupOptions } from './limiter/group-options.ts';
export type { Lease } from './limiter/lease.ts';
export type { CloseOptions } from './limiter/lifecycle.ts';
export { createLimiter, type Limiter } from './limiter/limiter.ts';
export type { LimiterOptions, LimiterThrottleOptions } from './limiter/limiter-options.ts';
export type { MapOptions, MapTask } from './limiter/map.ts';
export type { LimiterProgress } from './limiter/request-counters.ts';
export type { LimiterSnapshot, LimiterState } from './limiter/snapshot.ts';
export {
  AttemptTimeoutError,
  DeadlineExceededError,
  EstimatorError,
  HeadgateError,
  LimiterClosedError,
  ProviderUnreachableError,
  QueueClearedError,
  QueueFullError,
  QuotaExhaustedError,
  RequestTimeoutError,
  ResponseError,
  RetryAfterTooLongError,
  TicketExpiredError,
  TicketInUseError,
  TooManyKeysError,
  WaitTimeoutError,
} from './model/errors.ts';
export type { Feedback, Mode, Verdict } from './model/feedback.ts';
export type { LimiterEvent } from './model/limiter-event.ts';
export type { GateKind, Outcome, RequestStats } from './model/outcome.ts';
export { Chunk, Sized } from './model/sized.ts';
export type { Ticket } from './model/ticket.ts';
export { version } from './model/version.ts';
export { backoffGate } from './operators/backoff-gate.ts';
export { byteBudget } from './operators/byte-budget.ts';
export { byteEstimate } from './operators/byte-estimate.ts';
export { type ChunkOptions, chunkBy } from './operators/chunk-by.ts';
export { circuitBreaker } from './operators/circuit-breaker.ts';
export { concurrencyLimit } from './operators/concurrency-limit.ts';
export { type CostBudgetOptions, costBudget } from './operators/cost-budget.ts';
export { type DispatchOptions, dispatch } from './operators/dispatch.ts';
export { pace } from './operators/pace.ts';
export { type RateLimitOperatorOptions, rateLimit } from './operators/rate-limit.ts';
export {
  type TapProgressOptions,
  type TappedProgress,
  tapProgress,
} from './operators/tap-progress.ts';
export { type ThrottleOptions, throttle } from './operators/throttle.ts';
export { type ThrottleFromOptions, throttleFrom } from './operators/throttle-from.ts';
export { limiterOptionsFromEnv } from './options/env.ts';
export { limiterOptionsFromJSON, mergeLimiterOptions } from './options/sources.ts';
export { CircuitOpenError } from './policies/circuit-types.ts';
export type { PaceOptions } from './policies/pace.ts';
export type { RateLimit } from './policies/rate-limit/rate-limit.ts';
export {
  CostAboveLimitError,
  RateLimitExceededError,
  UnknownLimitError,
} from './policies/rate-limit/rate-limit.ts';
export type { ProviderAdapter } from './providers/adapter.ts';
export { defaultProviders, readProviders } from './providers/registry.ts';
export type { AttemptContext } from './request/attempt-context.ts';
export type { BackoffOptions } from './request/feedback-subject.ts';
export { FeedbackSubject } from './request/feedback-subject.ts';
export type {
  ByteBudgetOptions,
  CircuitOptions,
  ConcurrencyOptions,
} from './request/gate-options.ts';
export type { PullOptions } from './request/pull.ts';
export type {
  PullSource,
  ReadableStreamLike,
  StreamReaderLike,
} from './request/pull-iterator.ts';
export type { Project } from './request/send-options.ts';
export type { Estimator, Size } from './request/size.ts';
export { type EstimateBytes, estimateBytes } from './sizing/estimate.ts';
export type { TelemetryOptions } from './telemetry/telemetry.ts';
export type { Clock, Random } from './util/clock.ts';
