import { setImmediate } from 'node:timers/promises';
import type { AttemptContext } from 'headgate';
import { checkAnswer, isGood } from './http/answer.ts';
import { callError, type OutageWatch, StatusError } from './http/failures.ts';
import type { Budget } from './money.ts';
import { WorkerError } from './queue/queue-job.ts';
import {
  type BatchRequest,
  type BatchResponse,
  promptTokensOf,
  type Send,
  type SentBy,
} from './request.ts';
import type { Tally } from './tally.ts';

/** The run is ending: the request was not sent, and has no result. */
export class NotSentError extends Error {}

/** The other parts of a run that attempts use. */
export interface AttemptSurroundings {
  readonly send: Send;
  /** Whether workers make the calls: only their answers tell how many there were. */
  readonly isRemote: boolean;
  readonly tally: Tally;
  readonly outage: OutageWatch;
  readonly budget: Budget;
  /** Called when the next request may cost more than is left of the budget. */
  readonly onBudgetSpent: () => void;
}

/** Makes the calls to the API until it is stopped. */
export class Attempts {
  /** Calls under way. */
  active = 0;
  readonly #around: AttemptSurroundings;
  #isStopped = false;
  #idle: (() => void) | undefined;
  /** Requests for which too little money is left while calls are under way. */
  readonly #waiting = new Set<() => void>();

  constructor(around: AttemptSurroundings) {
    this.#around = around;
  }

  readonly attempt = async (
    request: BatchRequest,
    context: AttemptContext,
  ): Promise<BatchResponse> => {
    await this.#reserve(request, context.signal);
    if (this.#isStopped) throw new NotSentError();
    this.active += 1;
    try {
      return await this.#call(request, context);
    } finally {
      this.active -= 1;
      if (this.active === 0) this.#idle?.();
      this.#wake();
    }
  };

  /** From now on no request is sent. */
  stop(): void {
    this.#isStopped = true;
    this.#wake();
  }

  /** Resolves when all calls under way have ended and their outcomes were passed on. */
  async idle(): Promise<void> {
    if (this.active > 0) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
      });
    }
    await setImmediate();
  }

  /**
   * Reserves the cost of a request. If too little money is left, it waits for calls under way: they
   * may cost less than was reserved for them.
   */
  async #reserve(request: BatchRequest, signal: AbortSignal): Promise<void> {
    const { budget, onBudgetSpent } = this.#around;
    while (!this.#isStopped && !budget.reserve(request, promptTokensOf(request))) {
      if (this.active === 0) {
        onBudgetSpent();
        return;
      }
      await this.#oneEnds(signal);
      signal.throwIfAborted();
      // The cost of the call that ended is known once its outcome was passed on.
      await setImmediate();
    }
  }

  #oneEnds(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        signal.removeEventListener('abort', wake);
        this.#waiting.delete(wake);
        resolve();
      };
      signal.addEventListener('abort', wake, { once: true });
      this.#waiting.add(wake);
    });
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  async #call(request: BatchRequest, context: AttemptContext): Promise<BatchResponse> {
    const { send, isRemote, tally, outage } = this.#around;
    if (!isRemote) tally.attempts += 1;
    if (context.attempt > 1) tally.retried += 1;
    try {
      const response = await callOnce(send, request, context);
      outage.answered();
      this.#addSent(response.sent);
      return response;
    } catch (error) {
      const sent = sentIn(error);
      if (sent !== undefined) this.#addSent(sent);
      else if (error instanceof StatusError && error.status === 429) tally.rejected += 1;
      throw error;
    }
  }

  /** Counts the calls of a worker process. */
  #addSent(sent: SentBy | undefined): void {
    const { isRemote, tally } = this.#around;
    if (sent !== undefined && isRemote) tally.attempts += 1;
    tally.addSent(sent);
  }
}

/** How a worker process sent a request that failed; undefined: it was none, or does not say. */
function sentIn(error: unknown): SentBy | undefined {
  if (error instanceof StatusError) return error.response.sent;
  return error instanceof WorkerError ? error.sent : undefined;
}

/**
 * Makes one call, and passes the headers and the body of its answer to the limiter.
 * @throws StatusError for an answer that is an error; ConnectionError if no answer came;
 * NoAnswerError for a wrong value of `send`
 */
export async function callOnce(
  send: Send,
  request: BatchRequest,
  context: AttemptContext,
): Promise<BatchResponse> {
  const { signal, attempt } = context;
  let response: BatchResponse;
  try {
    response = await send(request, { signal, attempt });
  } catch (error) {
    throw callError(error);
  }
  checkAnswer(response);
  context.observe({ headers: response.headers });
  context.observe(response.body);
  if (!isGood(response)) throw new StatusError(response);
  return response;
}
