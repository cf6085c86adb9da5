import { createLimiter, type Limiter } from 'headgate';
import { createProvider, type ProviderOptions } from 'headgate/simulator';
import { startTelemetry } from 'headgate/telemetry';
import { type Fleet, openStore, startFleet } from './fleet.ts';
import { SHARED_LIMITS } from './shared-limits.ts';

const REQUEST = { inputTokens: 120, maxTokens: 400, outputTokens: 300, bytes: 1_700 };

/** The names of the limiters. The second is the one that the dashboard "why slow" shows. */
export const LIMITERS = ['batch', 'chat'];

function callOf(options: ProviderOptions): () => Promise<unknown> {
  const provider = createProvider({
    latency: { meanMs: 350, sigma: 0.5 },
    rejectLatencyMs: 20,
    ...options,
  });
  return async () => {
    const { usage, headers } = await provider.submitOrThrow(REQUEST);
    return {
      headers,
      usage: { prompt_tokens: usage.inputTokens, completion_tokens: usage.outputTokens },
    };
  };
}

function send(limiter: Limiter, call: () => Promise<unknown>, everyMs: number): () => void {
  const timer = setInterval(() => {
    limiter.run(call, { bytes: REQUEST.bytes }).catch(() => {});
  }, everyMs);
  return () => clearInterval(timer);
}

interface Run {
  /** The addresses of the metrics pages of all processes. */
  readonly urls: Fleet['urls'];
  stop(): Promise<void>;
}

/**
 * Starts a run with everything that the dashboards show: a limiter whose provider answers 429 for
 * some seconds, is unreachable for others, and fails now and then; and a limiter with configured
 * limits and a circuit breaker, which opens, and whose limits other processes share through a
 * Redis.
 * @returns the addresses of the metrics, and a function that ends the run
 */
export async function startRun(): Promise<Run> {
  const fleet = await startFleet();
  const telemetry = await startTelemetry({ serviceName: 'pictures', prometheusPort: 0 });
  const chat = createLimiter({ name: 'chat', concurrency: 32, maxBytes: 100_000 });
  const store = await openStore(fleet.redisUrl);
  const batch = createLimiter({
    name: 'batch',
    adaptive: false,
    ...SHARED_LIMITS,
    total: 2_000,
    shared: store.shared,
    circuitBreaker: { onOpen: 'wait', openMs: 6_000 },
  });
  const stops = [
    send(
      chat,
      callOf({
        limits: [{ unit: 'requests', algorithm: 'token-bucket', limit: 25, windowMs: 1_000 }],
        storms: [{ fromMs: 40_000, toMs: 48_000, status: 429 }],
        failures: [
          { fault: 'error', probability: 0.03, status: 502 },
          { fault: 'error', probability: 0.02, status: 400 },
        ],
      }),
      35,
    ),
    send(
      batch,
      callOf({
        storms: [
          { fromMs: 18_000, toMs: 18_600, status: 429, retryAfterMs: 3_000 },
          { fromMs: 50_000, toMs: 58_000, status: 500 },
        ],
      }),
      140,
    ),
  ];
  return {
    urls: [telemetry.prometheusUrl ?? '', ...fleet.urls],
    async stop() {
      for (const each of stops) each();
      for (const each of [chat, batch]) each.close();
      await telemetry.shutdown();
      store.close();
      await fleet.stop();
    },
  };
}
