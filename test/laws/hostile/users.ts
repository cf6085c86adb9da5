import { AsyncLocalStorage } from 'node:async_hooks';
import { Observable, type Subscriber } from 'rxjs';
import type { Lease } from '../../../src/index.ts';
import type { AttemptContext } from '../../../src/request/attempt-context.ts';
import { ApiError, tooMany } from '../../request/harness.ts';

/** The async context of a request's user. */
export const sender = new AsyncLocalStorage<Req>();

/** A request, as its user sees it. */
export class Req {
  readonly id: number;
  readonly isStream: boolean;
  attempts = 0;
  /** Attempts that were made in the async context of another user. */
  strayed = 0;
  /** Calls that are not answered yet. */
  calls = 0;
  ends = 0;
  hasLease = false;
  /** Whether its stream was left or has failed, so that no result is required. */
  isGone = false;

  constructor(id: number, isStream: boolean) {
    this.id = id;
    this.isStream = isStream;
  }
}

const ERRORS: readonly (() => unknown)[] = [
  () => tooMany(),
  () => tooMany(300),
  () => new ApiError(500),
  () => new ApiError(503),
  () => new ApiError(400),
  () => Object.assign(new Error('reset'), { code: 'ECONNRESET' }),
];

/** A call of the API: a promise, or an Observable that may have a teardown. */
export class Call {
  readonly req: Req;
  readonly promise: Promise<Req>;
  #isOpen = true;
  #resolve!: (req: Req) => void;
  #reject!: (error: unknown) => void;
  #subscriber: Subscriber<Req> | undefined;

  constructor(req: Req, context?: AttemptContext) {
    this.req = req;
    req.attempts += 1;
    req.calls += 1;
    if (!req.isStream && sender.getStore() !== req) req.strayed += 1;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // As of a library that takes an abort seriously.
    if (context === undefined || req.id % 2 === 1) return;
    context.signal.addEventListener('abort', () => this.fail(context.signal.reason));
  }

  /** The same as an Observable, which is torn down so. */
  observable(teardown: () => void): Observable<Req> {
    return new Observable((subscriber) => {
      this.#subscriber = subscriber;
      return teardown;
    });
  }

  answer(): void {
    if (!this.#close()) return;
    this.#resolve(this.req);
    this.#tell((subscriber) => {
      subscriber.next(this.req);
      subscriber.complete();
    });
  }

  fail(error: unknown): void {
    if (!this.#close()) return;
    this.promise.catch(() => undefined);
    this.#reject(error);
    this.#tell((subscriber) => subscriber.error(error));
  }

  /** What a teardown throws comes out here, as of any Observable. */
  #tell(say: (subscriber: Subscriber<Req>) => void): void {
    try {
      if (this.#subscriber !== undefined) say(this.#subscriber);
    } catch {
      // The producer hears of it: its own teardown failed.
    }
  }

  failWith(number: number): void {
    this.fail(ERRORS[number % ERRORS.length]?.());
  }

  #close(): boolean {
    const wasOpen = this.#isOpen;
    this.#isOpen = false;
    if (wasOpen) this.req.calls -= 1;
    return wasOpen;
  }
}

export interface Held {
  readonly req: Req;
  readonly lease: Lease;
}
