import { hash } from 'node:crypto';
import { DeadlineExceededError, type Outcome, type RequestStats } from 'headgate';
import { StatusError } from './http/failures.ts';
import { MAX_LINE_BYTES } from './input/lines.ts';
import { RESULT_ID_PREFIX, type ResultLine, usageIn } from './ledger/result-line.ts';
import type { Budget } from './money.ts';
import { WorkerError } from './queue/queue-job.ts';
import type { BatchRequest, BatchResponse, SentBy } from './request.ts';
import { describeError } from './tally.ts';

const ID_DIGITS = 24;

/** The line of the output that says how a request has ended. */
export function resultOf(
  outcome: Outcome<BatchRequest, BatchResponse>,
  budget: Budget,
): ResultLine {
  const { request, stats } = outcome;
  const response = outcome.status === 'ok' ? outcome.value : answerOf(outcome.error);
  const usage = usageIn(response?.body);
  const { attempts, waitedMs, durationMs } = sentBy(outcome) ?? ownSend(stats);
  const error = outcome.status === 'ok' ? null : describeError(outcome.error);
  return lineOf(request, response, error, {
    attempts,
    waited_ms: Math.round(waitedMs),
    duration_ms: Math.max(0, Math.round(durationMs)),
    usage,
    cost: budget.settle(request, usage),
    hash: request.hash,
  });
}

/** How another process sent the request, where one did. */
function sentBy(outcome: Outcome<BatchRequest, BatchResponse>): SentBy | undefined {
  if (outcome.status === 'ok') return outcome.value.sent;
  const { error } = outcome;
  return error instanceof WorkerError ? error.sent : answerOf(error)?.sent;
}

function ownSend({ attempts, waits, durationMs }: RequestStats): Omit<SentBy, 'rejected'> {
  const waitedMs = Object.values(waits).reduce((sum, { waitMs }) => sum + waitMs, 0);
  return { attempts, waitedMs, durationMs: durationMs - waitedMs };
}

/** The same for an answer from the cache, for which nothing was sent, used or paid. */
export function cachedResultOf(request: BatchRequest, response: BatchResponse): ResultLine {
  const { hash } = request;
  const nothing = { attempts: 0, waited_ms: 0, duration_ms: 0, usage: null, cost: 0, hash };
  return lineOf(request, response, null, nothing);
}

function lineOf(
  request: BatchRequest,
  response: BatchResponse | undefined,
  error: ResultLine['error'],
  headgate: ResultLine['headgate'],
): ResultLine {
  return {
    id: RESULT_ID_PREFIX + hash('sha256', `${request.id}\n${request.hash}`).slice(0, ID_DIGITS),
    custom_id: request.id,
    response: response
      ? {
          status_code: response.statusCode,
          request_id: response.requestId ?? null,
          body: response.body,
        }
      : null,
    error,
    ...(request.metadata && { metadata: request.metadata }),
    headgate,
  };
}

/** A result, and its line without the newline. */
export interface WrittenResult {
  readonly result: ResultLine;
  readonly text: string;
}

/** Without its answer, a request has failed whose line could not be written, or not be read again. */
export function writtenOf(result: ResultLine): WrittenResult {
  try {
    const text = JSON.stringify(result);
    // A character has three bytes at the most.
    const isShort = text.length <= MAX_LINE_BYTES / 3 || Buffer.byteLength(text) <= MAX_LINE_BYTES;
    if (isShort) return { result, text };
    return withoutAnswer(result, 'ANSWER_TOO_LONG', 'the answer is longer than 64 MiB');
  } catch (error) {
    // JSON that is nested some thousand times can be read, but not be written.
    if (!(error instanceof RangeError)) throw error;
    const problem = `the answer cannot be written as JSON: ${error.message}`;
    return withoutAnswer(result, 'ANSWER_TOO_DEEP', problem);
  }
}

function withoutAnswer(result: ResultLine, code: string, message: string): WrittenResult {
  const response = result.response && { ...result.response, body: null };
  const failed = { ...result, response, error: { code, message } };
  return { result: failed, text: JSON.stringify(failed) };
}

/** What the API has answered; where the deadline has ended a request, the last time. */
function answerOf(error: unknown): BatchResponse | undefined {
  const last = error instanceof DeadlineExceededError ? error.cause : error;
  return last instanceof StatusError ? last.response : undefined;
}
