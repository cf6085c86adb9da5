/** The space of providers. A seed draws one provider and its requests. */
import type { Random } from 'headgate';
import { seededRandom } from 'headgate/simulator';

export const KINDS = [
  'token-bucket',
  'gcra',
  'aligned-window',
  'first-charge-window',
  'sliding-log',
  'sliding-counter',
  'cap',
  'two-limits',
  'requests-and-tokens',
] as const;
export type Kind = (typeof KINDS)[number];

export const HEADERS = [
  'nothing',
  'openai',
  'anthropic',
  'ietf',
  'retry-exact',
  'retry-seconds',
  'retry-short',
  'retry-long',
] as const;
export type HeaderStyle = (typeof HEADERS)[number];

export const LOADS = ['saturated', 'bursts', 'sine'] as const;
export type Load = (typeof LOADS)[number];

export const CHANGES = ['none', 'halved', 'steps', 'drift', 'tenants'] as const;
export type Change = (typeof CHANGES)[number];

export const OUTAGES = ['none', '503', '429'] as const;
export type OutageKind = (typeof OUTAGES)[number];

/** One provider and its load, as plain numbers. Times in ms, rates per ms. */
export interface Scenario {
  readonly seed: number;
  readonly kind: Kind;
  /** The mean rate of admitted requests; for a cap, at the mean latency. */
  readonly perMs: number;
  readonly windowMs: number;
  /** Requests in a window; for a cap, requests in flight. */
  readonly limit: number;
  /** The capacity of a bucket, in requests. */
  readonly burst: number;
  /** The phase of an aligned window at the start, as a share of its length. */
  readonly phase: number;
  /**
   * For `two-limits`: the rate of the longer window over that of the shorter; the same for tokens.
   */
  readonly secondRatio: number;
  readonly latencyMs: number;
  readonly latencySigma: number;
  readonly networkMs: number;
  readonly networkJitter: number;
  readonly rejectionMs: number;
  readonly countsRejected: boolean;
  readonly headers: HeaderStyle;
  readonly load: Load;
  /** The requests of one burst, and the mean rate of bursts as a share of the limit. */
  readonly burstRequests: number;
  readonly burstLoad: number;
  readonly change: Change;
  readonly outage: OutageKind;
  readonly outageFromMs: number;
  readonly outageMs: number;
  /** The mean ratio of an estimate to the actual cost of a request. */
  readonly estimateBias: number;
  /** The length of the run, in requests that the provider admits without change and outage. */
  readonly requests: number;
  readonly horizonMs: number;
}

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
/** The least number of bursts in a run, each followed by idle time. */
const FEWEST_BURSTS = 4;

export function drawScenario(seed: number): Scenario {
  const random = seededRandom(seed * 7_919 + 17);
  // Skip the first numbers, which are alike for neighbouring seeds.
  for (let index = 0; index < 16; index += 1) random();
  const kind = oneOf(random, KINDS);
  const askedPerMs = logUniform(random, 1 / 60_000, 2);
  const spanMs = 1 / askedPerMs;
  const shortestMs = Math.max(SECOND_MS / 2, 2 * spanMs);
  const windowMs = logUniform(
    random,
    shortestMs,
    Math.max(shortestMs, Math.min(HOUR_MS, 2_000 * spanMs)),
  );
  const latencyMs = logUniform(random, 5, Math.max(5, Math.min(60 * SECOND_MS, 1_500 * spanMs)));
  const isCap = kind === 'cap';
  const limit = Math.max(1, Math.round(askedPerMs * (isCap ? latencyMs : windowMs)));
  const perMs = limit / (isCap ? latencyMs : windowMs);
  const isSpaced = kind === 'gcra' && random() < 0.5;
  const burst = isSpaced ? 1 : Math.max(1, 2 * random() * limit);
  const countsRejected = random() < 0.3;
  const headers = random() < 0.4 ? 'nothing' : oneOf(random, HEADERS.slice(1));
  const load = weighted(random, { saturated: 0.6, bursts: 0.25, sine: 0.15 });
  const change =
    random() < 0.55 ? 'none' : oneOf(random, ['halved', 'steps', 'drift', 'tenants'] as const);
  const outage = weighted(random, { none: 0.75, '503': 0.1, '429': 0.15 });
  const outageMs = outage === 'none' ? 0 : logUniform(random, 20 * SECOND_MS, 120 * SECOND_MS);
  const asked = Math.round(logUniform(random, 1_500, 20_000));
  const openMs = Math.max(asked / perMs, isCap ? 0 : 5 * windowMs, 25 * latencyMs);
  const requests = Math.round(openMs * perMs);
  return {
    seed,
    kind,
    perMs,
    windowMs,
    limit,
    burst,
    phase: random(),
    secondRatio: logUniform(random, 0.5, 2),
    latencyMs,
    latencySigma: 0.05 + 0.75 * random(),
    networkMs: logUniform(random, 1, 80),
    networkJitter: random() / 2,
    rejectionMs: logUniform(random, 5, 5_000),
    countsRejected,
    headers,
    load,
    ...drawBursts(random, limit, requests),
    change,
    outage,
    outageFromMs: openMs * (0.2 + 0.4 * random()),
    outageMs,
    estimateBias: logUniform(random, 0.5, 2),
    requests,
    horizonMs: openMs + outageMs,
  };
}

/** The size of bursts, from a fifth of the limit to a quarter of all requests of the run. */
function drawBursts(
  random: Random,
  limit: number,
  requests: number,
): Pick<Scenario, 'burstRequests' | 'burstLoad'> {
  const size = random();
  const burstLoad = 0.2 + 0.6 * random();
  const least = limit / 5;
  const most = Math.max(least, (burstLoad * requests) / FEWEST_BURSTS);
  const burstRequests = Math.max(2, Math.round(least * (most / least) ** size));
  return { burstRequests, burstLoad };
}

function logUniform(random: Random, low: number, high: number): number {
  return low * (high / low) ** random();
}

function oneOf<T>(random: Random, values: readonly T[]): T {
  return values[Math.floor(random() * values.length)] as T;
}

function weighted<K extends string>(random: Random, weights: Record<K, number>): K {
  let left = random();
  let last: K | undefined;
  for (const key of Object.keys(weights) as K[]) {
    last = key;
    left -= weights[key];
    if (left < 0) break;
  }
  return last as K;
}
