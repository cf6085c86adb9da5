import { codeOf, messageOf } from '../errors.ts';
import { StatusError } from '../http/errors.ts';
import type { JsonObject } from '../json.ts';
import type { BatchResponse, SentBy } from '../request.ts';
import type { RunLimits } from './run-limits.ts';

/** What `headgate run --redis` puts into the queue. */
export interface JobData {
  readonly id: string;
  readonly url: string;
  readonly body: JsonObject;
  /** What the run says of limits. */
  readonly limits?: RunLimits;
}

/** What `headgate work` makes of it: an answer, or what the request failed with. */
export interface JobResult {
  readonly response?: Pick<BatchResponse, 'statusCode' | 'requestId' | 'body'>;
  readonly error?: { readonly code: string; readonly message: string };
  readonly sent: SentBy;
}

/** A request that a worker could not get an answer for. */
export class WorkerError extends Error {
  readonly sent: SentBy | undefined;

  /** @param code the kind of error, which results show */
  constructor(message: string, code: string, sent?: SentBy) {
    super(message);
    this.name = code;
    this.sent = sent;
  }
}

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
 * The answer in a result.
 * @throws WorkerError where there is none
 */
export function responseOf({ response, error, sent }: JobResult): BatchResponse {
  if (response !== undefined) return { ...response, sent };
  throw new WorkerError(error?.message ?? 'a worker gave no answer', error?.code ?? 'error', sent);
}
