/** What a scenario says: plain data, so that a file can hold one. */
import type {
  CapacityStep,
  LatencyOptions,
  LimitOptions,
  ProviderOptions,
} from 'headgate/simulator';

/** What of a provider a scenario may set; `createProvider` says what each option means. */
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

/** Other tenants take a part of the limits that wanders between two bounds; answers do not tell. */
export interface OtherTenants {
  /** The least they take, 0 to 1. */
  readonly least: number;
  /** The most they take, `least` to 1. */
  readonly most: number;
  /** How long they take to get from one share to the next, in milliseconds, > 0. */
  readonly everyMs: number;
}

/** How large prompts are. Tokens of both kinds are log-normal. */
export interface PromptSizes {
  /** Mean of the tokens put in, >= 1. */
  readonly inputTokens: number;
  /** Mean of the tokens put out, >= 1; `max_tokens` is what will be put out. */
  readonly outputTokens: number;
  /** Standard deviation of the logarithm; 0: all are alike. */
  readonly sigma: number;
}

/** One scenario, as a file may hold it. */
export interface ScenarioOptions {
  /** A word: letters, digits and hyphens. */
  readonly name: string;
  /** One line for a reader. */
  readonly about: string;
  /** Virtual seconds, an integer >= 1. Default 600. */
  readonly seconds?: number;
  /** Clients that know nothing of each other, an integer >= 1. Default 1. */
  readonly workers?: number;
  /**
   * Prompts that were handed over and are not answered, in all, an integer >= 1: an answer brings
   * the next. Default: a minute's capacity, but at least 100 and at most 2000.
   */
  readonly backlog?: number;
  readonly provider: ScenarioProvider;
  /** Not together with `provider.capacity`. Default: none. */
  readonly others?: OtherTenants;
  /** Default: 100 tokens in and 50 out, all alike. */
  readonly prompts?: PromptSizes;
}

/** A scenario that was checked, with every default filled in. */
export interface Scenario {
  readonly name: string;
  readonly about: string;
  readonly seconds: number;
  readonly workers: number;
  readonly backlog: number;
  readonly provider: ScenarioProvider;
  readonly others: OtherTenants | undefined;
  readonly prompts: PromptSizes;
  /** Requests a second that the provider has capacity for while nothing happens to it. */
  readonly perSecond: number;
  /** Mean of the time to an answer, in milliseconds. */
  readonly latencyMs: number;
}

/** The latency of all scenarios that do not set one. */
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

/** What an average prompt costs of a limit. */
export function meanCost({ unit }: LimitOptions, prompts: PromptSizes): number {
  const { inputTokens, outputTokens } = prompts;
  if (unit === 'requests') return 1;
  if (unit === 'input-tokens') return inputTokens;
  return unit === 'tokens' ? inputTokens + outputTokens : outputTokens;
}
