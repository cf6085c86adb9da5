import type { FleetRequest } from './fleet-hooks.ts';
import type { Lent } from './holdings.ts';
import { type Bucket, charge, emptyBucket, flowTime, refill } from './model/bucket.ts';
import { MICRO, type Plan, type SharedConfig } from './protocol.ts';

/**
 * A learned rate of requests is spread over time: 10 ms of it may go at once. Nothing is learned
 * meanwhile, so a burst that was saved up would be sent after each rejection.
 */
const SPREAD_PER_HOUR = 360_000;

/** The slots and bytes of a worker. */
interface Pools {
  readonly slots: Lent;
  readonly bytes: Lent;
}

/** The data with which a worker begins to go on alone. */
interface Begin {
  readonly config: SharedConfig;
  /** The most slots of all workers together. */
  readonly slots: number;
  readonly plan: Plan | undefined;
  /** The number of workers that share the limits. */
  readonly workers: number;
  readonly pools: Pools;
  readonly now: number;
  /** From this time on the worker has its whole share of slots and bytes, if the store is away. */
  readonly fullAt: number;
}

/**
 * An equal share of all limits, for a worker that goes on alone while the store is away. Its
 * buckets begin empty, so that the last grants of the store are not used twice. If the worker holds
 * more slots or bytes than its share, it gives the rest up as requests end. If it holds fewer, it
 * gets the missing ones only after the other workers have given up theirs.
 */
export class LocalShare {
  private buckets: Bucket[] = [];
  private at = 0;
  /** The whole share of slots and bytes. */
  slots = 0;
  bytes = 0;
  /** Infinity: it already has its whole share. */
  private fullAt = Number.POSITIVE_INFINITY;

  begin({ config, slots, plan, workers, pools, now, fullAt }: Begin): void {
    const among = Math.max(1, workers);
    const perHour = plan?.alonePerHour ?? 0;
    const learned: readonly (readonly [capacity: number, perHour: number])[] = [
      [Math.max(MICRO * among, perHour / SPREAD_PER_HOUR), perHour],
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
    this.slots = Math.max(1, Math.floor(slots / among));
    this.bytes = Math.floor(config.bytes / among);
    this.fullAt = fullAt;
    pools.slots.keepAtMost(this.slots);
    pools.bytes.keepAtMost(this.bytes);
  }

  /** @returns as `Policy.wait` */
  wait(costs: readonly number[], request: FleetRequest, pools: Pools, now: number): number {
    this.advance(now);
    if (!this.fits(request, pools)) return Number.POSITIVE_INFINITY;
    let waitMs = 0;
    costs.forEach((cost, place) => {
      const bucket = this.buckets[place];
      if (cost === 0 || bucket === undefined || bucket.perHour === 0) return;
      // A cost above the capacity waits only for a full bucket, and leaves a debt.
      const missing = Math.min(cost, Math.max(bucket.capacity, 1)) - bucket.level;
      if (missing > 0) waitMs = Math.max(waitMs, flowTime(bucket, missing) / 1_000);
    });
    return waitMs;
  }

  charge(amounts: readonly number[], now: number): void {
    this.advance(now);
    amounts.forEach((amount, place) => {
      const bucket = this.buckets[place];
      if (bucket !== undefined) charge(bucket, amount);
    });
  }

  /**
   * The store is still away. At `fullAt` the other workers have given up all above their shares.
   * @returns whether the worker has its whole share from now on
   */
  failed({ slots, bytes }: Pools, now: number): boolean {
    if (now < this.fullAt) return false;
    slots.own(this.slots);
    bytes.own(this.bytes);
    this.fullAt = Number.POSITIVE_INFINITY;
    return true;
  }

  private fits(request: FleetRequest, { slots, bytes }: Pools): boolean {
    // A request larger than the whole share is sent when no other is in flight.
    const mayExceed = this.fullAt === Number.POSITIVE_INFINITY;
    const isWithin = (pool: Lent, amount: number) =>
      amount === 0 || pool.used + amount <= pool.held || (mayExceed && pool.used === 0);
    return isWithin(slots, request.slots) && isWithin(bytes, request.bytes);
  }

  private advance(now: number): void {
    const elapsed = Math.floor(Math.max(0, now - this.at) * 1_000);
    this.at += elapsed / 1_000;
    for (const bucket of this.buckets) refill(bucket, elapsed);
  }
}
