import type { Verdict } from '../model/feedback.ts';
import { isResponse, isStatus, read } from './shape.ts';

/** Fields that hold a result. A value that has one is no error, even if it has an `error` too. */
const RESULT_KEYS = [
  'choices',
  'content',
  'candidates',
  'output',
  'outputs',
  'data',
  'result',
  'results',
  'completion',
  'generations',
  'predictions',
  'embeddings',
  'text',
] as const;

/**
 * Finds the error in a body that came with status 200: `{"error": …}` without a result beside it.
 * @returns undefined for a value that is a result. Costs one property read where it has no `error`
 */
export function errorIn(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || isResponse(value)) return undefined;
  const error = read(value, 'error');
  const isError = typeof error === 'object' ? error !== null : typeof error === 'string';
  if (!isError || error === '') return undefined;
  if (RESULT_KEYS.some((key) => read(value, key) !== undefined)) return undefined;
  // The status 200 says nothing about the error in the body.
  const status = read(value, 'status') ?? read(value, 'statusCode');
  return isStatus(status) && status < 400 ? error : value;
}

/**
 * Whether the verdict recognised the error in a body. An unrecognised one is left alone: `error` may
 * be an ordinary field of that API.
 */
export function isKnownError({ kind, retry, status, outage }: Verdict): boolean {
  if (kind === 'ok') return false;
  return kind !== 'failed' || retry !== false || status !== undefined || outage !== undefined;
}
