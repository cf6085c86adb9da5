/** The amounts of all limits that one reply granted, and when they may be used. */
interface Grant {
  readonly size: number[];
  readonly left: number[];
  /** Each amount becomes usable evenly from `fromAt` to `untilAt`, in ms of the worker's clock. */
  readonly fromAt: number[];
  readonly untilAt: number[];
  /** When all of it is usable. */
  dueAt: number;
  /** The number of requests that it is for. */
  readonly count: number;
}

/**
 * The granted amounts that a worker has not used yet. Grants are used in the order in which
 * they are due, each part not before. Parts that are not used soon after go back to the store.
 */
class Credits {
  private grants: Grant[] = [];

  /** When the last grant is due in full; -Infinity: there is no grant. */
  get lastDueAt(): number {
    return this.grants.at(-1)?.dueAt ?? Number.NEGATIVE_INFINITY;
  }

  /** The unused amounts, by limit, due or not. */
  unused(places: number): number[] {
    const sums = new Array<number>(places).fill(0);
    for (const { left } of this.grants) {
      for (let place = 0; place < places; place += 1) {
        sums[place] = (sums[place] as number) + (left[place] ?? 0);
      }
    }
    return sums;
  }

  /**
   * A grant that is due before earlier ones is used before them: the rate has risen since.
   * @param count the number of requests that the amounts are for
   */
  add(
    amounts: readonly number[],
    fromAt: readonly number[],
    untilAt: readonly number[],
    count = 0,
  ): void {
    if (!amounts.some((amount) => amount > 0)) return;
    const times = { fromAt: [...fromAt], untilAt: [...untilAt], dueAt: 0 };
    const grant = { size: [...amounts], left: [...amounts], ...times, count };
    grant.dueAt = latestOf(grant);
    const later = this.grants.findIndex((other) => other.dueAt > grant.dueAt);
    this.grants.splice(later < 0 ? this.grants.length : later, 0, grant);
  }

  /**
   * A learned rate has changed: amounts that are not due yet are due at other times. Grants with
   * amounts of known limits stay: used sooner or later, they would add to what was granted since.
   * @param first the place of the first of the factors, behind the known limits
   */
  rescale(first: number, factors: readonly number[], now: number): void {
    if (factors.every((factor) => factor === 1)) return;
    for (const grant of this.grants) {
      const { size, fromAt, untilAt } = grant;
      if (size.some((amount, place) => place < first && amount > 0)) continue;
      factors.forEach((factor, index) => {
        const place = first + index;
        const [from = 0, until = 0] = [fromAt[place], untilAt[place]];
        if (!((size[place] ?? 0) > 0 && until > now)) return;
        fromAt[place] = now + factor * (from - now);
        untilAt[place] = now + factor * (until - now);
      });
      grant.dueAt = latestOf(grant);
    }
    this.grants.sort((one, other) => one.dueAt - other.dueAt);
  }

  /** Adds these costs, for each request, to the grants due after a time that have none of them. */
  cover(costs: readonly number[], after: number): void {
    for (const { size, left, fromAt, untilAt, dueAt, count } of this.grants) {
      if (dueAt <= after) continue;
      const from = Math.max(...fromAt.filter((_, place) => (size[place] ?? 0) > 0));
      for (let place = 0; place < costs.length; place += 1) {
        if ((size[place] ?? 0) > 0 || costs[place] === 0) continue;
        size[place] = count * (costs[place] as number);
        left[place] = size[place] as number;
        fromAt[place] = from;
        untilAt[place] = dueAt;
      }
    }
  }

  /** When these costs may be used; -Infinity: all are 0; Infinity: the grants do not cover them. */
  dueAt(costs: readonly number[]): number {
    let at = Number.NEGATIVE_INFINITY;
    for (let place = 0; place < costs.length; place += 1) {
      let missing = costs[place] as number;
      if (missing === 0) continue;
      for (const grant of this.grants) {
        const left = grant.left[place] ?? 0;
        const part = Math.min(left, missing);
        if (part === 0) continue;
        missing -= part;
        at = Math.max(at, dueAt(grant, place, part));
      }
      if (missing > 0) return Number.POSITIVE_INFINITY;
    }
    return at;
  }

  /** Uses these costs, which must be covered. */
  spend(costs: readonly number[]): void {
    for (let place = 0; place < costs.length; place += 1) {
      let missing = costs[place] as number;
      for (const { left } of this.grants) {
        const part = Math.min(left[place] ?? 0, missing);
        left[place] = (left[place] ?? 0) - part;
        missing -= part;
      }
    }
    while (this.grants[0]?.left.every(isNothing)) this.grants.shift();
  }

  /** Whether `takeStale` would find a grant. Called for each request, so it allocates nothing. */
  hasStale(before: number): boolean {
    for (const { dueAt } of this.grants) if (dueAt < before) return true;
    return false;
  }

  /** Takes out the unused amounts that were due before a time. @returns them, by limit */
  takeStale(before: number, places: number): number[] {
    const sums = new Array<number>(places).fill(0);
    this.grants = this.grants.filter(({ left, dueAt }) => {
      if (dueAt >= before) return true;
      for (let place = 0; place < places; place += 1) {
        sums[place] = (sums[place] as number) + (left[place] ?? 0);
      }
      return false;
    });
    return sums;
  }

  /** The store has kept the grants that were due before a time: they count as due then. */
  renew(at: number): void {
    for (const grant of this.grants) {
      if (grant.dueAt >= at) continue;
      grant.fromAt.fill(at);
      grant.untilAt.fill(at);
      grant.dueAt = at;
    }
  }

  /** Forgets everything. */
  clear(): void {
    this.grants = [];
  }
}

/** When the next part of a grant may be used. */
function dueAt({ size, left, fromAt, untilAt }: Grant, place: number, part: number): number {
  const whole = size[place] as number;
  const from = fromAt[place] as number;
  const used = whole - (left[place] as number) + part;
  return from + ((untilAt[place] as number) - from) * (used / whole);
}

/** When the last of the amounts is usable. */
function latestOf({ size, untilAt }: Grant): number {
  let latest = Number.NEGATIVE_INFINITY;
  for (let place = 0; place < size.length; place += 1) {
    if ((size[place] as number) > 0) latest = Math.max(latest, untilAt[place] as number);
  }
  return latest;
}

function isNothing(amount: number): boolean {
  return amount <= 0;
}

/**
 * Slots or bytes that the store has lent to this worker. When a request ends, the next request may
 * use them at once, unless other workers wait for them or the lease has expired meanwhile.
 */
export class Lent {
  /** In use by requests in flight. */
  used = 0;
  /** Lent by the store, and at least `used`. */
  held = 0;
  /** As requests end, no more than this is kept. */
  private kept = Number.POSITIVE_INFINITY;
  /** The part of `used` whose lease has expired: other workers may have the same slots now. */
  private lapsed = 0;
  /** The amount that the last call stated, and the part of it that has lapsed and ended since. */
  private told = 0;
  private gone = 0;

  get free(): number {
    return Math.max(0, this.held - this.used);
  }

  take(amount: number): void {
    this.used += amount;
  }

  giveBack(amount: number): void {
    const lapsed = Math.min(amount, this.lapsed);
    this.used -= amount;
    this.lapsed -= lapsed;
    this.gone += lapsed;
    this.held -= lapsed;
    const left = this.held - (amount - lapsed);
    if (this.held > this.kept) this.held = Math.max(this.kept, this.used, left);
  }

  /**
   * Keeps at most `free` beyond the used amount, and returns the rest with a call.
   * @returns the amount held, which the call states
   */
  keep(free: number): number {
    this.held = this.used + Math.min(this.free, free);
    this.told = this.held;
    this.gone = 0;
    return this.held;
  }

  /** The lease has expired: only the amount in use is held, until the requests end. */
  expire(): void {
    this.gone = Math.max(0, this.told - this.used);
    this.lapsed = this.used;
    this.held = this.used;
  }

  /**
   * Takes over the amount that the store says this worker holds, without what is gone since the
   * call.
   * @param reserved the free amount that is kept even above `kept`, for a request that has a grant
   */
  lent(held: number, kept: number, reserved = 0): void {
    this.held = Math.max(this.used, held - this.gone);
    this.keepAtMost(kept, reserved);
  }

  /** Keeps no more than this as requests end. Anything above it that is free is given up. */
  keepAtMost(kept: number, reserved = 0): void {
    this.kept = kept;
    const needed = this.used + Math.min(reserved, this.free);
    if (this.held > kept) this.held = Math.max(kept, needed);
  }

  /** Holds an amount that no other worker uses any more. */
  own(share: number): void {
    this.lapsed = 0;
    this.gone = 0;
    this.held = Math.max(this.held, share);
    this.keepAtMost(share);
  }
}

/**
 * The grants and leases of a worker. Anything that is not in use when the lease expires is given
 * up: the store may have given it to other workers by then.
 */
export class Holdings {
  readonly credits = new Credits();
  readonly slots = new Lent();
  readonly bytes = new Lent();
  /** -Infinity: nothing was granted, or it has expired. */
  private validUntil = Number.NEGATIVE_INFINITY;
  /** How often the lease has expired. */
  expiries = 0;

  /** The store has renewed the lease. @param validUntil in ms of the worker's clock */
  renew(validUntil: number): void {
    this.validUntil = validUntil;
  }

  /** If the lease has expired, gives up all that is unused. Slots of requests that end follow. */
  expire(now: number): void {
    if (now <= this.validUntil || this.validUntil === Number.NEGATIVE_INFINITY) return;
    this.expiries += 1;
    this.credits.clear();
    this.slots.expire();
    this.bytes.expire();
    this.validUntil = Number.NEGATIVE_INFINITY;
  }
}
