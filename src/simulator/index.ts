export type { HeaderStyle } from './answer-headers.ts';
export { type ProviderServer, type ReceivedRequest, serve } from './http/serve.ts';
export type { FaultScript, HttpFault, ServeOptions } from './http/serve-options.ts';
export type { OutputOptions } from './http/text.ts';
export type {
  AdvertisedLimit,
  LimitAlgorithm,
  LimitOptions,
  LimitUnit,
} from './limits/limit-options.ts';
export type { LimitStatus } from './limits/limit-set.ts';
export type { CapacityFunction, CapacityStep, TokenCounts } from './limits/limit-state.ts';
export { ManualClock, type RunAllOptions } from './manual-clock.ts';
export { createProvider } from './provider.ts';
export type {
  ConcurrencyOptions,
  FailureOptions,
  ProviderOptions,
  QuotaOptions,
  StormOptions,
} from './provider-options.ts';
export type { ProviderCapacity, ProviderSeries, ProviderStats } from './provider-stats.ts';
export type {
  AnswerKind,
  AnswerWithHeaders,
  ModelRequest,
  Provider,
  ProviderAnswer,
  StartedWork,
} from './provider-types.ts';
export { ProviderError } from './provider-types.ts';
export type { Latency, LatencyFunction, LatencyOptions } from './random.ts';
export { type Distribution, type LogNormalOptions, logNormal, seededRandom } from './random.ts';
export { type SchedulerLike, schedulerClock } from './scheduler-clock.ts';
