import { expect } from 'vitest';
import type { Limiter } from '../../src/index.ts';

/** Nobody waits, and nothing is held. */
export function expectIdle(limiter: Limiter): void {
  expect(limiter.snapshot()).toMatchObject({
    concurrency: { inFlight: 0, throttledInFlight: 0, waiting: 0, longestWaitMs: 0 },
    byteBudget: { used: 0, waiting: 0, longestWaitMs: 0 },
    backoff: { waiting: 0, longestWaitMs: 0 },
  });
}

/** How a promise has ended, for looking at without waiting. */
export function fate<R>(promise: Promise<R>) {
  const seen = {
    state: 'open' as 'open' | 'ok' | 'failed',
    value: undefined as R | undefined,
    error: undefined as unknown,
  };
  promise.then(
    (value) => Object.assign(seen, { state: 'ok', value }),
    (error: unknown) => Object.assign(seen, { state: 'failed', error }),
  );
  return seen;
}

/** A signal that counts who listens to it. */
export function countedSignal() {
  const controller = new AbortController();
  const { signal } = controller;
  const listeners = new Set<unknown>();
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners.add(args[1]);
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners.delete(args[1]);
    remove(...args);
  };
  return { controller, signal, listeners };
}
