import { checkBoolean, checkInteger } from '../util/check.ts';
import { type Clock, type Random, systemClock } from '../util/clock.ts';
import { Admission } from './admission.ts';
import { answerHeaders, type HeaderStyle } from './answer-headers.ts';
import { Attempt, type AttemptContext } from './attempt.ts';
import { checkProviderOptions, type ProviderOptions } from './provider-options.ts';
import { type ProviderCapacity, type ProviderStats, StatsRecorder } from './provider-stats.ts';
import {
  type AnswerWithHeaders,
  type ModelRequest,
  type Provider,
  type ProviderAnswer,
  ProviderError,
} from './provider-types.ts';
import { makeLatency, seededRandom } from './random.ts';
import { UnitPool } from './unit-pool.ts';

/** Independent random streams from one seed, so that a draw from one does not change another. */
function makeStreams(seed: number): () => Random {
  const root = seededRandom(seed);
  return () => seededRandom(Math.floor(root() * 2 ** 32));
}

function checkRequest(request: ModelRequest): void {
  checkInteger('inputTokens', request.inputTokens, 0);
  checkInteger('maxTokens', request.maxTokens, 0);
  if (request.bytes !== undefined) checkInteger('bytes', request.bytes, 0);
  const { outputTokens } = request;
  if (
    outputTokens !== undefined &&
    checkInteger('outputTokens', outputTokens, 0) > request.maxTokens
  ) {
    throw new RangeError(
      `\`outputTokens\` must be at most \`maxTokens\` (${request.maxTokens}), got ${outputTokens}`,
    );
  }
}

/**
 * A model provider with real limits, on an injected clock: it admits or rejects requests, queues
 * them for its units, answers after a latency, and fails as its options say.
 * The same seed and the same requests at the same times give the same answers.
 *
 * ```ts
 * const clock = new ManualClock();
 * const provider = createProvider({
 *   clock,
 *   limits: [{ unit: 'requests', algorithm: 'sliding-window', limit: 600, windowMs: 60_000 }],
 *   latency: { meanMs: 3400, sigma: 0.5 },
 * });
 * const answer = provider.submit({ inputTokens: 100, maxTokens: 50 });
 * await clock.runAllAsync();
 * (await answer).kind; // 'ok'
 * ```
 *
 * @throws RangeError or TypeError that names the option, its bound and the value it got
 */
export function createProvider(options: ProviderOptions = {}): Provider {
  checkProviderOptions(options);
  if (options.countRejected !== undefined) checkBoolean('countRejected', options.countRejected);
  return new SimulatedProvider(options);
}

class SimulatedProvider implements Provider {
  readonly clock: Clock;
  readonly seed: number;
  readonly #units: number;
  readonly #headers: HeaderStyle;
  readonly #context: AttemptContext;

  constructor(options: ProviderOptions) {
    this.clock = options.clock ?? systemClock;
    this.seed = options.seed ?? 1;
    this.#units = options.concurrency?.units ?? Number.POSITIVE_INFINITY;
    this.#headers = options.headers ?? 'openai';
    const nextStream = makeStreams(this.seed);
    this.#context = {
      clock: this.clock,
      startMs: this.clock.now(),
      admission: new Admission(options, nextStream()),
      pool: new UnitPool(options.concurrency ?? { units: this.#units }),
      stats: new StatsRecorder(),
      latency: makeLatency('latency', options.latency ?? 0),
      rejectLatency: makeLatency('rejectLatencyMs', options.rejectLatencyMs ?? 0),
      failures: options.failures ?? [],
      latencyRandom: nextStream(),
      failureRandom: nextStream(),
    };
  }

  authorises(apiKey: string | undefined): boolean {
    return this.#context.admission.knows(apiKey);
  }

  submit(request: ModelRequest): Promise<ProviderAnswer> {
    return new Promise((resolve, reject) => {
      checkRequest(request);
      new Attempt(this.#context, request, { answer: resolve, fail: reject }).run();
    });
  }

  async submitOrThrow(request: ModelRequest): Promise<AnswerWithHeaders> {
    const answer = await this.submit(request);
    const { clock, startMs } = this.#context;
    const headers = answerHeaders(this.#headers, answer, clock.now() - startMs);
    if (answer.kind !== 'ok') throw new ProviderError(answer, headers);
    return { ...answer, headers };
  }

  waitMs(request: ModelRequest): number {
    checkRequest(request);
    const { admission, clock, pool, startMs } = this.#context;
    return admission.waitMs(clock.now() - startMs, request, pool.hasRoom());
  }

  stats(): ProviderStats {
    const { clock, startMs, pool, stats } = this.#context;
    const elapsedMs = clock.now() - startMs;
    return stats.snapshot(elapsedMs, pool.waiting, this.#capacity(elapsedMs));
  }

  #capacity(elapsedMs: number): ProviderCapacity {
    const { admission, stats } = this.#context;
    const byUnits =
      stats.serviceMs > 0
        ? (this.#units * admission.openMs(elapsedMs) * stats.completed) / stats.serviceMs
        : Number.POSITIVE_INFINITY;
    return {
      requests: Math.min(byUnits, admission.allowed('requests', elapsedMs)),
      tokens: admission.allowed('tokens', elapsedMs),
    };
  }
}
