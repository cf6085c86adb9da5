import { Observable, type Subscriber } from 'rxjs';
import type { Ticket } from '../../src/model/ticket.ts';
import type { AttemptContext } from '../../src/request/attempt-context.ts';
import { ApiError, pending, tooMany } from '../request/harness.ts';
import type { Result } from './provider-oracles.ts';

/** The possible answers of the API. */
export const ANSWERS = [
  'ok',
  'ok',
  'ok',
  'ok',
  'ok',
  'ok',
  '429',
  '429 in 40',
  '429 in 2500',
  '503',
  '503 in 40',
  '500',
  '400',
  '401',
  'timeout',
] as const;

export type Answer = (typeof ANSWERS)[number];

/** What the kind of feedback must be, and what the circuit makes of it. */
export const MEANINGS: Readonly<Record<Answer, readonly [kind: string, result: Result]>> = {
  ok: ['ok', 'ok'],
  '429': ['throttled', 'ignored'],
  '429 in 40': ['throttled', 'ignored'],
  '429 in 2500': ['throttled', 'ignored'],
  '503': ['overloaded', 'failed'],
  '503 in 40': ['overloaded', 'failed'],
  '500': ['failed', 'failed'],
  '400': ['fatal', 'ignored'],
  '401': ['fatal', 'fatal'],
  timeout: ['failed', 'failed'],
};

export function errorOf(answer: Answer): Error {
  if (answer === 'timeout') return Object.assign(new Error('late'), { code: 'ETIMEDOUT' });
  const [status, retryAfterMs] = answer.split(' in ').map(Number);
  if (status === 429) return tooMany(retryAfterMs);
  const headers: Record<string, string> =
    retryAfterMs === undefined ? {} : { 'retry-after-ms': `${retryAfterMs}` };
  return new ApiError(status ?? 500, headers);
}

export interface Said {
  readonly bytes: number;
  readonly tokens: number;
  readonly priority: number;
}

/** The symbol in a request's costs that identifies the request. */
export const OWNER = Symbol('owner');

/** One request, as its user sees it. */
export class Req implements Said {
  readonly id: number;
  readonly via: 'stream' | 'run' | 'acquire' | 'try';
  readonly bytes: number;
  readonly tokens: number;
  readonly priority: number;
  readonly arrivedAt: number;
  /** When it came to the gate where it is. */
  sinceAt: number;
  /** What its first attempts say in the turn in which they are made. */
  readonly plan: readonly [Answer, 'stay' | 'sync' | 'soon'];
  readonly shape: 'promise' | 'observable';
  /** Whether the request has no option by which it can be identified. */
  isPlain = false;
  /** Its place among all calls of the library: when its own began, and when that returned. */
  begunAt = 0;
  enteredAt = Number.POSITIVE_INFINITY;
  ticket: Ticket | undefined = undefined;
  attempts = 0;
  /** The number of results that its user has received. */
  ends = 0;
  how: 'ok' | 'failed' | undefined = undefined;
  /** Whether its user has left, so that no result is required. */
  isGone = false;
  /** It came to a stream that had ended already, and is still being torn down. */
  isBornLate = false;
  isRefused = false;
  /** Its lease was given back as one that was not used. */
  isUnused = false;
  lastAnswer: Answer | undefined = undefined;

  constructor(
    id: number,
    via: Req['via'],
    said: Said,
    arrivedAt: number,
    picks: readonly number[],
  ) {
    const [a = 0, b = 0] = picks;
    this.id = id;
    this.via = via;
    this.bytes = said.bytes;
    this.tokens = said.tokens;
    this.priority = said.priority;
    this.arrivedAt = arrivedAt;
    this.sinceAt = arrivedAt;
    const when = (['stay', 'stay', 'sync', 'soon', 'soon'] as const)[b % 5] ?? 'stay';
    this.plan = [ANSWERS[a % ANSWERS.length] ?? 'ok', when];
    this.shape = via === 'stream' && a % 2 === 0 ? 'observable' : 'promise';
  }

  /** Whether it waits for its first attempt. */
  get waits(): boolean {
    return (
      this.attempts === 0 &&
      this.ends === 0 &&
      !this.isGone &&
      !this.isRefused &&
      this.ticket?.outcome === undefined
    );
  }

  end(how: 'ok' | 'failed'): void {
    this.ends += 1;
    this.how = how;
  }
}

/** A call of the API that has not been answered. */
export class ApiCall {
  readonly req: Req;
  readonly context: AttemptContext | undefined;
  readonly attempt: number;
  isOpen = true;
  readonly #promise = pending<Req>();
  #hasValue = false;
  #subscriber: Subscriber<Req> | undefined = undefined;

  constructor(req: Req, context: AttemptContext | undefined) {
    this.req = req;
    this.context = context;
    this.attempt = req.attempts;
  }

  answer(answer: Answer): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    if (this.req.attempts === this.attempt) this.req.lastAnswer = answer;
    if (answer === 'ok') {
      this.#promise.resolve(this.req);
      if (!this.#hasValue) this.#subscriber?.next(this.req);
      this.#subscriber?.complete();
    } else {
      this.#promise.reject(errorOf(answer));
      this.#subscriber?.error(errorOf(answer));
    }
  }

  /** A value, where there may be one before the end. */
  value(): void {
    if (!this.isOpen || this.#hasValue || this.#subscriber === undefined) return;
    this.#hasValue = true;
    this.req.lastAnswer = 'ok';
    // It does not end before its value has come.
    this.isOpen = false;
    this.#subscriber.next(this.req);
    this.isOpen = true;
  }

  result(onTeardown: () => void): Promise<Req> | Observable<Req> {
    this.#promise.promise.catch(() => undefined);
    if (this.req.shape === 'promise') return this.#promise.promise;
    return new Observable((subscriber) => {
      this.#subscriber = subscriber;
      return onTeardown;
    });
  }
}
