import { Heap, type Placed } from '../util/collections.ts';

/** The least cost, so that an endless row of free requests cannot go first for ever. */
const LEAST_COST = 1;

/** The heaps that a contender is in. */
const BY_FINISH = 0;
const BY_START = 1;

/** A contender that shares capacity with others. All times are virtual: sums of costs. */
export interface Contender extends Placed {
  /** When its next request begins, which is when its last one was finished, or when it came. */
  startsAt: number;
  /** When its next request will be finished. */
  finishesAt: number;
  /** Whether it has come since its last request was finished: its next one begins at its arrival. */
  isNew: boolean;
  /** The order of arrivals, which decides between equal times. */
  arrival: number;
}

/**
 * Starting-potential fair queuing (Stiliadis and Varma, "Efficient fair-queueing algorithms for
 * packet-switched networks", 1998): the next request is the one that would be finished first if all
 * contenders were served at once, each at the same rate. The virtual time is at least the earliest
 * start of their next requests. A contender that comes begins at that time, or when its own last
 * request is finished, if that is later: one that leaves for a moment after each request gets as
 * much as one that stays.
 *
 * The costs of two contenders that stay differ by at most the sum of their largest costs, over any
 * period. Each operation costs O(log contenders).
 */
export class FairOrder<Member extends Contender> {
  private readonly byFinish = new Heap<Member>(BY_FINISH, isFinishedBefore);
  private readonly byStart = new Heap<Member>(
    BY_START,
    (one, other) => one.startsAt < other.startsAt,
  );
  private virtualNow = 0;
  /** The latest time at which a request was finished. */
  private latest = 0;
  private arrivals = 0;

  /** The contender whose next request goes first. */
  get next(): Member | undefined {
    return this.byFinish.top;
  }

  /** @param cost that of its next request */
  join(member: Member, cost: number): void {
    member.isNew = member.startsAt <= this.virtualNow;
    member.startsAt = Math.max(this.virtualNow, member.startsAt);
    member.finishesAt = member.startsAt + Math.max(LEAST_COST, cost);
    member.arrival = this.arrivals;
    this.arrivals += 1;
    this.byFinish.add(member);
    this.byStart.add(member);
  }

  /** The cost of its next request is another one. */
  change(member: Member, cost: number): void {
    const finishesAt = member.startsAt + Math.max(LEAST_COST, cost);
    if (finishesAt === member.finishesAt) return;
    member.finishesAt = finishesAt;
    this.byFinish.move(member);
  }

  /**
   * Its next request is served. The one behind it costs as much, until `change` is called.
   * @returns the cost
   */
  serve(member: Member): number {
    const { startsAt, finishesAt, isNew } = member;
    const cost = finishesAt - startsAt;
    // Without this, an endless row of contenders that come for one request each would all go first.
    if (isNew) this.virtualNow += cost / this.byFinish.size;
    this.latest = Math.max(this.latest, finishesAt);
    member.isNew = false;
    member.startsAt = finishesAt;
    this.byStart.move(member);
    this.change(member, cost);
    this.catchUp();
    return cost;
  }

  /**
   * A request that was served has cost another amount: its contender is behind by the difference, or
   * ahead. If none contends by then, it is forgotten.
   * @param cost what `serve` returned
   * @param isIn whether the contender has not left
   */
  correct(member: Member, cost: number, actual: number, isIn: boolean): void {
    const difference = Math.max(LEAST_COST, actual) - cost;
    if (difference === 0) return;
    member.startsAt += difference;
    member.finishesAt += difference;
    this.latest = Math.max(this.latest, member.startsAt);
    if (isIn) {
      this.byFinish.move(member);
      this.byStart.move(member);
    }
    this.catchUp();
  }

  /** When all have left, those that come next are equal, whatever they were served before. */
  leave(member: Member): void {
    this.byFinish.delete(member);
    this.byStart.delete(member);
    this.catchUp();
  }

  private catchUp(): void {
    const least = this.byStart.top?.startsAt ?? this.latest;
    this.virtualNow = Math.max(this.virtualNow, least);
  }
}

function isFinishedBefore(one: Contender, other: Contender): boolean {
  if (one.finishesAt !== other.finishesAt) return one.finishesAt < other.finishesAt;
  return one.arrival < other.arrival;
}
