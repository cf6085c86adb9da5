/**
 * Runs one client, or several workers of it, in one scenario: submits prompts and collects results.
 */
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

/** The result of a run. */
export interface CellRun {
  /**
   * The accepted requests that succeeded, or were still running at the end, in % of what the
   * binding limit allowed. The initial bursts of limits are not part of the allowed amount.
   */
  readonly goodput: number;
  readonly successes: number;
  /** Attempts that were rejected with 429 or 503. */
  readonly rejected: number;
  /** How often the client gave up a prompt. Each such prompt was submitted again. */
  readonly lost: number;
  /** The median time from submitting a prompt to the start of its successful attempt. */
  readonly waitP50Ms: number;
  /** The 99th percentile of these waits. */
  readonly waitP99Ms: number;
}

/** The delay after which a prompt that was given up is submitted again. */
const LOST_MS = 1;

/** Independent streams of random numbers from one seed. */
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
  /** The number of prompts not yet submitted. */
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
      // Clients that do not read rate-limit headers get answers without them.
      headers: client.knows === 'headers' || headers === 'none' ? headers : 'retry-after',
      clock: time.clock,
      seed,
    });
  }

  /** Starts one worker and submits its backlog. */
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
        // Submit it later: a client that gives up at once would otherwise loop without time
        // passing.
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
      // Deliver the answer to the client before the next prompt.
      queueMicrotask(hand);
    }
    return answer;
  }

  /**
   * The amount of the binding limit. Prompts that fail at random are not goodput, but cost tokens.
   */
  #shareOf({ capacity, completed, inFlight }: ProviderStats): number {
    return Math.max((completed + inFlight) / capacity.requests, this.#tokens / capacity.tokens);
  }
}

/** The quantile of ascending values; 0 if there are none. */
function quantile(values: readonly number[], part: number): number {
  return values[Math.min(values.length - 1, Math.floor(part * values.length))] ?? 0;
}
