import type { FleetHooks, FleetRequest } from './fleet-hooks.ts';
import type { GrantReply } from './protocol.ts';
import type { WorkerAccount } from './worker-account.ts';

/** The first request that waits at a worker, and the state of its grant. */
export class FirstRequest {
  /** undefined: not known. */
  request: FleetRequest | undefined = undefined;
  /**
   * Whether limits elsewhere have held a request that could pass here, and none was sent since: the
   * store keeps its slots, bytes and amounts.
   */
  isKept = false;
  private readonly account: WorkerAccount;
  private readonly hooks: Pick<FleetHooks, 'waiting' | 'isHeldElsewhere'>;
  /** Whether it could pass at the last check. */
  private isServed = false;
  /** How often the lease had expired at the last call. */
  private expiries = 0;

  constructor(account: WorkerAccount, hooks: Pick<FleetHooks, 'waiting' | 'isHeldElsewhere'>) {
    this.account = account;
    this.hooks = hooks;
  }

  /** @returns as `WorkerAccount.waitMs` */
  check(request: FleetRequest, now: number): number {
    this.isKept ||= this.hooks.isHeldElsewhere();
    const waitMs = this.account.waitMs(request, this.isKept, now);
    this.isServed = waitMs === 0;
    if (waitMs > 0) this.request = request;
    return waitMs;
  }

  /** Whether it waits, and may pass now. */
  isDue(now: number): boolean {
    return this.waitMs(now) === 0 && this.hooks.waiting() > 0;
  }

  /** It was sent. */
  sent(): void {
    this.request = undefined;
    this.isServed = false;
    this.isKept = false;
  }

  /**
   * Before a call: gives up what has expired, and returns what is not kept.
   * @param isAsking whether the call is for a request that may not be in the queue yet
   */
  prepare(isAsking: boolean, now: number): void {
    const { account, hooks } = this;
    this.isKept ||= hooks.isHeldElsewhere();
    if (!isAsking && hooks.waiting() === 0) {
      this.request = undefined;
      this.isKept = false;
    }
    const { holdings } = account;
    holdings.expire(now);
    // Another request may be the first one now, which costs more than the kept grant.
    if (this.request !== undefined && !account.covers(this.request)) this.isKept = false;
    const hasReturned = !this.isKept && account.returnUnused(now);
    if (hasReturned || this.expiries !== holdings.expiries) this.isServed = false;
    this.expiries = holdings.expiries;
  }

  /** Whether a reply was not enough for the waiting requests, even if nothing changes here. */
  isShort(reply: GrantReply, now: number): boolean {
    const { request, isServed } = this;
    if (isServed || (request === undefined && this.hooks.waiting() === 0)) return false;
    // Everything was granted; the first request only waits for its due time.
    const isGranted = reply.why === '' && request !== undefined;
    return !isGranted || this.waitMs(now) === Number.POSITIVE_INFINITY;
  }

  private waitMs(now: number): number {
    const { request } = this;
    if (request === undefined) return Number.POSITIVE_INFINITY;
    return this.account.waitMs(request, this.isKept, now);
  }
}
