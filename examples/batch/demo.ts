import { type LimiterOptions, mergeLimiterOptions } from 'headgate';
import { createProvider, serve } from 'headgate/simulator';
import type { Target } from './target.ts';

/** The prompts are small, so the byte budget must be too, for its gate to be seen at work. */
const MAX_BYTES = 64 * 1024;

/** How long a minute of the provider lasts. */
const MINUTE_MS = 3_000;

/** Requests that it takes in one. */
const LIMIT = 36;

/**
 * Serves a provider on this machine whose minute lasts three seconds. Its headers tell what is left
 * of its limit; the burst of a client that sends all at once is rejected with a retry-after; in the
 * middle it says 429 to everyone, and to come back in 2 s; a few requests meet a server error.
 */
export async function startDemo(seed: number): Promise<Target> {
  const provider = createProvider({
    seed,
    limits: [{ unit: 'requests', algorithm: 'token-bucket', limit: LIMIT, windowMs: MINUTE_MS }],
    latency: { meanMs: 250, sigma: 0.5, perOutputTokenMs: 1 },
    rejectLatencyMs: { meanMs: 20 },
    storms: [{ fromMs: 6_000, toMs: 7_500, status: 429, retryAfterMs: 2_000 }],
    failures: [{ fault: 'error', probability: 0.02, status: 502 }],
  });
  const server = await serve(provider);
  return {
    baseUrl: `${server.url}/v1`,
    apiKey: undefined,
    about: 'a simulated provider: 12 requests/s, 2 % 502, and 429 to everyone from 6.0 s to 7.5 s',
    limitsOf: inItsTime,
    capacity: () => provider.stats().capacity.requests,
    close: () => server.close(),
  };
}

/** What is said of a minute, said of the provider's. */
export function inItsTime(chosen: LimiterOptions): LimiterOptions {
  const { requestsPerMinute, tokensPerMinute, ...others } = chosen;
  const windowMs = MINUTE_MS;
  const limits = {
    ...others.limits,
    ...(requestsPerMinute !== undefined && { requests: { limit: requestsPerMinute, windowMs } }),
    ...(tokensPerMinute !== undefined && {
      tokens: { limit: tokensPerMinute, windowMs, charge: 'settle' as const },
    }),
  };
  return mergeLimiterOptions(
    { ...others, ...(Object.keys(limits).length > 0 && { limits }) },
    {
      maxBytes: MAX_BYTES,
      ...(strategyOf(chosen) === 'failures' && {
        adaptive: { strategy: 'failures', failureWindowMs: MINUTE_MS, coolingMs: MINUTE_MS },
      }),
    },
  );
}

function strategyOf({ adaptive }: LimiterOptions): unknown {
  return typeof adaptive === 'object' ? adaptive.strategy : adaptive;
}
