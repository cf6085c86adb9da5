import { describe, expect, it } from 'vitest';
import type { JobData } from '../../src/batch/queue/queue-job.ts';
import {
  checkWorkerLimits,
  WorkerLimits,
  type WorkerLimitsSettings,
} from '../../src/batch/queue/worker-limits.ts';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import type { Limiter, LimiterOptions } from '../../src/index.ts';

function workerLimits(limits: LimiterOptions, byModel?: WorkerLimitsSettings['byModel']) {
  const stores: string[] = [];
  const all = new WorkerLimits({
    limits,
    byModel,
    around: {},
    storeOf: (model) => {
      stores.push(model);
      return memoryStore();
    },
    onOthers: () => {},
  });
  /** The limiter of a job that a run began at a time; undefined: the run sets no limits. */
  const limiterOf = (at?: number, run: LimiterOptions = {}, model = 'm'): Limiter => {
    const job = { id: '1', url: '/', body: { model } };
    return all.limiterOf(at === undefined ? job : ({ ...job, limits: { at, ...run } } as JobData));
  };
  return { all, limiterOf, stores };
}

/** The limits in force, and the greatest number of requests in flight. */
function inForce(limiter: Limiter): object {
  const { concurrency, rateLimit } = limiter.snapshot();
  const limits = Object.entries(rateLimit ?? {}).map(([name, { limit }]) => [name, limit]);
  return { concurrency: concurrency.limit, ...Object.fromEntries(limits) };
}

describe('the limits of workers', () => {
  it('let requests wait behind an open circuit, as those of a run do', async () => {
    const { all, limiterOf } = workerLimits({ circuitBreaker: true });
    const limiter = limiterOf();
    const isolation = limiter.circuit?.isolate();
    const sent = limiter.run(() => 'sent');
    isolation?.end();
    await expect(sent).resolves.toBe('sent');
    all.close();
  });

  it('are those of the latest run, and the workers’ own where it sets none', () => {
    const { all, limiterOf, stores } = workerLimits({ requestsPerMinute: 7, concurrency: 5 });
    const limiter = limiterOf();
    expect(inForce(limiter)).toEqual({ concurrency: 5, requests: 7 });
    const run = { requestsPerMinute: 100, tokensPerMinute: 5_000, concurrency: 20 };
    const ofRun = { concurrency: 20, requests: 100, tokens: 5_000 };
    expect(limiterOf(10, run)).toBe(limiter);
    expect(inForce(limiter)).toEqual(ofRun);
    // Jobs of an earlier run, and of one without limits, may still be in the queue.
    limiterOf(9, { requestsPerMinute: 1 });
    limiterOf();
    expect(inForce(limiter)).toEqual(ofRun);
    limiterOf(11, {});
    expect(inForce(limiter)).toEqual({ concurrency: 5, requests: 7 });
    expect(stores).toHaveLength(1);
    all.close();
    expect(limiter.snapshot().state).toBe('closed');
  });

  it('return to those of a worker’s `limits` after the run that replaced them', () => {
    const { all, limiterOf } = workerLimits({
      limits: { requests: { limit: 60, windowMs: 1_000 } },
    });
    limiterOf(10, { requestsPerMinute: 100 });
    expect(inForce(limiterOf(11, {}))).toEqual({ concurrency: 1_000, requests: 60 });
    all.close();
  });

  it('of a model precede those of the run, for each model on its own', () => {
    const byModel = { m: { requestsPerMinute: 3 }, n: { tokensPerMinute: 4 } };
    const { all, limiterOf, stores } = workerLimits({ requestsPerMinute: 9 }, byModel);
    const [first, second] = [limiterOf(), limiterOf(undefined, {}, 'n')];
    expect(inForce(first)).toEqual({ concurrency: 1_000, requests: 3 });
    limiterOf(10, { requestsPerMinute: 100, tokensPerMinute: 50 });
    expect(inForce(first)).toEqual({ concurrency: 1_000, requests: 3, tokens: 50 });
    expect(inForce(second)).toEqual({ concurrency: 1_000, requests: 100, tokens: 4 });
    expect(inForce(limiterOf(undefined, {}, 'other'))).toMatchObject({ requests: 100 });
    expect(stores).toEqual(['m', 'n', 'other']);
    all.close();
  });

  it('are ignored in a job if they are no whole numbers >= 1', () => {
    const { all, limiterOf } = workerLimits({});
    const run = { requestsPerMinute: 0, tokensPerMinute: 1.5, concurrency: '4' };
    expect(inForce(limiterOf(10, run as never))).toEqual({ concurrency: 1_000 });
    all.close();
  });

  it('are checked before a store is connected', () => {
    expect(() => checkWorkerLimits({ requestsPerMinute: -1 }, undefined)).toThrow(
      /`requestsPerMinute`/,
    );
    const byModel = { m: { tokensPerMinute: -1 } };
    expect(() => checkWorkerLimits({}, byModel)).toThrow(/`tokensPerMinute`/);
    expect(() => checkWorkerLimits({}, undefined)).not.toThrow();
  });
});
