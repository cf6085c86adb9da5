import type { Clock } from '../util/clock.ts';
import { ResettableTimer } from '../util/timers.ts';
import type { DemandMeter } from './demand-meter.ts';
import type { FleetHooks, FleetRequest } from './fleet-hooks.ts';
import { MICRO } from './protocol.ts';
import type { WorkerAccount } from './worker-account.ts';

/** The time between two calls under load, in ms, and the number of requests that a call is for. */
const SHORTEST_TICK_MS = 10;
const LONGEST_TICK_MS = 50;
const REQUESTS_A_CALL = 30;
/** If something is short, the next call comes after this time at the earliest, in ms. */
const SHORT_MS = 25;
/**
 * At a slow learned rate whose plan is used up, a worker calls no more often than this in the time
 * of one request: what it does not ask for in time stays in the store.
 */
const ASKS_A_REQUEST = 20;
const HOUR_MS = 3_600_000;
/** From this rate on, in requests a ms, calls come at steady intervals and ask ahead. */
const BUSY_PER_MS = 0.1;
/** How far ahead a call asks, in intervals. */
const AHEAD = 2;
/** The next call for waiting requests comes after this time at the earliest, in ms. */
const URGENT_MS = 5;

/**
 * Sets the time of a worker's next call: at once or after a short gap for waiting requests, soon
 * after a change, else in time to keep the lease.
 */
export class CallSchedule {
  /** Whether there is a change to report. */
  hasChanged = false;
  private readonly account: WorkerAccount;
  private readonly hooks: Pick<FleetHooks, 'waiting' | 'beatMs'>;
  private readonly ttlMs: number;
  /** `askTimer` calls for waiting requests and keeps the process alive; `timer` does not. */
  private readonly askTimer: ResettableTimer;
  private readonly timer: ResettableTimer;
  /** When the last call was made, and the first waiting request then. */
  private sentAt = Number.NEGATIVE_INFINITY;
  private askedFor: FleetRequest | undefined = undefined;

  constructor(
    account: WorkerAccount,
    hooks: Pick<FleetHooks, 'waiting' | 'beatMs'>,
    ttlMs: number,
    clock: Clock,
    call: () => void,
  ) {
    this.account = account;
    this.hooks = hooks;
    this.ttlMs = ttlMs;
    this.askTimer = new ResettableTimer(clock, call);
    this.timer = new ResettableTimer(clock, call, false);
  }

  /**
   * More is needed for waiting requests.
   * @param head the first of them
   * @returns whether a call may be made at once; if not, a timer makes it after the shortest gap
   */
  ask(head: FleetRequest | undefined, now: number): boolean {
    const dueAt = this.sentAt + this.shortestGapMs(head, now);
    if (dueAt <= now) return true;
    this.askTimer.set(dueAt - now, now);
    return false;
  }

  /** A reply was not enough for the waiting requests. @param sentAt when its call was sent */
  askAgain(head: FleetRequest | undefined, sentAt: number, now: number): void {
    const dueAt = sentAt + Math.max(this.shortestGapMs(head, now), URGENT_MS);
    this.askTimer.set(Math.max(0, dueAt - now), now);
  }

  /** A change on which all workers depend is reported soon. */
  hurry(now: number): void {
    this.callAfter(SHORTEST_TICK_MS, now);
  }

  /** Sets the time of the next call: soon after a change, else in time to keep the lease. */
  setTimer(now: number): void {
    const idleMs = Math.min(this.ttlMs / 4, this.hooks.beatMs(now));
    const beatMs = this.hasChanged ? Math.min(idleMs, tickMs(this.account.meter)) : idleMs;
    const { last, holdings } = this.account;
    const isAtRest =
      !this.hasChanged &&
      last?.leads !== 1 &&
      holdings.slots.held === 0 &&
      holdings.bytes.held === 0 &&
      this.hooks.waiting() === 0;
    if (isAtRest) this.timer.cancel();
    else this.callAfter(beatMs, now);
  }

  /** A call is made now. @param head the first waiting request */
  called(head: FleetRequest | undefined, now: number): void {
    this.sentAt = now;
    this.askedFor = head;
    this.hasChanged = false;
  }

  /** No call is made by a timer that was set before. */
  cancel(): void {
    this.timer.cancel();
    this.askTimer.cancel();
  }

  /** The shortest time from the last call to the next one for waiting requests, in ms. */
  private shortestGapMs(head: FleetRequest | undefined, now: number): number {
    const { ttlMs, sentAt } = this;
    const { meter, last, holdings } = this.account;
    meter.look(now);
    if (last !== undefined && last.why !== '') {
      // The store grants nothing to any worker before this time.
      const closedMs = Math.max(last.closed, last.held, last.broken) / 1_000;
      if (closedMs > 0) return Math.min(closedMs, ttlMs / 4);
      // When half of the reserved time has passed, more can be reserved.
      const reservedMs = (holdings.credits.lastDueAt - sentAt) / 2;
      return Math.min(ttlMs / 4, Math.max(SHORT_MS, reservedMs, this.plannedMs / ASKS_A_REQUEST));
    }
    // The request that the last call was for still waits: the reply was not enough.
    if (head !== undefined && head === this.askedFor) return URGENT_MS;
    return isBusy(meter) ? URGENT_MS : 0;
  }

  /** The time for which a learned rate that is short plans a request, in ms; 0: none is short. */
  private get plannedMs(): number {
    const { isLearnedShort, last } = this.account;
    const perHour = last?.plan?.requestsPerHour ?? 0;
    return isLearnedShort && perHour > 0 ? (HOUR_MS * MICRO) / perHour : 0;
  }

  /** Makes the next call at the latest when this time since the last one has passed. */
  private callAfter(gapMs: number, now: number): void {
    const at = Math.max(now, this.sentAt + gapMs);
    if (at < this.timer.at) this.timer.set(at - now, now);
  }
}

/** The number of requests to ask for in advance, before they wait. */
export function requestsAhead(meter: DemandMeter): number {
  return isBusy(meter) ? Math.ceil(meter.perMs * tickMs(meter) * AHEAD) : 0;
}

/** The time between two calls of a worker that has changes to report, in ms. */
function tickMs(meter: DemandMeter): number {
  if (!isBusy(meter)) return LONGEST_TICK_MS;
  return Math.min(LONGEST_TICK_MS, Math.max(SHORTEST_TICK_MS, REQUESTS_A_CALL / meter.perMs));
}

function isBusy({ perMs }: DemandMeter): boolean {
  return perMs >= BUSY_PER_MS;
}
