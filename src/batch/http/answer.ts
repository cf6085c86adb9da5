import { at, isObject, type JsonObject, parseJson } from '../json.ts';
import { withoutQuery } from '../printable.ts';
import type { BatchResponse } from '../request.ts';

/** `send` has resolved with something that is no answer: it would do so for each request. */
export class NoAnswerError extends TypeError {}

/** @throws NoAnswerError for a value of `send` without a status, or whose body was not read */
export function checkAnswer(value: unknown): void {
  const statusCode = at(value, 'statusCode');
  if (typeof statusCode !== 'number') {
    throw new NoAnswerError(
      `\`send\` must resolve with { statusCode, headers, body }, got ${shapeOf(value)}`,
    );
  }
  // A client that got no answer may say so with 0, which must not count as a good answer.
  if (!isStatus(statusCode)) {
    throw new NoAnswerError(
      `\`send\` must resolve with an HTTP status as \`statusCode\`, got ${statusCode}`,
    );
  }
  const body = at(value, 'body');
  const must = '`send` must resolve with a `body` that was read and parsed, got';
  if (typeof at(body, 'then') === 'function') {
    throw new NoAnswerError(`${must} a promise: await it`);
  }
  // The text of an error, or of a page in place of an answer, is a usual body.
  if (statusCode < 300 && typeof body === 'string' && isObject(parseJson(body))) {
    throw new NoAnswerError(`${must} JSON as text: parse it`);
  }
}

/** Whether a value is the HTTP status of an answer. */
export function isStatus(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 200 && Number(value) <= 999;
}

/** A value that has a wrong shape, in words. */
export function shapeOf(value: unknown): string {
  const fields = isObject(value) ? Object.keys(value).slice(0, 5) : [];
  return fields.length > 0 ? `an object with ${fields.join(', ')}` : kindOf(value);
}

/** The fields in which APIs put the result. */
const RESULTS = ['choices', 'output', 'output_text', 'data', 'content', 'results', 'embeddings'];

/** Those of them whose list is never empty in an answer. */
const FILLED = ['choices', 'data'];

/** Whether a body has the field of a result, even if a model has put nothing into it. */
export function hasResult(body: JsonObject): boolean {
  return RESULTS.some((field) => {
    const value = body[field] ?? undefined;
    return value !== undefined && (!FILLED.includes(field) || at(value, 0) !== undefined);
  });
}

/** Whether a response is not an error: some servers report an error with status 200. */
export function isGood({ statusCode, body }: BatchResponse): boolean {
  if (statusCode >= 300 || !isObject(body)) return false;
  const error = errorIn(body);
  const saysError = isObject(error) || (typeof error === 'string' && error !== '');
  return !saysError || RESULTS.some((field) => hasContent(body[field]));
}

/** The error in a body. OpenRouter puts that of a model's provider into the choice. */
export function errorIn(body: unknown): unknown {
  return at(body, 'error') ?? at(body, 'choices', 0, 'error');
}

function hasContent(value: unknown): boolean {
  if (Array.isArray(value)) return value.some((item) => !isEmptyChoice(item));
  return value !== undefined && value !== null && value !== '';
}

/** A choice without an answer, which servers send beside an error. */
function isEmptyChoice(choice: unknown): boolean {
  const message = at(choice, 'message');
  return isObject(message) && !hasContent(message.content) && !hasContent(message.tool_calls);
}

/** The problem with a response whose body has no message. */
export function problemOf({ statusCode, headers, body }: BatchResponse): string {
  if (statusCode >= 300 && statusCode < 400) {
    // A server repeats the query of the request there.
    const location = headers?.location;
    const target = typeof location === 'string' ? ` to ${withoutQuery(location)}` : '';
    return `HTTP ${statusCode}, a redirect${target}, which is not followed`;
  }
  if (statusCode >= 400) return `HTTP ${statusCode}`;
  if (isObject(body)) return `HTTP ${statusCode} with ${errorIn(body) ? 'an error' : 'no result'}`;
  return `HTTP ${statusCode} with ${kindOf(body)}, which is no answer`;
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (value === null || value === undefined) return String(value);
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
