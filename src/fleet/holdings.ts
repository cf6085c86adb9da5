/** What was granted of every limit in one answer, and when it may be used. */
interface Grant {
  readonly size: number[];
  readonly left: number[];
  /** The first part may be used then, the last one at `untilAt`; in ms of the worker's clock. */
  readonly fromAt: number;
  readonly untilAt: number;
  /** For so many requests. */
  readonly count: number;
}

/**
 * What a worker may still use of each limit, granted by the store. It is used in order, each part
 * not before it is due, and goes back to the store if it is not used soon after.
 */
class Credits {
  private grants: Grant[] = [];

  /** When the last part may be used; -Infinity: there is none. */
  get lastDueAt(): number {
    return this.grants.at(-1)?.untilAt ?? Number.NEGATIVE_INFINITY;
  }

  /** What is left of each limit, due or not. */
  unused(places: number): number[] {
    const sums = new Array<number>(places).fill(0);
    for (const { left } of this.grants) {
      for (let place = 0; place < places; place += 1) {
        sums[place] = (sums[place] as number) + (left[place] ?? 0);
      }
    }
    return sums;
  }

  /** @param count the requests that it is for */
  add(amounts: readonly number[], fromAt: number, untilAt: number, count = 0): void {
    if (amounts.some((amount) => amount > 0)) {
      this.grants.push({ size: [...amounts], left: [...amounts], fromAt, untilAt, count });
    }
  }

  /** What is due only after a time covers these costs of its requests, too, if it has nothing of them. */
  cover(costs: readonly number[], after: number): void {
    for (const { size, left, untilAt, count } of this.grants) {
      if (untilAt <= after) continue;
      for (let place = 0; place < costs.length; place += 1) {
        if ((size[place] ?? 0) > 0) continue;
        size[place] = count * (costs[place] as number);
        left[place] = size[place] as number;
      }
    }
  }

  /** When these costs may be used; -Infinity: they are nothing; Infinity: they are not covered. */
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
        if (missing === 0) break;
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
        if (missing === 0) break;
        const part = Math.min(left[place] ?? 0, missing);
        left[place] = (left[place] ?? 0) - part;
        missing -= part;
      }
    }
    while (this.grants[0]?.left.every(isNothing)) this.grants.shift();
  }

  /** Whether `takeStale` would find any: each request asks, so this makes no object. */
  hasStale(before: number): boolean {
    for (const { untilAt } of this.grants) if (untilAt < before) return true;
    return false;
  }

  /** Takes out what was due before a time and was not used. @returns it, by limit */
  takeStale(before: number, places: number): number[] {
    return this.takeOut(({ untilAt }) => untilAt < before, places);
  }

  /** The same of what is due only after a time. */
  takeReserved(after: number, places: number): number[] {
    return this.takeOut(({ fromAt }) => fromAt > after, places);
  }

  private takeOut(isOut: (grant: Grant) => boolean, places: number): number[] {
    const sums = new Array<number>(places).fill(0);
    this.grants = this.grants.filter((grant) => {
      if (!isOut(grant)) return true;
      const { left } = grant;
      for (let place = 0; place < places; place += 1) {
        sums[place] = (sums[place] as number) + (left[place] ?? 0);
      }
      return false;
    });
    return sums;
  }

  /** Forgets everything. */
  clear(): void {
    this.grants = [];
  }
}

/** When the next part of a grant may be used. */
function dueAt({ size, left, fromAt, untilAt }: Grant, place: number, part: number): number {
  const whole = size[place] as number;
  const used = whole - (left[place] as number) + part;
  return fromAt + (untilAt - fromAt) * (used / whole);
}

function isNothing(amount: number): boolean {
  return amount <= 0;
}

/**
 * Slots or bytes that the store has lent to this worker. Those of a request that has ended serve the
 * next one at once, unless other workers wait for them.
 */
export class Lent {
  /** In use by requests in flight. */
  used = 0;
  /** Lent by the store; less than `used` only after what was lent was taken away. */
  held = 0;
  /** No more than this is kept as requests end. */
  kept = Number.POSITIVE_INFINITY;

  get free(): number {
    return Math.max(0, this.held - this.used);
  }

  take(amount: number): void {
    this.used += amount;
  }

  giveBack(amount: number): void {
    this.used -= amount;
    const left = this.held - amount;
    if (this.held > this.kept) this.held = Math.max(this.kept, this.used, left);
  }

  /** Keeps so much more than is used, and gives the rest back. @returns what is held then */
  keep(free: number): number {
    this.held = this.used + Math.min(this.free, free);
    return this.held;
  }

  /** What was lent belongs to others now: only what is in use is held, until it ends. */
  expire(): void {
    this.lent(this.used, 0);
  }

  /**
   * Takes over the amount that the store says this worker holds.
   * @param told the amount stated in the call, if it has expired since: only the part still in use
   *   is then held
   * @param reserved so much that is free is kept all the same: what it is needed for is granted already
   */
  lent(held: number, kept: number, told?: number, reserved = 0): void {
    this.held = told === undefined ? held : this.used + Math.max(0, held - told);
    this.kept = kept;
    const needed = this.used + Math.min(reserved, this.free);
    if (this.held > kept) this.held = Math.max(kept, needed);
  }
}

/**
 * What the store has granted and lent to a worker. What is not used by some time is not used at all:
 * by then the store may have given it to others.
 */
export class Holdings {
  readonly credits = new Credits();
  readonly slots = new Lent();
  readonly bytes = new Lent();
  /** -Infinity: nothing was granted, or it has expired. */
  private validUntil = Number.NEGATIVE_INFINITY;
  /** Counts how often what it had has expired. */
  expiries = 0;

  /** The store has heard of this worker: what it has is good until then, in ms of its clock. */
  renew(validUntil: number): void {
    this.validUntil = validUntil;
  }

  /** Gives up what is not in use, if its time is over. Slots of requests that end then go, too. */
  expire(now: number): void {
    if (now <= this.validUntil || this.validUntil === Number.NEGATIVE_INFINITY) return;
    this.expiries += 1;
    this.credits.clear();
    this.slots.expire();
    this.bytes.expire();
    this.validUntil = Number.NEGATIVE_INFINITY;
  }
}
