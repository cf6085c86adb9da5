import type { Verdict } from '../model/feedback.ts';
import { isStatus, read } from './shape.ts';

/** Under which results are, whatever `error` is beside them. */
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
 * What is to be judged of a value that may be the body of an error which was answered with 200:
 * `{"error": …}`, an object or a text, and no result beside it.
 * @returns undefined for a value that is a result, after one property where that has no `error`
 */
export function errorIn(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  const error = read(value, 'error');
  const isError = typeof error === 'object' ? error !== null : typeof error === 'string';
  if (!isError || error === '') return undefined;
  if (RESULT_KEYS.some((key) => read(value, key) !== undefined)) return undefined;
  // The status of the answer is no word about the error.
  const status = read(value, 'status') ?? read(value, 'statusCode');
  return isStatus(status) && status < 400 ? error : value;
}

/**
 * Whether a verdict on the body of an error knows what it means. Of one that is not known nothing is
 * made: it may be the result of an API that has `error` in its own sense.
 */
export function isKnownError({ kind, retry, status, outage }: Verdict): boolean {
  if (kind === 'ok') return false;
  return kind !== 'failed' || retry !== false || status !== undefined || outage !== undefined;
}
