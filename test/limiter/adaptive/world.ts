import { from, Subject } from 'rxjs';
import { createLimiter, type LimiterOptions } from '../../../src/index.ts';
import {
  createProvider,
  ManualClock,
  type ModelRequest,
  type ProviderOptions,
  type ProviderStats,
  seededRandom,
} from '../../../src/simulator/index.ts';

const REQUEST: ModelRequest = { inputTokens: 10, maxTokens: 10 };

export type Rate = 'token-bucket' | 'fixed-window' | 'sliding-window';

export const limit = (algorithm: Rate, count: number, windowMs: number) =>
  ({ unit: 'requests', algorithm, limit: count, windowMs }) as const;

/** Answers tell nothing but their status. */
export const SILENT = { headers: 'none', retryAfter: 'none' } as const;

/** A provider that rejects by chance, whatever is sent. */
export interface Chance {
  /** Part of what is sent that is rejected. */
  readonly part: number;
  readonly status: 429 | 503;
  /** The wait that these rejections name, in seconds; none unless given. */
  readonly retryAfter?: number;
}

export interface World {
  readonly provider: ProviderOptions;
  readonly options?: LimiterOptions;
  readonly chance?: Chance;
  /** Processes that share the provider, each with a limiter of its own. */
  readonly workers?: number;
  readonly seed?: number;
}

/** Limiters of the same options that send to one provider, in virtual time. */
export function world({ provider: given, options, chance, workers = 1, seed = 1 }: World) {
  const clock = new ManualClock();
  const random = seededRandom(seed);
  const provider = createProvider({ clock, seed, ...given });
  const sent: number[] = [];
  const answered = Array<number>(workers).fill(0);
  const limiters = answered.map((_, index) => {
    const own = seededRandom(seed * 100 + index);
    return createLimiter({ concurrency: 400, ...options, clock, random: own });
  });
  const send = (worker: number) => async () => {
    sent.push(clock.now());
    if (chance !== undefined && random() < chance.part) {
      await new Promise<void>((done) => clock.setTimer(done, 20));
      const { status, retryAfter } = chance;
      const headers = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
      throw Object.assign(new Error('by chance'), { status, headers });
    }
    const answer = await provider.submitOrThrow(REQUEST);
    answered[worker] = (answered[worker] ?? 0) + 1;
    return answer;
  };
  const inputs = limiters.map((limiter, worker) => {
    const input = new Subject<number>();
    input.pipe(limiter.throttle(send(worker), { outcomes: true })).subscribe();
    return input;
  });
  return {
    clock,
    provider,
    limiters,
    /** When each attempt was sent, in ms. */
    sent,
    /** Requests that were answered well, by worker. */
    answered,
    /** Hands over so many requests to each worker, or to some. */
    push: (count: number, to: Iterable<number> = inputs.keys()) => {
      for (const worker of to) {
        from(Array(count).keys()).subscribe((n) => inputs[worker]?.next(n));
      }
    },
    advance: (ms: number) => clock.advanceAsync(ms),
    end: () => {
      for (const limiter of limiters) limiter.close();
      return clock.advanceAsync(0);
    },
  };
}

/** What came of the seconds from one to another. */
export function between({ series }: ProviderStats, from: number, to: number) {
  const sum = (counts: readonly number[]) => counts.slice(from, to).reduce((a, b) => a + b, 0);
  return { accepted: sum(series.accepted), rejected: sum(series.rejected) };
}

/** Sends a backlog that does not end, for a while. */
export async function saturate(given: World, seconds: number): Promise<ReturnType<typeof world>> {
  const run = world(given);
  run.push(100_000 / (given.workers ?? 1));
  await run.advance(seconds * 1_000);
  return run;
}
