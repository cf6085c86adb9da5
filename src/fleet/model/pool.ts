/** Slots or bytes that workers hold. They are divided fairly while they are short. */
export interface Pool {
  /** The amount that all workers hold. */
  held: number;
  /** The amount that workers below their share still lack. */
  claimed: number;
  /** The amount of the remainder that workers at their share want: of 20 slots for 9 workers, 2. */
  sought: number;
}

/** The amount of a pool that one worker holds, and the amount that it still needs. */
export interface Holding {
  held: number;
  /** The amount that it lacks up to its share. */
  claim: number;
  /** The amount of the remainder of the division that it wants. */
  seeks: number;
}

/** The holding of a worker that holds nothing and wants nothing. */
export function noHolding(): Holding {
  return { held: 0, claim: 0, seeks: 0 };
}

/** The request of a worker. */
export interface Want {
  /** The whole amount that it holds. */
  readonly held: number;
  /** The additional amount for waiting requests. */
  readonly wanted: number;
  /** The part of `wanted` for the first waiting request: all or nothing. */
  readonly head: number;
  /** The additional amount for requests expected soon. */
  readonly spare: number;
}

/** The reply to a worker. */
export interface Lent {
  /** The amount that it holds now. */
  readonly held: number;
  /** The most that it keeps as its requests end. */
  readonly kept: number;
  /** Whether it got less than it wanted. */
  readonly isShort: boolean;
  /** Whether other workers wait for their share. */
  readonly isContested: boolean;
}

/**
 * Lends a worker more of a pool. Up to its share, it gets what is free. For one unit above its
 * share, it gets what workers below their share do not claim. Beyond that, it gets what no other
 * worker wants.
 * @param isOverdrawn whether the first waiting request may take more than is free while the pool is
 *   not exceeded, so that a request larger than the whole pool can pass
 */
export function lend(
  pool: Pool,
  mine: Holding,
  want: Want,
  size: number,
  sharers: number,
  isOverdrawn: boolean,
  isClosed: boolean,
): Lent {
  const { held, wanted, head } = want;
  const hadClaim = mine.claim > 0;
  pool.held = pool.held - mine.held + held;
  pool.claimed -= mine.claim;
  pool.sought -= mine.seeks;
  const whole = Math.floor(size / sharers);
  const share = Math.max(1, whole);
  const top = Math.ceil(size / sharers);
  const free = isClosed ? 0 : Math.max(0, size - pool.held);
  const unclaimed = Math.max(0, free - pool.claimed);
  const unsought = Math.max(0, unclaimed - pool.sought);
  // If there are fewer units than workers, workers that claimed earlier go first.
  const due = whole > 0 || hadClaim ? free : unclaimed;
  const below = Math.min(due, Math.max(0, share - held));
  const room = Math.max(below, Math.min(unclaimed, Math.max(0, top - held)), unsought);
  let given = Math.min(room, wanted);
  if (given < head) {
    const isAllowed = isOverdrawn
      ? !isClosed && held < share && pool.held <= size
      : head > 1 && (hadClaim ? free : unclaimed) >= head;
    given = isAllowed ? head : 0;
  }
  const isShort = given < wanted;
  if (!isShort)
    given += Math.min(want.spare, Math.max(0, Math.floor((unsought - given) / sharers)));
  mine.held = held + given;
  pool.held += given;
  const missing = wanted - given;
  // A request of several slots may need more than the share. Workers that waited longer go first.
  const forHead = head > 1 && held < share ? head - given : 0;
  mine.claim = isShort ? Math.min(missing, Math.max(0, share - mine.held, forHead)) : 0;
  mine.seeks = isShort
    ? Math.min(missing - mine.claim, Math.max(0, top - mine.held - mine.claim))
    : 0;
  const { claimed, sought } = pool;
  pool.claimed += mine.claim;
  pool.sought += mine.seeks;
  // The first request comes on top of those in flight.
  const needed = head > 0 && given >= head ? held + head : given;
  let kept = mine.held;
  if (claimed > 0) kept = Math.min(kept, Math.max(whole, needed, mine.held - claimed));
  if (sought > 0) kept = Math.min(kept, Math.max(top, needed, mine.held - sought));
  // More is lent than the size: workers above their share give back what they do not use. If there
  // are fewer units than workers, no worker has a share.
  const excess = pool.held - size;
  if (excess > 0 && !isOverdrawn)
    kept = Math.min(kept, Math.max(whole, needed, mine.held - excess));
  return { held: mine.held, kept, isShort, isContested: claimed + sought > 0 };
}

/**
 * Whether other workers claim a part of the pool. If so, this worker counts as a sharer as long as
 * it holds some, even if none of its requests waits. Otherwise it would keep everything beyond the
 * shares of the others.
 */
export function isClaimed(pool: Pool, mine: Holding): boolean {
  return pool.claimed > mine.claim || pool.sought > mine.seeks;
}

/** Raises the amount that a worker holds to at least `held`. */
export function hold(pool: Pool, mine: Holding, held: number): void {
  const more = Math.max(0, held - mine.held);
  pool.held += more;
  mine.held += more;
}

/** Takes everything from a worker. */
export function giveUp(pool: Pool, mine: Holding): void {
  pool.held -= mine.held;
  pool.claimed -= mine.claim;
  pool.sought -= mine.seeks;
  mine.held = 0;
  mine.claim = 0;
  mine.seeks = 0;
}
