/** The format of a scenario: plain data, so that it can be stored as JSON. */
import type {
  CapacityStep,
  LatencyOptions,
  LimitOptions,
  ProviderOptions,
} from 'headgate/simulator';

/** The options of a provider that a scenario may set. `createProvider` documents them. */
export interface ScenarioProvider
  extends Pick<
    ProviderOptions,
    'limits' | 'countRejected' | 'concurrency' | 'storms' | 'retryAfter' | 'headers'
  > {
  /** Default: log-normal, mean 3.4 s. */
  readonly latency?: number | LatencyOptions;
  /** Default 0. */
  readonly rejectLatencyMs?: number | LatencyOptions;
  readonly capacity?: readonly CapacityStep[];
}

/**
 * Other tenants use a share of the limits that moves between two bounds. Answers do not reveal it.
 */
export interface OtherTenants {
  /** The smallest share, 0 to 1. */
  readonly least: number;
  /** The greatest share, `least` to 1. */
  readonly most: number;
  /** The time from one share to the next, in milliseconds, > 0. */
  readonly everyMs: number;
}

/** The sizes of prompts. Input and output tokens are log-normal. */
export interface PromptSizes {
  /** The mean number of input tokens, >= 1. */
  readonly inputTokens: number;
  /** The mean number of output tokens, >= 1. Each request's `max_tokens` is its actual output. */
  readonly outputTokens: number;
  /** The standard deviation of the logarithm; 0: all prompts have the same size. */
  readonly sigma: number;
}

/** One scenario, as written in a file. */
export interface ScenarioOptions {
  /** A word: letters, digits and hyphens. */
  readonly name: string;
  /** A description in one line. */
  readonly about: string;
  /** Virtual seconds, an integer >= 1. Default 600. */
  readonly seconds?: number;
  /** The number of independent clients, an integer >= 1. Default 1. */
  readonly workers?: number;
  /**
   * The number of submitted and unanswered prompts of all clients, an integer >= 1. Each answer
   * brings the next prompt. Default: a minute's capacity, at least 100 and at most 2000.
   */
  readonly backlog?: number;
  readonly provider: ScenarioProvider;
  /** Not together with `provider.capacity`. Default: none. */
  readonly others?: OtherTenants;
  /** Default: 100 input and 50 output tokens, all of the same size. */
  readonly prompts?: PromptSizes;
}

/** A checked scenario with all defaults filled in. */
export interface Scenario {
  readonly name: string;
  readonly about: string;
  readonly seconds: number;
  readonly workers: number;
  readonly backlog: number;
  readonly provider: ScenarioProvider;
  readonly others: OtherTenants | undefined;
  readonly prompts: PromptSizes;
  /** The provider's capacity in requests a second, without changes. */
  readonly perSecond: number;
  /** The mean answer time, in milliseconds. */
  readonly latencyMs: number;
}

/** The default latency of scenarios. */
const LATENCY: LatencyOptions = { meanMs: 3400, sigma: 0.5 };
const PROMPTS: PromptSizes = { inputTokens: 100, outputTokens: 50, sigma: 0 };

export function complete(options: ScenarioOptions): Scenario {
  const { prompts = PROMPTS, seconds = 600, workers = 1 } = options;
  const provider = { ...options.provider, latency: options.provider.latency ?? LATENCY };
  const latencyMs = meanLatencyMs(provider.latency);
  const perSecond = capacityPerSecond(provider, prompts, latencyMs);
  return {
    name: options.name,
    about: options.about,
    seconds,
    workers,
    backlog: options.backlog ?? Math.min(2000, Math.max(100, Math.ceil(60 * perSecond))),
    provider,
    others: options.others,
    prompts,
    perSecond,
    latencyMs,
  };
}

function meanLatencyMs(latency: number | LatencyOptions): number {
  return typeof latency === 'number' ? latency : (latency.meanMs ?? 0);
}

function capacityPerSecond(
  { limits = [], concurrency }: ScenarioProvider,
  prompts: PromptSizes,
  latencyMs: number,
): number {
  const rates = limits.map(
    (limit) => (limit.limit * 1000) / limit.windowMs / meanCost(limit, prompts),
  );
  if (concurrency !== undefined) rates.push((concurrency.units * 1000) / latencyMs);
  return Math.min(...rates);
}

/** The cost of an average prompt under a limit. */
export function meanCost({ unit }: LimitOptions, prompts: PromptSizes): number {
  const { inputTokens, outputTokens } = prompts;
  if (unit === 'requests') return 1;
  if (unit === 'input-tokens') return inputTokens;
  return unit === 'tokens' ? inputTokens + outputTokens : outputTokens;
}
