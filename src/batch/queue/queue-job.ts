import type { LimiterOptions } from 'headgate';
import { codeOf, messageOf } from '../errors.ts';
import { isGood, isStatus } from '../http/answer.ts';
import { StatusError } from '../http/failures.ts';
import { at, countAt, isObject, type JsonObject, textAt } from '../json.ts';
import type { BatchResponse, SentBy } from '../request.ts';

/** Limits that a run sets for the workers of its queue, which share them. */
export interface RunLimits extends Pick<LimiterOptions, (typeof NAMES)[number]> {
  /** When the run began, in ms since 1970 by the clock of Redis: the limits of the latest run apply. */
  readonly at: number;
}

const NAMES = ['concurrency', 'requestsPerMinute', 'tokensPerMinute'] as const;

/** The limits of a run in the data of a job; undefined: there are none. */
export function runLimitsIn(value: unknown): RunLimits | undefined {
  if (!isObject(value) || typeof value.at !== 'number') return undefined;
  const given = NAMES.flatMap((name) => {
    const limit = value[name];
    return typeof limit === 'number' && Number.isSafeInteger(limit) && limit >= 1
      ? [[name, limit] as const]
      : [];
  });
  return { at: value.at, ...Object.fromEntries(given) };
}

/** The limits without the time of the run. */
export function limitsOf({ at: _, ...limits }: RunLimits): LimiterOptions {
  return limits;
}

/** The data of a job that `headgate run --redis` puts into the queue. */
export interface JobData {
  readonly id: string;
  readonly url: string;
  readonly body: JsonObject;
  /** The body as text, if it has numbers beyond 2^53, which must be sent as written. */
  readonly json?: string | undefined;
  /** The limits that the run sets. */
  readonly limits?: RunLimits;
}

/** The result of a job by `headgate work`: an answer, or the error of the request. */
export interface JobResult {
  readonly response?: Pick<BatchResponse, 'statusCode' | 'requestId' | 'body'>;
  readonly error?: { readonly code: string; readonly message: string };
  readonly sent: SentBy;
}

/** A worker got no answer to the request. */
export class WorkerError extends Error {
  readonly sent: SentBy | undefined;

  /** @param code the kind of error, which results show */
  constructor(message: string, code: string, sent?: SentBy) {
    super(message);
    this.name = code;
    this.sent = sent;
  }
}

/** The queue takes no requests at all. */
export class QueueError extends Error {}

/** The result of a request that has failed for good. */
export function failedResult(error: unknown, sent: SentBy): JobResult {
  if (error instanceof StatusError) {
    const { statusCode, requestId, body } = error.response;
    return { response: { statusCode, ...(requestId !== undefined && { requestId }), body }, sent };
  }
  const name = error instanceof Error ? error.name : 'error';
  return { error: { code: codeOf(error) ?? name, message: messageOf(error) }, sent };
}

/**
 * The answer in the value of a completed job.
 * @throws WorkerError if there is none
 */
export function responseIn(value: unknown): BatchResponse {
  const result: unknown = typeof value === 'string' ? JSON.parse(value) : value;
  if (!isJobResult(result)) throw new WorkerError('a worker gave no result', 'error');
  const { response, error, sent } = result;
  if (response !== undefined) return { ...response, sent };
  throw new WorkerError(error?.message ?? 'a worker gave no answer', error?.code ?? 'error', sent);
}

/** Whether the value of a completed job is no good answer. */
export function hasFailed(value: unknown): boolean {
  try {
    return !isGood(responseIn(value));
  } catch {
    return true;
  }
}

/** Others may write to that Redis: what has another shape must not reach the results. */
function isJobResult(value: unknown): value is JobResult {
  if (!isObject(value)) return false;
  const { response, error, sent } = value;
  if (SENT.some((name) => countAt(sent, name) === undefined)) return false;
  if (response !== undefined) return isStatus(at(response, 'statusCode'));
  return error === undefined || ERROR.every((name) => textAt(error, name) !== undefined);
}

const SENT = ['attempts', 'rejected', 'waitedMs', 'durationMs'] as const satisfies (keyof SentBy)[];
const ERROR = ['code', 'message'] as const;
