import type { Outcome } from 'headgate';
import { ENDPOINTS } from '../endpoint.ts';
import { StatusError } from '../http/failures.ts';
import { at, countAt, isObject } from '../json.ts';
import { type BatchRequest, type BatchResponse, promptTokensOf } from '../request.ts';

/**
 * Statuses that a single bad line of a group may cause. With these, nothing was computed or paid.
 */
const SPLIT_STATUSES = [400, 413, 422];

/**
 * The key of the group that a request may join: all requests of a group differ only in their text.
 * @returns undefined: the request is sent alone
 */
export function groupKeyOf({ url, body, json }: BatchRequest): string | undefined {
  const { input, ...others } = body;
  if (url !== ENDPOINTS.embeddings.url || typeof input !== 'string') return undefined;
  if (json !== undefined) return undefined;
  return JSON.stringify(Object.entries(others).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** One request for the texts of several lines; of a single line, that line. */
export function groupOf(members: readonly BatchRequest[]): BatchRequest {
  const [first] = members;
  if (first === undefined) throw new RangeError('a group must have a member');
  if (members.length === 1) return first;
  const input = members.map(({ body }) => body.input);
  return { ...first, metadata: undefined, body: { ...first.body, input }, members };
}

/** Whether a single line may have caused the error, so that the group is sent again in parts. */
export function mayBeOneLine(error: unknown): boolean {
  return error instanceof StatusError && SPLIT_STATUSES.includes(error.status);
}

/**
 * Splits the response to a group.
 * @returns the response to each member; undefined: the number of answers is wrong
 */
export function splitResponse(
  members: readonly BatchRequest[],
  response: BatchResponse,
): BatchResponse[] | undefined {
  const { body } = response;
  const vectors = at(body, 'data');
  if (!isObject(body) || !Array.isArray(vectors) || vectors.length !== members.length) {
    return undefined;
  }
  const inOrder: unknown[] = new Array(members.length).fill(undefined);
  for (const [position, vector] of vectors.entries()) {
    inOrder[countAt(vector, 'index') ?? position] = vector;
  }
  if (!inOrder.every(isObject)) return undefined;
  // An empty text has no tokens; of nothing but empty texts there would be no shares.
  const tokens = members.map((member) => Math.max(1, promptTokensOf(member)));
  const usages = shareUsage(at(body, 'usage'), tokens);
  return inOrder.map((vector, index) => ({
    ...response,
    body: {
      ...body,
      data: [{ ...vector, index: 0 }],
      ...(usages && { usage: usages[index] }),
    },
  }));
}

/** Divides a usage among members by their estimated tokens; the sums stay exact. */
function shareUsage(usage: unknown, tokens: readonly number[]): unknown[] | undefined {
  if (!isObject(usage)) return undefined;
  const sum = tokens.reduce((total, each) => total + each, 0);
  let before = 0;
  return tokens.map((each) => {
    const [from, to] = [before / sum, (before + each) / sum];
    before += each;
    return shareOf(usage, from, to);
  });
}

/** The part of a count, or of all counts of an object, such as those of `prompt_tokens_details`. */
function shareOf(value: unknown, from: number, to: number): unknown {
  if (typeof value === 'number') return Math.round(to * value) - Math.round(from * value);
  if (!isObject(value)) return value;
  const shares = Object.entries(value).map(([name, each]) => [name, shareOf(each, from, to)]);
  return Object.fromEntries(shares);
}

/** The outcome of a group as an outcome for each member, with its own response if there is one. */
export function outcomesOf(
  outcome: Outcome<BatchRequest, BatchResponse>,
  members: readonly BatchRequest[],
  responses: readonly BatchResponse[] | undefined,
): Outcome<BatchRequest, BatchResponse>[] {
  return members.map((request, index) => {
    const value = responses?.[index];
    return outcome.status === 'ok' && value !== undefined
      ? { ...outcome, request, value }
      : { ...outcome, request };
  });
}
