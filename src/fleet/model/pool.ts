/** Slots or bytes that workers hold: a number of them in all, divided fairly while they are short. */
export interface Pool {
  /** What all workers hold. */
  held: number;
  /** What those are missing that hold less than their share. */
  claimed: number;
}

/** What one worker holds of a pool, and what it is missing up to its share. */
export interface Holding {
  held: number;
  claim: number;
}

/** What a worker asks for. */
export interface Want {
  /** What it holds; this is absolute. */
  readonly held: number;
  /** More for what waits. */
  readonly wanted: number;
  /** The part of that for the first that waits: all or nothing, where less than the share is held. */
  readonly head: number;
  /** More for what may come soon. */
  readonly spare: number;
}

/** What it gets. */
export interface Lent {
  /** What it holds now. */
  readonly held: number;
  /** What it keeps as its requests end. */
  readonly kept: number;
  /** Whether it was refused a part. */
  readonly isShort: boolean;
  /** Whether others wait for their share. */
  readonly isContested: boolean;
}

/**
 * Lends a worker more of a pool. Below its share it gets what is free; above, only what no other
 * worker claims that holds less than its own share.
 * @param isOverdrawn whether the first that waits may take more than is free, as long as not more
 * than everything is taken: so that a request larger than the whole pool passes
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
  pool.held = pool.held - mine.held + want.held;
  pool.claimed -= mine.claim;
  const share = Math.max(1, Math.floor(size / sharers));
  const free = isClosed ? 0 : Math.max(0, size - pool.held);
  const unclaimed = Math.max(0, free - pool.claimed);
  const room = Math.max(Math.min(free, Math.max(0, share - want.held)), unclaimed);
  let given = Math.min(room, want.wanted);
  if (given < want.head) {
    const isAllowed = isOverdrawn
      ? !isClosed && want.held === 0 && pool.held <= size
      : want.held < share && free >= want.head;
    given = isAllowed ? want.head : 0;
  }
  const isShort = given < want.wanted;
  if (!isShort)
    given += Math.min(want.spare, Math.max(0, Math.floor((unclaimed - given) / sharers)));
  mine.held = want.held + given;
  pool.held += given;
  const missing = want.wanted - given;
  mine.claim = isShort ? Math.min(missing, Math.max(0, share - mine.held, want.head - given)) : 0;
  const others = pool.claimed;
  pool.claimed += mine.claim;
  const kept = others > 0 ? Math.min(mine.held, Math.max(share, mine.held - others)) : mine.held;
  return { held: mine.held, kept, isShort, isContested: others > 0 };
}

/**
 * Whether others claim a part. Then who holds some is one of those that share it, though nothing of
 * its own waits: else it would keep all that the shares of the others leave.
 */
export function isClaimed(pool: Pool, mine: Holding): boolean {
  return pool.claimed > mine.claim;
}

/** A worker holds nothing any more. */
export function giveUp(pool: Pool, mine: Holding): void {
  pool.held -= mine.held;
  pool.claimed -= mine.claim;
  mine.held = 0;
  mine.claim = 0;
}
