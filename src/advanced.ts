/** For programs that build on headgate: detailed snapshots, instrumentation, provider adapters. */

export { joinFleet } from './fleet/fleet.ts';
export type { FleetLearned, FleetSnapshot } from './fleet/fleet-hooks.ts';
export { type MemoryStoreOptions, memoryStore } from './fleet/memory-store.ts';
export type {
  Demand,
  ExchangeReply,
  ExchangeRequest,
  GrantReply,
  Plan,
  SharedConfig,
  SharedLimit,
  Shortage,
  WorkerShare,
} from './fleet/protocol.ts';
export type {
  JoinFleet,
  OnStoreLoss,
  SharedStore,
  StoreSettings,
} from './fleet/shared-store.ts';
export type { Changes } from './limiter/changes.ts';
export type { GroupChanges } from './limiter/group-changes.ts';
export type { KeyOptions } from './limiter/group-options.ts';
export type { GroupMapOptions } from './limiter/map.ts';
export type { RecordedSuccess } from './limiter/outside-requests.ts';
export type { Counts } from './limiter/request-counters.ts';
export type { SharedChanges } from './limiter/shared-changes.ts';
export type { SharedOptions, SharedSnapshot, TurnCost } from './limiter/shared-limits.ts';
export type { GroupSnapshot, PauseSnapshot } from './limiter/snapshot.ts';
export type { FeedbackKind, LimitUnit, ReportedLimit } from './model/feedback.ts';
export type { GaugeSnapshot, GaugeValue } from './model/gauge.ts';
export type {
  BackoffChange,
  ClosedChunk,
  Instrumentation,
  WaitDetail,
} from './model/instrumentation.ts';
export type { EventLevel, LimiterFact } from './model/limiter-event.ts';
export type { GateWait, ResultOrOutcome, SettleOutcome } from './model/outcome.ts';
export type {
  AimdEvent,
  CircuitEvent,
  LimitAdaptedEvent,
  LimitDeniedEvent,
  PolicyEvent,
} from './model/policy-events.ts';
export type { ChunkReason } from './model/sized.ts';
export type { Amounts } from './model/ticket.ts';
export type { ConcurrencyLimitOptions } from './operators/concurrency-limit.ts';
export type { LimiterConfig, LimiterLayer, RequestConfig } from './options/limiter-config.ts';
export type { AdaptiveConfig, AdaptiveOption, RateStrategyConfig } from './policies/adaptive.ts';
export type { UnitSnapshot } from './policies/adaptive-rate/rate-snapshot.ts';
export type { AdaptiveRateSnapshot } from './policies/adaptive-rate-policy.ts';
export type { AimdSnapshot, AimdState } from './policies/aimd.ts';
export type {
  BackoffSnapshot,
  OnLongWait,
  Reopen,
  SuspensionSnapshot,
} from './policies/backoff.ts';
export type { BackoffConfig, BackoffOption } from './policies/backoff-policy.ts';
export type { ByteBudgetConfig, ByteBudgetSnapshot } from './policies/byte-budget-policy.ts';
export type { CircuitBreakerOption } from './policies/circuit-breaker-policy.ts';
export type {
  CircuitBreakerConfig,
  CircuitExport,
  CircuitSnapshot,
  CircuitState,
} from './policies/circuit-types.ts';
export type { ConcurrencyConfig, ConcurrencySnapshot } from './policies/concurrency-policy.ts';
export type { CostBudgetSnapshot } from './policies/cost-budget.ts';
export type { CostBudgetConfig, CostBudgetOption } from './policies/cost-budget-options.ts';
export type { GradientSnapshot } from './policies/gradient.ts';
export type { OutageSnapshot } from './policies/outage.ts';
export type { PaceOption, PaceSnapshot } from './policies/pace.ts';
export type { ProgressOptions, ProgressSnapshot } from './policies/progress.ts';
export type { RateLimitConfig, RateLimitLayer } from './policies/rate-limit/definition.ts';
export type { RateLimitUsage } from './policies/rate-limit/limit-set.ts';
export type { RateLimitAlgorithm, RateLimitCharge } from './policies/rate-limit/rate-limit.ts';
export type { PolicyConfig, PolicyLayer, PolicySnapshots } from './policies/registry.ts';
export type { RecentOutcomes } from './policies/rolling-window.ts';
export type { HeaderGet, PartialVerdict, ProviderResponse } from './providers/adapter.ts';
export { classify, reportedLimits } from './providers/classify.ts';
export type { Providers } from './providers/registry.ts';
export { headersOfResult } from './providers/result.ts';
export { type Usage, usageOf } from './providers/usage.ts';
export type { GateSnapshot } from './queue/gate-rules.ts';
export type { Overflow } from './queue/queue-rules.ts';
export type {
  Adjustable,
  AttemptOptions,
  CommonOptions,
  GateOptions,
  ObservedOptions,
  QueueOptions,
  RateLimitOptions,
} from './request/gate-options.ts';
export type { GateSubscriberOptions } from './request/gate-subscriber.ts';
export type { PolicyOperatorOptions } from './request/policy-operator.ts';
export type { RequestOptions } from './request/request-options.ts';
export type {
  Emitted,
  ProjectOutput,
  ResultOptions,
  RetryOptions,
} from './request/send-options.ts';
export type { RequestInput } from './request/ticket-factory.ts';
export type {
  Datum,
  EncodedTextChunk,
  ImageAssetPointerChunk,
  ImageChunk,
  ModelInput,
  ModelInputChunk,
  TensorData,
} from './sizing/model-input.ts';
export { type InstrumentationOptions, telemetryInstrumentation } from './telemetry/telemetry.ts';
export type { Timer } from './util/clock.ts';
export { systemClock } from './util/clock.ts';
export type { NotInferred } from './util/not-inferred.ts';
