import { readText } from '../shape.ts';
import type { Answer, Reader, Remark } from './reader.ts';

/** Whom a failed request of Tinker blames. */
const CATEGORIES = ['unknown', 'server', 'user'];

/**
 * 429 says nothing more: the wait follows the size of the request. A future that is polled answers
 * 408 until it is there, and 410 when it is lost: the request must be sent anew.
 */
function remark({ status, layers, words }: Answer): Remark | undefined {
  const isTinker =
    words.has('try_again') ||
    layers.some((layer) => CATEGORIES.includes(readText(layer, 'category')?.toLowerCase() ?? ''));
  if (!isTinker) return undefined;
  return status === 408 || status === 410 ? { kind: 'failed', retry: true } : undefined;
}

/** Tinker's sampling API. */
export const tinker: Reader = {
  name: 'Tinker',
  reads: '429 without any header; 408 (ask again) and 410 (send anew) by their bodies',
  remark,
};
