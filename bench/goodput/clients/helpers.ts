/** What several clients share. */
import type { Clock, Random } from 'headgate';

export function sleep(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.setTimer(resolve, ms);
  });
}

/**
 * A wait after the nth failure, from 1: somewhere between nothing and `baseMs` doubled n - 1 times,
 * at most `mostMs`.
 */
export function fullJitter(
  random: Random,
  failures: number,
  baseMs: number,
  mostMs: number,
): number {
  return random() * Math.min(mostMs, baseMs * 2 ** (failures - 1));
}

/** Whether an attempt was turned away, by the status of what it threw. */
export function isThrottle(error: unknown): boolean {
  const status = typeof error === 'object' && error !== null && 'status' in error && error.status;
  return status === 429 || status === 503 || status === 529;
}
