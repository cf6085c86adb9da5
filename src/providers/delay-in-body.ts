import { positive } from './positive.ts';
import { read } from './shape.ts';

/** Fields of bodies that name a wait as a number, and their units in ms. */
const FIELDS = [
  ['retry_after_ms', 1],
  ['retryAfterMs', 1],
  ['retry_after', 1000],
  ['retry_after_seconds', 1000],
  ['retryAfter', 1000],
] as const;

/** The wait that a field of a body names (Replicate, Cloudflare and others), in ms. */
export function delayInBody(chain: readonly unknown[]): number | undefined {
  for (const layer of chain) {
    for (const [name, unitMs] of FIELDS) {
      const amount = read(layer, name);
      const ms = typeof amount === 'number' ? positive(amount * unitMs) : undefined;
      if (ms !== undefined) return ms;
    }
  }
  return undefined;
}
