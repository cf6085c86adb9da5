import type { Observable, Subscription } from 'rxjs';

/** An error with a status and headers, as client libraries throw it. */
export class ApiError extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, headers: Readonly<Record<string, string>> = {}) {
    super(`status ${status}`);
    this.status = status;
    this.headers = headers;
  }
}

/** A 429 that asks for some waiting. */
export function tooMany(retryAfterMs?: number): ApiError {
  return new ApiError(
    429,
    retryAfterMs === undefined ? {} : { 'retry-after-ms': `${retryAfterMs}` },
  );
}

/** What came of a subscription. */
export interface Watched<R> {
  readonly values: R[];
  error: unknown;
  state: 'open' | 'complete' | 'error';
  readonly subscription: Subscription;
}

export function watch<R>(source: Observable<R>): Watched<R> {
  const seen = {
    values: [] as R[],
    error: undefined as unknown,
    state: 'open' as Watched<R>['state'],
  };
  const subscription = source.subscribe({
    next: (value) => seen.values.push(value),
    error: (error) => {
      seen.error = error;
      seen.state = 'error';
    },
    complete: () => {
      seen.state = 'complete';
    },
  });
  return Object.assign(seen, { subscription });
}

/** A promise that is settled from outside. */
export interface Pending<R> {
  readonly promise: Promise<R>;
  readonly resolve: (value: R) => void;
  readonly reject: (reason: unknown) => void;
}

export function pending<R>(): Pending<R> {
  let resolve!: (value: R) => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<R>((good, bad) => {
    resolve = good;
    reject = bad;
  });
  return { promise, resolve, reject };
}

/** Fails with each error in turn, once, then says `done`. Notes when it was called. */
export function failingWith(errors: readonly unknown[], now: () => number) {
  const calls: number[] = [];
  const project = async (): Promise<string> => {
    calls.push(now());
    const error = errors[calls.length - 1];
    if (error !== undefined) throw error;
    return 'done';
  };
  return { calls, project };
}
