/** Files of requests through a rate-limited API: `headgate/batch`. */
export { BatchRun } from './batch-run.ts';
export { type AnswerCache, openCache } from './cache/answer-cache.ts';
export { API_NAMES, type ApiName, answerText } from './endpoint.ts';
export { BatchError, InputError } from './errors.ts';
export { createHttpSender, type HttpOptions, type HttpSender } from './http/sender.ts';
export type { InputFormat } from './input/read-input.ts';
export type { ExistingOutput } from './ledger/open-output.ts';
export type { ResultLine, TokenUsage } from './ledger/result-line.ts';
export { type ModelPrices, type Prices, readPriceFile } from './money.ts';
export type { BatchOnlyOptions, BatchOptions, ChangedLines } from './options.ts';
export type { PaceView } from './pace-view.ts';
export type { ModelLimits } from './pacer.ts';
export type { BatchPhase, BatchProgress, BatchReport, Stop, StopReason } from './progress.ts';
export type { QueueCounts } from './queue/run-queue.ts';
export type { BatchRequest, BatchResponse, Send, SendContext, SentBy } from './request.ts';
export { runBatch } from './run-batch.ts';
export type { ErrorCount } from './tally.ts';
