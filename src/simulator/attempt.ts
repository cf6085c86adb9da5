import type { Clock, Random, Timer } from '../util/clock.ts';
import { type Admission, kindOfStatus, type Refusal } from './admission.ts';
import type { Charges, LimitStatus } from './limits/limit-set.ts';
import type { TokenCounts } from './limits/limit-state.ts';
import type { FailureOptions } from './provider-options.ts';
import type { StatsRecorder } from './provider-stats.ts';
import type { ModelRequest, ProviderAnswer } from './provider-types.ts';
import type { LatencyFunction } from './random.ts';
import type { PoolEntry, UnitPool } from './unit-pool.ts';

/** The objects that all attempts of one provider share. */
export interface AttemptContext {
  readonly clock: Clock;
  /** The value of `clock.now()` when the provider was made. */
  readonly startMs: number;
  readonly admission: Admission;
  readonly pool: UnitPool;
  readonly stats: StatsRecorder;
  readonly latency: LatencyFunction;
  readonly rejectLatency: LatencyFunction;
  readonly failures: readonly FailureOptions[];
  readonly latencyRandom: Random;
  readonly failureRandom: Random;
}

/** Receives the result of an attempt; only the first call counts. */
export interface AttemptListener {
  answer(answer: ProviderAnswer): void;
  fail(error: unknown): void;
}

/** One request from its arrival to its answer, rejection, failure or abort. */
export class Attempt implements PoolEntry {
  state: PoolEntry['state'] = 'gone';
  readonly #context: AttemptContext;
  readonly #request: ModelRequest;
  readonly #tokens: TokenCounts;
  readonly #listener: AttemptListener;
  readonly #arrivedMs: number;
  readonly #onAbort = () => this.#end(this.#request.signal?.reason);
  #limits: readonly LimitStatus[] = [];
  #charges: Charges | undefined;
  #timer: Timer | undefined;
  #startedMs = 0;
  #serviceMs = Number.POSITIVE_INFINITY;

  constructor(context: AttemptContext, request: ModelRequest, listener: AttemptListener) {
    const { inputTokens, maxTokens, outputTokens = maxTokens } = request;
    this.#context = context;
    this.#request = request;
    this.#tokens = { inputTokens, outputTokens };
    this.#listener = listener;
    this.#arrivedMs = this.#now();
  }

  run(): void {
    const { admission, pool, stats } = this.#context;
    const { signal } = this.#request;
    if (signal?.aborted) {
      this.#listener.fail(signal.reason);
      return;
    }
    const refusal = admission.refuse(this.#arrivedMs, this.#request, pool.hasRoom());
    stats.submitted++;
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    if (refusal !== undefined) {
      this.#reject(refusal);
      return;
    }
    this.#charges = admission.charge(this.#arrivedMs, this.#request);
    this.#limits = admission.status(this.#arrivedMs);
    stats.accept(this.#arrivedMs, this.#request.bytes ?? 0);
    this.#guard(() => this.#request.onAdmitted?.());
    if (this.#charges !== undefined) pool.enter(this);
  }

  start(): void {
    this.#startedMs = this.#now();
    this.#guard(() => {
      const { latency, latencyRandom } = this.#context;
      const serviceMs = latency(latencyRandom, this.#tokens);
      const failure = this.#drawFailure();
      this.#serviceMs = serviceMs;
      if (failure?.fault !== 'error') {
        const { outputTokens } = this.#tokens;
        this.#request.onStarted?.({ serviceMs, outputTokens, limits: this.#limits });
      }
      // The callback may have aborted the request.
      if (this.state === 'serving' && failure?.fault !== 'hang')
        this.#after(serviceMs, () => this.#finish(failure));
    });
  }

  #reject(refusal: Refusal): void {
    const { admission, stats, rejectLatency, latencyRandom } = this.#context;
    const { by, ...told } = refusal;
    stats.reject(this.#arrivedMs, by);
    // An answer to a request without a valid key names no limits.
    this.#limits = refusal.status === 401 ? [] : admission.status(this.#arrivedMs);
    this.#guard(() => {
      this.#after(rejectLatency(latencyRandom, { ...this.#tokens, outputTokens: 0 }), () =>
        this.#answer({ ...told, usage: { inputTokens: 0, outputTokens: 0 } }),
      );
    });
  }

  #finish(failure: FailureOptions | undefined): void {
    const { stats } = this.#context;
    const { inputTokens, outputTokens } = this.#tokens;
    const usage = failure === undefined ? this.#tokens : { inputTokens, outputTokens: 0 };
    if (failure === undefined) {
      stats.complete(this.#now(), inputTokens, outputTokens);
      stats.serviceMs += this.#serviceMs;
    } else stats.failed++;
    this.#release(usage);
    this.#answer({ ...this.#describe(failure), usage });
  }

  #describe(
    failure: FailureOptions | undefined,
  ): Omit<Refusal, 'by'> | { status: 200; kind: 'ok' } {
    if (failure === undefined) return { status: 200, kind: 'ok' };
    if (failure.fault === 'reset') {
      return { status: 0, kind: 'failed', code: 'ECONNRESET', message: 'The connection broke.' };
    }
    const { status = 500 } = failure;
    const message = 'The server had an error while processing the request.';
    return { status, kind: kindOfStatus(status), code: 'server_error', message };
  }

  #drawFailure(): FailureOptions | undefined {
    const { failures, failureRandom } = this.#context;
    if (failures.length === 0) return undefined;
    let left = failureRandom();
    for (const failure of failures) {
      left -= failure.probability;
      if (left < 0) return failure;
    }
    return undefined;
  }

  /** The request was aborted, or one of its callbacks threw. */
  #end(error: unknown): void {
    this.#timer?.cancel();
    this.#request.signal?.removeEventListener('abort', this.#onAbort);
    if (this.#charges !== undefined) {
      this.#context.stats.aborted++;
      this.#release(this.#producedByNow());
    }
    this.#listener.fail(error);
  }

  #producedByNow(): TokenCounts {
    const { inputTokens, outputTokens } = this.#tokens;
    if (this.state !== 'serving') return { inputTokens: 0, outputTokens: 0 };
    const part = this.#serviceMs > 0 ? (this.#now() - this.#startedMs) / this.#serviceMs : 0;
    return { inputTokens, outputTokens: Math.floor(outputTokens * Math.min(1, part)) };
  }

  #release(used: TokenCounts): void {
    const { admission, pool, stats } = this.#context;
    if (this.#charges === undefined) return;
    admission.settle(this.#now(), this.#charges, used);
    this.#charges = undefined;
    stats.inFlight--;
    pool.leave(this);
  }

  #answer(answer: Omit<ProviderAnswer, 'limits' | 'latencyMs'>): void {
    this.#request.signal?.removeEventListener('abort', this.#onAbort);
    const latencyMs = this.#now() - this.#arrivedMs;
    this.#listener.answer({ ...answer, limits: this.#limits, latencyMs });
  }

  #after(delayMs: number, callback: () => void): void {
    if (delayMs === 0) callback();
    else this.#timer = this.#context.clock.setTimer(callback, delayMs);
  }

  #guard(body: () => void): void {
    try {
      body();
    } catch (error) {
      this.#end(error);
    }
  }

  #now(): number {
    return this.#context.clock.now() - this.#context.startMs;
  }
}
