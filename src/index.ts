export type { BackoffSnapshot, Reopen } from './core/backoff.ts';
export type { ByteBudgetSnapshot } from './core/byte-budget.ts';
export type { SlotsSnapshot } from './core/slots.ts';
export { classify } from './feedback/classify.ts';
export { type BackoffOptions, FeedbackSubject } from './feedback/feedback-subject.ts';
export type { GateSnapshot } from './gate/gate.ts';
export { systemClock } from './gate/system-clock.ts';
export type { Task } from './limiter/call.ts';
export type { Lease } from './limiter/lease.ts';
export { createLimiter, type Limiter } from './limiter/limiter.ts';
export type {
  AcquireOptions,
  LimiterOptions,
  LimiterSnapshot,
  LimiterThrottleOptions,
} from './limiter/limiter-options.ts';
export { Chunk, type ChunkReason } from './model/chunk.ts';
export type { Clock, Random, Timer } from './model/clock.ts';
export {
  DeadlineExceededError,
  EstimatorError,
  HeadgateError,
  ResponseError,
  RetryAfterTooLongError,
  TicketExpiredError,
  TicketInUseError,
} from './model/errors.ts';
export type { Feedback, FeedbackKind, Mode, Verdict } from './model/feedback.ts';
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
export type { Probe } from './model/probe.ts';
export { Sized } from './model/sized.ts';
export type { Ticket } from './model/ticket.ts';
export type { Adjustable } from './operators/adjustable.ts';
export type { AttemptContext } from './operators/attempt-context.ts';
export { backoffGate } from './operators/backoff-gate.ts';
export { type ByteBudgetOptions, byteBudget } from './operators/byte-budget.ts';
export { byteEstimate } from './operators/byte-estimate.ts';
export { type ChunkOptions, chunkBy } from './operators/chunk-by.ts';
export type { CommonOptions } from './operators/common-options.ts';
export { type ConcurrencyOptions, concurrencyLimit } from './operators/concurrency-limit.ts';
export { type DispatchOptions, dispatch } from './operators/dispatch.ts';
export type { GateOptions } from './operators/gates.ts';
export type { Arrival } from './operators/intake.ts';
export type { PassageOptions } from './operators/passage.ts';
export type { Project, ResultOptions, RetryOptions } from './operators/send-options.ts';
export type { Estimator, Size } from './operators/size.ts';
export { type ThrottleOptions, throttle } from './operators/throttle.ts';
