import { type LimiterOptions, mergeLimiterOptions } from 'headgate';
import { createProvider, serve } from 'headgate/simulator';
import type { Target } from './target.ts';

/** A small byte budget, so that small prompts make its gate bind. */
const MAX_BYTES = 64 * 1024;

/** The length of the provider's "minute", in ms. */
const MINUTE_MS = 3_000;

/** The requests that the provider accepts in one such minute. */
const LIMIT = 36;

/**
 * Serves a provider on this machine whose minute lasts three seconds. Its headers report the rest
 * of its limit. It rejects the burst of a client that sends everything at once, with a retry-after.
 * In the middle of the run it rejects everything with a retry-after of 2 s. A few requests get a
 * server error.
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

/** Describes limits per minute in the provider's shorter minutes. */
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
