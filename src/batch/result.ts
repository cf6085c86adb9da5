import { hash } from 'node:crypto';
import { DeadlineExceededError, type Outcome, type RequestStats } from 'headgate';
import { messageOf } from './errors.ts';
import { StatusError, shorten } from './http/failures.ts';
import { MAX_LINE_BYTES } from './input/lines.ts';
import { RESULT_ID_PREFIX, type ResultLine, usageIn } from './ledger/result-line.ts';
import type { Budget } from './money.ts';
import { WorkerError } from './queue/queue-job.ts';
import type { BatchRequest, BatchResponse, SentBy } from './request.ts';
import { describeError } from './tally.ts';

const ID_DIGITS = 24;

/** The line of the output for the outcome of a request. */
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

/** How a worker process sent the request; undefined: this process sent it. */
function sentBy(outcome: Outcome<BatchRequest, BatchResponse>): SentBy | undefined {
  if (outcome.status === 'ok') return outcome.value.sent;
  const { error } = outcome;
  return error instanceof WorkerError ? error.sent : answerOf(error)?.sent;
}

function ownSend({ attempts, waits, durationMs }: RequestStats): Omit<SentBy, 'rejected'> {
  const waitedMs = Object.values(waits).reduce((sum, { waitMs }) => sum + waitMs, 0);
  return { attempts, waitedMs, durationMs: durationMs - waitedMs };
}

/** The line of the output for an answer from the cache: no call, no tokens, no cost. */
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

/** If its line could not be written or read again, the result has an error and no answer. */
export function writtenOf(result: ResultLine): WrittenResult {
  try {
    const text = JSON.stringify(result);
    // A UTF-16 code unit has at most three bytes in UTF-8.
    const isShort = text.length <= MAX_LINE_BYTES / 3 || Buffer.byteLength(text) <= MAX_LINE_BYTES;
    if (isShort) return { result, text };
    return withoutAnswer(result, 'ANSWER_TOO_LONG', 'the answer is longer than 64 MiB');
  } catch (error) {
    // `JSON.parse` can read JSON that is too deeply nested for `JSON.stringify`. `send` of a program
    // may resolve with any value, such as an SDK's object with a BigInt or a circle in it.
    const code = error instanceof RangeError ? 'ANSWER_TOO_DEEP' : 'ANSWER_NOT_JSON';
    return withoutAnswer(
      result,
      code,
      `the answer cannot be written as JSON: ${shorten(messageOf(error))}`,
    );
  }
}

function withoutAnswer(result: ResultLine, code: string, message: string): WrittenResult {
  const response = result.response && { ...result.response, body: null };
  const failed = { ...result, response, error: { code, message } };
  return { result: failed, text: JSON.stringify(failed) };
}

/** The answer of the API; if a deadline has ended the request, the answer to its last attempt. */
function answerOf(error: unknown): BatchResponse | undefined {
  const last = error instanceof DeadlineExceededError ? error.cause : error;
  return last instanceof StatusError ? last.response : undefined;
}
