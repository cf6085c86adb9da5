import { setTimeout as sleep } from 'node:timers/promises';
import { createLimiter, createLimiterGroup, type Limiter, throttle } from 'headgate';
import { memoryStore, type SharedStore } from 'headgate/advanced';
import { createProvider, type ProviderOptions } from 'headgate/simulator';
import { from, range } from 'rxjs';

/** A state of the inspector, and the code that brings a real pipeline into it. */
export interface Scene {
  /** Starts the requests. */
  start(): void;
  /** The badge that the page must show before the picture is taken; undefined: no badge. */
  readonly badge: string | undefined;
  /** The least time that the scene runs, in ms, so that the time lines have content. */
  readonly runsMs?: number;
  /** Whether the first retried request of the list is opened. */
  readonly opensRetry?: boolean;
  /** Whether the page has controls and shows values. */
  readonly isOpen?: boolean;
}

const REQUEST = { inputTokens: 120, maxTokens: 400, outputTokens: 300, bytes: 2_000 };
const LATENCY = { meanMs: 300, sigma: 0.4 };

/** Keeps limiters from being garbage-collected, so that requests go on until the process ends. */
const limiters: unknown[] = [];

function keep<L>(limiter: L): L {
  limiters.push(limiter);
  return limiter;
}

/** A call of a simulated provider. */
function callOf(options: ProviderOptions): () => Promise<unknown> {
  const provider = createProvider({ latency: LATENCY, rejectLatencyMs: 20, ...options });
  return async () => {
    const { usage, headers } = await provider.submitOrThrow(REQUEST);
    return {
      headers,
      usage: { prompt_tokens: usage.inputTokens, completion_tokens: usage.outputTokens },
    };
  };
}

/** Sends some requests at an interval in milliseconds. */
function send(limiter: Limiter, call: () => Promise<unknown>, everyMs: number, each = 1): void {
  setInterval(() => {
    for (let request = 0; request < each; request += 1) run(limiter, call);
  }, everyMs);
}

function run(limiter: Limiter, call: () => Promise<unknown>): void {
  limiter.run(call, { bytes: REQUEST.bytes, tokens: 420 }).catch(() => {});
}

/** Requests succeed until a time, and are rejected after it. */
function failing(status: 429 | 500 | 503, retryAfterMs?: number): ProviderOptions {
  const told = retryAfterMs === undefined ? {} : { retryAfterMs };
  return {
    latency: { meanMs: 80 },
    storms: [{ fromMs: 3_000, toMs: 600_000, status, ...told }],
  };
}

const LONG =
  'projects/an-organisation-with-a-long-name/locations/europe-west4/publishers/somebody/models/a-very-large-model-with-vision-and-tools-2026-11-preview-'.padEnd(
    200,
    'x',
  );

/** Workers of one key with different loads, as if each were a separate process. */
function startFleet(store: SharedStore): void {
  const hosts = ['build-7:4711', 'build-7:4712', 'ip-10-0-3-84.eu-west-1:912', 'laptop:20418'];
  const call = callOf({});
  for (const [place, worker] of hosts.entries()) {
    const name = place === 0 ? 'chat' : `chat of ${worker}`;
    const shared = { ...store, worker };
    const options = { name, concurrency: 40, requestsPerMinute: 6_000, shared };
    send(keep(createLimiter(options)), call, 80 + place * 60, place === 0 ? 12 : 2);
  }
}

export const SCENES: Readonly<Record<string, Scene>> = {
  empty: { badge: undefined, start() {} },
  idle: {
    badge: 'Idle',
    runsMs: 9_000,
    start() {
      const limiter = keep(createLimiter({ name: 'chat', concurrency: 50 }));
      const call = callOf({});
      for (let request = 0; request < 120; request += 1) run(limiter, call);
    },
  },
  unused: {
    badge: 'Idle',
    start() {
      keep(createLimiter({ name: 'chat', concurrency: 50 }));
    },
  },
  flowing: {
    badge: 'Flowing',
    start() {
      const options = { name: 'chat', concurrency: 50, requestsPerMinute: 6_000 };
      send(keep(createLimiter(options)), callOf({}), 60, 3);
    },
  },
  held: {
    badge: 'Held back',
    start() {
      const options = { name: 'chat', requestsPerMinute: 500, tokensPerMinute: 20_000 };
      const limiter = keep(createLimiter(options));
      const call = callOf({});
      for (let request = 0; request < 123; request += 1) run(limiter, call);
      send(limiter, call, 900);
    },
  },
  slots: {
    badge: 'Held back',
    start() {
      const limiter = keep(createLimiter({ name: 'evaluation', concurrency: 8 }));
      send(limiter, callOf({}), 100, 4);
    },
  },
  storm: {
    badge: 'Throttled',
    runsMs: 12_000,
    opensRetry: true,
    start() {
      const call = callOf({
        latency: { meanMs: 120, sigma: 0.4 },
        limits: [{ unit: 'requests', algorithm: 'token-bucket', limit: 20, windowMs: 1_000 }],
      });
      const prompts = from(Array.from({ length: 5_000 }, (_, index) => `prompt ${index}`));
      prompts.pipe(throttle(call, { name: 'chat', concurrency: 64, outcomes: true })).subscribe();
    },
  },
  backoff: {
    badge: 'Backing off',
    start() {
      const limiter = keep(createLimiter({ name: 'chat', concurrency: 20, adaptive: false }));
      send(limiter, callOf(failing(429, 90_000)), 50);
    },
  },
  throttled: {
    badge: 'Throttled',
    runsMs: 11_000,
    opensRetry: true,
    start() {
      const limiter = keep(createLimiter({ name: 'chat', concurrency: 40, adaptive: false }));
      const call = callOf({
        latency: { meanMs: 900, sigma: 0.3 },
        storms: [{ fromMs: 2_000, toMs: 2_600, status: 429, retryAfterMs: 4_000 }],
      });
      send(limiter, call, 60);
    },
  },
  outage: {
    badge: 'Outage',
    start() {
      const limiter = keep(createLimiter({ name: 'chat', concurrency: 20 }));
      send(limiter, callOf(failing(429)), 40);
    },
  },
  unreachable: {
    badge: 'Outage',
    runsMs: 11_000,
    start() {
      const limiter = keep(createLimiter({ name: 'chat', concurrency: 20 }));
      const call = callOf({ latency: { meanMs: 80 } });
      const endsAt = Date.now() + 3_000;
      const cut = () => {
        if (Date.now() < endsAt) return call();
        const error = new Error('connect ECONNREFUSED');
        return Promise.reject(Object.assign(error, { code: 'ECONNREFUSED' }));
      };
      send(limiter, cut, 40);
    },
  },
  suspended: {
    badge: 'Suspended',
    start() {
      const options = { name: 'chat', concurrency: 20, onLongWait: 'wait' } as const;
      send(keep(createLimiter(options)), callOf(failing(429, 7_200_000)), 40);
    },
  },
  refused: {
    badge: 'Suspended',
    start() {
      const limiter = keep(createLimiter({ name: 'chat', concurrency: 20 }));
      send(limiter, callOf(failing(429, 7_200_000)), 40);
    },
  },
  circuit: {
    badge: 'Circuit open',
    start() {
      const options = {
        name: 'chat',
        concurrency: 20,
        circuitBreaker: { onOpen: 'wait' },
      } as const;
      send(keep(createLimiter(options)), callOf(failing(500)), 40);
    },
  },
  paused: {
    badge: 'Paused',
    isOpen: true,
    start() {
      const limiter = keep(createLimiter({ name: 'chat', requestsPerMinute: 6_000 }));
      send(limiter, callOf({}), 30);
      setTimeout(() => limiter.pause('a look at the answers'), 4_000);
    },
  },
  draining: {
    badge: 'Draining',
    start() {
      const limiter = keep(createLimiter({ name: 'chat', requestsPerMinute: 300 }));
      const call = callOf({});
      for (let request = 0; request < 900; request += 1) run(limiter, call);
      setTimeout(() => limiter.close({ waiting: 'send' }), 3_000);
    },
  },
  fifty: {
    badge: 'Held back',
    start() {
      for (let each = 0; each < 50; each += 1) {
        const name = `model-${each} of provider ${each % 5}`;
        const limiter = keep(createLimiter({ name, concurrency: 4, requestsPerMinute: 600 }));
        send(limiter, callOf({}), 60 + each * 40);
      }
    },
  },
  long: {
    badge: 'Held back',
    start() {
      const limit = `limit-of-${'requests-'.repeat(21)}`.slice(0, 200);
      const limiter = keep(
        createLimiter({
          name: LONG,
          limits: {
            [limit]: { limit: 100, windowMs: 60_000 },
            requests: { limit: 50, windowMs: 1_000 },
          },
        }),
      );
      const call = callOf({});
      setInterval(() => {
        limiter.run(call, { bytes: 2_000, costs: { [limit]: 1 } }).catch(() => {});
      }, 50);
    },
  },
  million: {
    badge: 'Held back',
    start() {
      const options = { name: 'batch', concurrency: 100, total: 1_000_000 };
      range(0, 1_000_000)
        .pipe(keep(createLimiter(options)).throttle(callOf({}), { outcomes: true }))
        .subscribe();
    },
  },
  groups: {
    badge: 'Held back',
    isOpen: true,
    start() {
      const group = keep(
        createLimiterGroup((model: string) => model, {
          name: 'models',
          each: () => ({ requestsPerMinute: 300 }),
          shared: { concurrency: 20 },
        }),
      );
      const call = callOf({});
      const models = ['gpt-5-mini', 'claude-4', 'gemini-3'];
      setInterval(() => {
        for (const model of models) group.run(model, call).catch(() => {});
      }, 90);
    },
  },
  fleet: {
    badge: 'Held back',
    runsMs: 12_000,
    start() {
      startFleet(memoryStore());
    },
  },
  fleetAway: {
    badge: 'Held back',
    runsMs: 16_000,
    start() {
      const store = memoryStore();
      const cutAt = Date.now() + 8_000;
      const cut = <R>(call: () => R): R => {
        if (Date.now() > cutAt) throw new Error('connect ECONNREFUSED 10.0.3.2:6379');
        return call();
      };
      startFleet({
        ...store,
        exchange: (request) => cut(() => store.exchange(request)),
        workers: () => cut(() => store.workers?.() ?? []),
      });
    },
  },
  ended: {
    badge: 'Ended',
    runsMs: 9_000,
    start() {
      range(0, 400)
        .pipe(throttle(callOf({}), { name: 'labels', concurrency: 40, outcomes: true }))
        .subscribe();
    },
  },
};

/** Waits longer than a scene runs. */
export function running({ runsMs = 7_000 }: Scene): Promise<void> {
  return sleep(runsMs);
}
