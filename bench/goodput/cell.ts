/** One client, or several workers of it, in one scenario: what they are handed, and what comes of it. */
import {
  createProvider,
  type Provider,
  type ProviderStats,
  seededRandom,
} from 'headgate/simulator';
import type { Client, ClientContext } from './client.ts';
import { type Prompt, promptSource, requestOf } from './prompts.ts';
import type { Scenario } from './scenario.ts';
import { leftByOthers } from './tenants.ts';
import type { VirtualTime } from './virtual-time.ts';

/** What came of it. */
export interface CellRun {
  /**
   * What was let in and answered well (or is still being answered at the end), in % of what the
   * limit that binds allowed. The bursts that limits start with come on top.
   */
  readonly goodput: number;
  readonly successes: number;
  /** Attempts that were turned away with 429 or 503. */
  readonly rejected: number;
  /** How often the client gave a prompt up, which was handed over to it again. */
  readonly lost: number;
  /** Median of the time from a prompt's handing over to the attempt that was answered well. */
  readonly waitP50Ms: number;
  /** What one wait in a hundred exceeds. */
  readonly waitP99Ms: number;
}

/** How soon a prompt that was given up is handed over again. */
const LOST_MS = 1;

/** Independent streams of chance from one seed. */
const STREAMS = { client: 1, prompts: 2, others: 3 } as const;

export function streamSeed(seed: number, stream: keyof typeof STREAMS, index = 0): number {
  return seed * 1_000_003 + STREAMS[stream] * 1009 + index;
}

export class Cell {
  readonly #scenario: Scenario;
  readonly #seed: number;
  readonly #time: VirtualTime;
  readonly #provider: Provider;
  readonly #nextPrompt: () => Prompt;
  readonly #handedAt = new Map<Prompt, number>();
  readonly #waitsMs: number[] = [];
  /** Prompts that there are yet to hand over. */
  #supply: number;
  #tokens = 0;
  #lastAnswerMs = 0;
  #lost = 0;
  #error: unknown;

  constructor(
    scenario: Scenario,
    client: Client,
    seed: number,
    time: VirtualTime,
    supply = Number.POSITIVE_INFINITY,
  ) {
    const { others, provider, prompts, seconds } = scenario;
    const { headers = 'openai', ...options } = provider;
    this.#scenario = scenario;
    this.#seed = seed;
    this.#time = time;
    this.#supply = supply;
    this.#nextPrompt = promptSource(prompts, seededRandom(streamSeed(seed, 'prompts')));
    this.#provider = createProvider({
      ...options,
      ...(others && { capacity: leftByOthers(others, streamSeed(seed, 'others'), seconds) }),
      // Those who do not follow limits see none: what they reach, they reach without.
      headers: client.knows === 'headers' || headers === 'none' ? headers : 'retry-after',
      clock: time.clock,
      seed,
    });
  }

  /** Makes one worker and hands it its backlog. */
  open(start: Awaited<ReturnType<Client['load']>>, worker: number): void {
    const { backlog, workers } = this.#scenario;
    const hand = () => {
      if (this.#supply === 0) return;
      this.#supply--;
      const prompt = this.#nextPrompt();
      this.#handedAt.set(prompt, this.#time.clock.now());
      handOver(prompt);
    };
    const context: ClientContext = {
      scenario: this.#scenario,
      clock: this.#time.clock,
      random: seededRandom(streamSeed(this.#seed, 'client', worker)),
      send: (prompt) => this.#send(prompt, hand),
      lost: (prompt) => {
        this.#lost++;
        // Later, so that a client which gives up at once does not stop time.
        this.#time.clock.setTimer(() => handOver(prompt), LOST_MS);
      },
      failed: (error) => {
        this.#error ??= error;
      },
      waitMs: (prompt) => this.#provider.waitMs(requestOf(prompt)),
    };
    const handOver = start(context);
    for (let index = 0; index < Math.ceil(backlog / workers); index++) hand();
  }

  /** Whether every prompt was answered. */
  get isFinished(): boolean {
    return this.#supply === 0 && this.#handedAt.size === 0;
  }

  get lastAnswerMs(): number {
    return this.#lastAnswerMs;
  }

  result(): CellRun {
    if (this.#error !== undefined) throw this.#error;
    const stats = this.#provider.stats();
    const waitsMs = this.#waitsMs.sort((a, b) => a - b);
    return {
      goodput: 100 * this.#shareOf(stats),
      successes: stats.completed + stats.inFlight,
      rejected: stats.rejected,
      lost: this.#lost,
      waitP50Ms: quantile(waitsMs, 0.5),
      waitP99Ms: quantile(waitsMs, 0.99),
    };
  }

  async #send(prompt: Prompt, hand: () => void) {
    const request = requestOf(prompt);
    const sentAt = this.#time.clock.now();
    const answer = await this.#provider.submitOrThrow({
      ...request,
      onAdmitted: () => {
        this.#tokens += request.inputTokens + request.maxTokens;
      },
    });
    const handedAt = this.#handedAt.get(prompt);
    if (handedAt !== undefined) {
      this.#lastAnswerMs = this.#time.clock.now();
      this.#waitsMs.push(sentAt - handedAt);
      this.#handedAt.delete(prompt);
      // The client hears of the answer before it is given the next prompt.
      queueMicrotask(hand);
    }
    return answer;
  }

  /** Of the limit that binds. Prompts that fail by chance are no goodput, but have cost tokens. */
  #shareOf({ capacity, completed, inFlight }: ProviderStats): number {
    return Math.max((completed + inFlight) / capacity.requests, this.#tokens / capacity.tokens);
  }
}

/** Of ascending values; 0 of none. */
function quantile(values: readonly number[], part: number): number {
  return values[Math.min(values.length - 1, Math.floor(part * values.length))] ?? 0;
}
