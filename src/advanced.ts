/** What a program uses that builds on headgate: snapshots in detail, instrumentation, readers of answers. */

export type { LimiterConfig, LimiterLayer, RequestConfig } from './config/limiter-config.ts';
export type { AdaptiveConfig, AdaptiveOption } from './core/adaptive.ts';
export type { AdaptiveRateSnapshot } from './core/adaptive-rate-core.ts';
export type { BackoffConfig, BackoffOption, BackoffSnapshot, Reopen } from './core/backoff.ts';
export type { ByteBudgetConfig, ByteBudgetSnapshot } from './core/byte-budget.ts';
export type { CircuitBreakerConfig, CircuitBreakerOption } from './core/circuit-core.ts';
export type { CircuitExport, CircuitSnapshot, CircuitState } from './core/circuit-facts.ts';
export type { CoolingSnapshot, CoolingState } from './core/cooling-facts.ts';
export type { CostBudgetConfig, CostBudgetOption, CostBudgetSnapshot } from './core/cost-budget.ts';
export type { GradientSnapshot } from './core/gradient.ts';
export type { PaceOption, PaceSnapshot } from './core/pace.ts';
export type { ProgressOptions, ProgressSnapshot } from './core/progress.ts';
export type { RateLimitConfig, RateLimitLayer } from './core/rate-limit/definition.ts';
export type { RateLimitAlgorithm, RateLimitCharge } from './core/rate-limit/rate-limit.ts';
export type { RateLimitUsage } from './core/rate-limit/reservation.ts';
export type { PolicyConfig, PolicyLayer, PolicySnapshots } from './core/registry.ts';
export type { ConcurrencyConfig, SlotsSnapshot } from './core/slots.ts';
export { classify, reportedLimits } from './feedback/classify.ts';
export type { Answer, HeaderGet, Remark } from './feedback/providers/reader.ts';
export type { Providers } from './feedback/providers/registry.ts';
export { headersOfResult } from './feedback/result-headers.ts';
export { type Usage, usageOf } from './feedback/usage.ts';
export type { Changes } from './limiter/configure.ts';
export type { EventLevel, LimiterFact } from './limiter/events.ts';
export type { GroupSnapshot } from './limiter/group.ts';
export type { Counts } from './limiter/request-counters.ts';
export type { SharedOptions, SharedSnapshot, TurnCost } from './limiter/shared-limits.ts';
export type { ChunkReason } from './model/chunk.ts';
export type { Timer } from './model/clock.ts';
export type {
  CircuitFact,
  CoolingFact,
  CoreFact,
  LimitAdaptedFact,
  LimitDeniedFact,
} from './model/facts.ts';
export type { FeedbackKind, LimitUnit, ReportedLimit } from './model/feedback.ts';
export type {
  Datum,
  EncodedTextChunk,
  ImageAssetPointerChunk,
  ImageChunk,
  ModelInput,
  ModelInputChunk,
  TensorData,
} from './model/model-input.ts';
export type { GateWait, SettleOutcome } from './model/outcome.ts';
export type { BackoffChange, ClosedChunk, Probe } from './model/probe.ts';
export type { RateSource, Reading } from './model/reading.ts';
export type { Amounts } from './model/ticket.ts';
export type { GateSnapshot } from './queue/gate-rules.ts';
export type { Overflow } from './queue/queue-capacity.ts';
export { systemClock } from './queue/system-clock.ts';
export type { Adjustable } from './request/adjustable.ts';
export type { AttemptOptions, RateLimitOptions } from './request/attempt-options.ts';
export type { CommonOptions } from './request/common-options.ts';
export type { GateOptions } from './request/gate-options.ts';
export type { GateSubscriberOptions as PassageOptions } from './request/gate-subscriber.ts';
export type { QueueOptions } from './request/queue-options.ts';
export type {
  Emitted,
  ProjectOutput,
  ResultOptions,
  RetryOptions,
} from './request/send-options.ts';
export type { RequestInput as Arrival, RequestOptions } from './request/ticket-factory.ts';
export { telemetryProbe, type Watched } from './telemetry/telemetry.ts';
