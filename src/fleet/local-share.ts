import type { FleetRequest } from './fleet-hooks.ts';
import type { Lent } from './lent.ts';
import { type Bucket, charge, emptyBucket, flowTime, refill } from './model/bucket.ts';
import type { Plan, SharedConfig } from './protocol.ts';

/** The slots and bytes of a worker. */
interface Pools {
  readonly slots: Lent;
  readonly bytes: Lent;
}

/**
 * An equal share of all limits, for a worker that goes on alone while the store is away. Its buckets
 * begin empty: what the store had granted last is not used twice.
 */
export class LocalShare {
  private buckets: Bucket[] = [];
  private at = 0;

  begin(
    config: SharedConfig,
    plan: Plan | undefined,
    workers: number,
    pools: Pools,
    now: number,
  ): void {
    const among = Math.max(1, workers);
    const learned: readonly (readonly [capacity: number, perHour: number])[] = [
      [plan?.requestsCapacity ?? 0, plan?.requestsPerHour ?? 0],
      [plan?.tokensCapacity ?? 0, plan?.tokensPerHour ?? 0],
    ];
    const sizes = [
      ...config.limits.map(({ capacity, perHour }) => [capacity, perHour] as const),
      ...learned,
    ];
    this.buckets = sizes.map(([capacity, perHour]) =>
      emptyBucket(Math.floor(capacity / among), Math.floor(perHour / among)),
    );
    this.at = now;
    pools.slots.lent(
      Math.max(pools.slots.used, Math.floor(config.slots / among), 1),
      Number.POSITIVE_INFINITY,
    );
    pools.bytes.lent(
      Math.max(pools.bytes.used, Math.floor(config.bytes / among)),
      Number.POSITIVE_INFINITY,
    );
  }

  /** @returns as `Policy.wait` */
  wait(costs: readonly number[], request: FleetRequest, pools: Pools, now: number): number {
    this.advance(now);
    const { slots, bytes } = pools;
    if (slots.used > 0 && slots.used + request.slots > slots.held) return Number.POSITIVE_INFINITY;
    if (bytes.used > 0 && bytes.used + request.bytes > bytes.held) return Number.POSITIVE_INFINITY;
    let waitMs = 0;
    costs.forEach((cost, place) => {
      const bucket = this.buckets[place];
      if (cost === 0 || bucket === undefined || bucket.perHour === 0) return;
      // A cost above what the bucket can hold waits until it has flowed in since the last debt.
      const missing = Math.min(cost, Math.max(bucket.capacity, 1)) - bucket.level;
      if (missing > 0) waitMs = Math.max(waitMs, flowTime(bucket, missing) / 1_000);
    });
    return waitMs;
  }

  charge(amounts: readonly number[], now: number): void {
    this.advance(now);
    amounts.forEach((amount, place) => {
      const bucket = this.buckets[place];
      if (bucket !== undefined && bucket.perHour > 0) charge(bucket, amount);
    });
  }

  private advance(now: number): void {
    const elapsed = Math.floor(Math.max(0, now - this.at) * 1_000);
    this.at += elapsed / 1_000;
    for (const bucket of this.buckets) refill(bucket, elapsed);
  }
}
