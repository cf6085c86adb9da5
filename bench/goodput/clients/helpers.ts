/** Helpers that several clients use. */
import type { Clock, Random } from 'headgate';

export function sleep(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.setTimer(resolve, ms);
  });
}

/**
 * A random wait after the nth failure, n >= 1: from 0 to `baseMs` * 2^(n - 1), at most `mostMs`
 * (full jitter).
 */
export function fullJitter(
  random: Random,
  failures: number,
  baseMs: number,
  mostMs: number,
): number {
  return random() * Math.min(mostMs, baseMs * 2 ** (failures - 1));
}

/** Whether the status of an error says that the provider rejected the attempt. */
export function isThrottle(error: unknown): boolean {
  const status = typeof error === 'object' && error !== null && 'status' in error && error.status;
  return status === 429 || status === 503 || status === 529;
}
