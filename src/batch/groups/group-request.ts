import type { Outcome } from 'headgate';
import { ENDPOINTS } from '../endpoint.ts';
import { StatusError } from '../http/failures.ts';
import { at, countAt, isObject } from '../json.ts';
import { type BatchRequest, type BatchResponse, promptTokensOf } from '../request.ts';

/**
 * Statuses that a single bad line of a group may cause. Nothing was computed then, so nothing was
 * paid.
 */
const SPLIT_STATUSES = [400, 413, 422];

/**
 * Names the group that a request may join: requests that differ in nothing but their text.
 * @returns undefined: it is sent alone
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

/** Whether a group is to be sent again in parts: one of its lines may have failed all of them. */
export function mayBeOneLine(error: unknown): boolean {
  return error instanceof StatusError && SPLIT_STATUSES.includes(error.status);
}

/**
 * Tells the answers of a group apart.
 * @returns the response to each member; undefined: they are not one for each
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
  const tokens = members.map(promptTokensOf);
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

/** Shares each count of a usage out, by the estimated tokens of each; the sums stay exact. */
function shareUsage(
  usage: unknown,
  tokens: readonly number[],
): Record<string, unknown>[] | undefined {
  if (!isObject(usage)) return undefined;
  const sum = tokens.reduce((total, each) => total + each, 0);
  let before = 0;
  return tokens.map((each) => {
    const [from, to] = [before / sum, (before + each) / sum];
    before += each;
    const shares = Object.entries(usage).map(([name, count]) => {
      const isCount = typeof count === 'number';
      return [name, isCount ? Math.round(to * count) - Math.round(from * count) : count];
    });
    return Object.fromEntries(shares);
  });
}

/** The same outcome for each member, of a group that failed as a whole or whose answers were told apart. */
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
