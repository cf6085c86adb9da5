import { Observable } from 'rxjs';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import type { SharedStore } from '../../src/fleet/shared-store.ts';
import { createLimiter, type Limiter } from '../../src/index.ts';
import {
  createProvider,
  ManualClock,
  type ProviderOptions,
  seededRandom,
} from '../../src/simulator/index.ts';
import { limit, type Rate } from '../limiter/adaptive/world.ts';

const REQUEST = { inputTokens: 1, maxTokens: 1, outputTokens: 1 };
const WINDOW_MS = 60_000;

/** A provider whose answers go on for long after their headers, and its workers. */
export interface Streams {
  readonly algorithm: Rate;
  readonly perMinute: number;
  readonly headers: NonNullable<ProviderOptions['headers']>;
  /** 0: one process without a store. */
  readonly workers: number;
  /** Whether the workers are configured with the limit. */
  readonly isKnown: boolean;
  /** Requests in flight at each worker; default: more than the limit lets pass. */
  readonly concurrency?: number;
  /** Each answer goes on for a time between these two, in ms. */
  readonly streamMs: readonly [least: number, most: number];
  /** Its headers come after a time between these two, in ms. */
  readonly beginMs: readonly [least: number, most: number];
  readonly seed: number;
  /** When the store is away, in ms; workers go on alone then. */
  readonly away?: readonly [from: number, to: number];
}

/** Draws the limit, between 50 and 5,000 a minute, and the number of workers. */
export function drawn(seed: number, said: Partial<Streams>): Streams {
  const random = seededRandom(seed);
  const perMinute = Math.round(50 * 100 ** random());
  const workers = 2 + Math.floor(3 * random());
  const algorithms = ['token-bucket', 'fixed-window', 'sliding-window'] as const;
  const algorithm = algorithms[Math.floor(3 * random())] ?? 'token-bucket';
  return {
    algorithm,
    perMinute,
    headers: 'none',
    workers,
    isKnown: false,
    streamMs: [30_000, 120_000],
    beginMs: [500, 2_000],
    seed,
    ...said,
  };
}

/** Workers that always have more to send than they may. */
export class StreamingFleet {
  readonly clock = new ManualClock();
  readonly limiters: Limiter[] = [];
  /** When answers began, and when rejections were sent. */
  readonly begun: number[] = [];
  rejected = 0;
  sent = 0;
  private readonly given: Streams;

  constructor(given: Streams) {
    this.given = given;
    const { clock } = this;
    const { algorithm, perMinute, headers, workers, isKnown, seed } = given;
    const { concurrency = 4 * perMinute } = given;
    const random = seededRandom(seed + 1_000_000);
    const between = ([least, most]: readonly [number, number]) => least + (most - least) * random();
    const provider = createProvider({
      clock,
      seed,
      headers,
      limits: [limit(algorithm, perMinute, WINDOW_MS)],
      rejectLatencyMs: 50,
      retryAfter: headers === 'none' ? 'none' : 'exact',
      latency: () => between(given.beginMs),
    });
    const store = workers === 0 ? undefined : this.store(given.away);
    const attempt = () =>
      new Observable<unknown>((out) => {
        this.sent += 1;
        provider.submitOrThrow(REQUEST).then(
          (answer) => {
            this.begun.push(clock.now());
            out.next(answer);
            clock.setTimer(() => out.complete(), between(given.streamMs));
          },
          (error) => {
            this.rejected += 1;
            out.error(error);
          },
        );
      });
    for (let place = 0; place < Math.max(1, workers); place += 1) {
      const limiter = createLimiter({
        clock,
        random: seededRandom(100 * seed + place),
        concurrency,
        ...(isKnown && { limits: { requests: { limit: perMinute, windowMs: WINDOW_MS } } }),
        ...(store !== undefined && { shared: store }),
      });
      this.limiters.push(limiter);
      limiter.throttleFrom(numbers(), attempt as () => Observable<unknown>).subscribe();
    }
  }

  private store(away: Streams['away']): SharedStore {
    const { clock } = this;
    if (away === undefined) return memoryStore({ clock });
    const [from, to] = away;
    const store = memoryStore({ clock, onStoreLoss: 'share' });
    const exchange: SharedStore['exchange'] = (request) => {
      if (clock.now() >= from && clock.now() < to) throw new Error('the store is away');
      return store.exchange(request);
    };
    return { ...store, exchange };
  }

  /** The used part of the limit, in %, and 429s for each 100 answers that began. */
  async run(ms: number): Promise<{ readonly use: number; readonly rejections: number }> {
    await this.clock.advanceAsync(ms);
    for (const limiter of this.limiters) limiter.close();
    const { algorithm, perMinute } = this.given;
    // Each algorithm lets a whole limit go at the start; a bucket refills beside that.
    const windows = algorithm === 'token-bucket' ? ms / WINDOW_MS + 1 : Math.ceil(ms / WINDOW_MS);
    return {
      use: (100 * this.begun.length) / (perMinute * windows),
      rejections: (100 * this.rejected) / Math.max(1, this.begun.length),
    };
  }
}

function* numbers() {
  for (let number = 0; ; number += 1) yield number;
}
