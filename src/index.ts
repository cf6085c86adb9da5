export { limiterOptionsFromEnv } from './config/env.ts';
export { limiterOptionsFromJSON } from './config/json.ts';
export type {
  AdaptiveConfig,
  BackoffConfig,
  CircuitBreakerConfig,
  LimiterConfig,
} from './config/limiter-config.ts';
export { mergeLimiterOptions } from './config/merge.ts';
export type { AdaptiveRateSnapshot } from './core/adaptive-rate-core.ts';
export type { BackoffSnapshot, Reopen } from './core/backoff.ts';
export type { ByteBudgetSnapshot } from './core/byte-budget.ts';
export type { CircuitSnapshot, CircuitState } from './core/circuit-facts.ts';
export { CircuitOpenError } from './core/circuit-open-error.ts';
export type { CoolingSnapshot, CoolingState } from './core/cooling-facts.ts';
export type { GradientSnapshot } from './core/gradient.ts';
export type { PaceOptions, PaceSnapshot } from './core/pace.ts';
export type { ProgressSnapshot } from './core/progress.ts';
export {
  CostAboveLimitError,
  RateLimitExceededError,
  UnknownLimitError,
} from './core/rate-limit/errors.ts';
export type {
  RateLimit,
  RateLimitAlgorithm,
  RateLimitCharge,
} from './core/rate-limit/rate-limit.ts';
export type { RateLimitUsage } from './core/rate-limit/reservation.ts';
export type { SlotsSnapshot } from './core/slots.ts';
export { classify, reportedLimits } from './feedback/classify.ts';
export { type BackoffOptions, FeedbackSubject } from './feedback/feedback-subject.ts';
export type { Answer, HeaderGet, Reader, Remark } from './feedback/providers/reader.ts';
export { defaultProviders, type Providers, readProviders } from './feedback/providers/registry.ts';
export { headersOfResult } from './feedback/result-headers.ts';
export { type Usage, usageOf } from './feedback/usage.ts';
export type { GateSnapshot } from './gate/gate.ts';
export type { Overflow } from './gate/queue/bound.ts';
export { systemClock } from './gate/system-clock.ts';
export type { Task } from './limiter/call.ts';
export type { Counts, LimiterProgress } from './limiter/census.ts';
export type { Changes } from './limiter/configure.ts';
export type { EventLevel, LimiterEvent, LimiterFact } from './limiter/events.ts';
export type { GroupEvent, GroupSnapshot, LimiterGroup } from './limiter/group.ts';
export type { Lease } from './limiter/lease.ts';
export type { Limiter } from './limiter/limiter.ts';
export type { AcquireOptions, LimiterThrottleOptions } from './limiter/limiter-options.ts';
export type { SharedOptions, SharedSnapshot, TurnCost } from './limiter/shared-limits.ts';
export type { LimiterSnapshot, LimiterState } from './limiter/snapshot.ts';
export { Chunk, type ChunkReason } from './model/chunk.ts';
export type { Clock, Random, Timer } from './model/clock.ts';
export {
  DeadlineExceededError,
  EstimatorError,
  HeadgateError,
  LimiterClosedError,
  QueueFullError,
  ResponseError,
  RetryAfterTooLongError,
  TicketExpiredError,
  TicketInUseError,
  WaitTimeoutError,
} from './model/errors.ts';
export type {
  CircuitFact,
  CoolingFact,
  CoreFact,
  LimitAdaptedFact,
  LimitDeniedFact,
} from './model/facts.ts';
export type {
  Feedback,
  FeedbackKind,
  LimitUnit,
  Mode,
  ReportedLimit,
  Verdict,
} from './model/feedback.ts';
export type {
  Datum,
  EncodedTextChunk,
  ImageAssetPointerChunk,
  ImageChunk,
  ModelInput,
  ModelInputChunk,
  TensorData,
} from './model/model-input.ts';
export type {
  GateKind,
  GateWait,
  Outcome,
  RequestStats,
  SettleOutcome,
} from './model/outcome.ts';
export type { BackoffChange, ClosedChunk, Probe } from './model/probe.ts';
export type { RateSource, Reading } from './model/reading.ts';
export { Sized } from './model/sized.ts';
export type { Amounts, Ticket } from './model/ticket.ts';
export { type ChunkOptions, chunkBy } from './observed/chunk-by.ts';
export { createLimiter, type LimiterOptions } from './observed/create-limiter.ts';
export {
  createLimiterGroup,
  type LimiterGroupOptions,
} from './observed/create-limiter-group.ts';
export { type ThrottleOptions, throttle } from './observed/throttle.ts';
export type { Adjustable } from './operators/adjustable.ts';
export type { AttemptContext } from './operators/attempt-context.ts';
export type {
  AttemptOptions,
  CircuitOptions,
  RateLimitOptions,
} from './operators/attempt-options.ts';
export { backoffGate } from './operators/backoff-gate.ts';
export { type ByteBudgetOptions, byteBudget } from './operators/byte-budget.ts';
export { byteEstimate } from './operators/byte-estimate.ts';
export { circuitBreaker } from './operators/circuit-breaker.ts';
export type { CommonOptions } from './operators/common-options.ts';
export { type ConcurrencyOptions, concurrencyLimit } from './operators/concurrency-limit.ts';
export { type DispatchOptions, dispatch } from './operators/dispatch.ts';
export type { GateOptions } from './operators/gates.ts';
export type { Arrival, RequestOptions } from './operators/intake.ts';
export { pace } from './operators/pace.ts';
export type { PassageOptions } from './operators/passage.ts';
export type { QueueOptions } from './operators/queue-options.ts';
export { type RateLimitOperatorOptions, rateLimit } from './operators/rate-limit.ts';
export type { Project, ResultOptions, RetryOptions } from './operators/send-options.ts';
export type { Estimator, Size } from './operators/size.ts';
export {
  type TapProgressOptions,
  type TappedProgress,
  tapProgress,
} from './operators/tap-progress.ts';
export { type TelemetryOptions, telemetryProbe, type Watched } from './telemetry/telemetry.ts';
