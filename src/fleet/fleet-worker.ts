import { DEFAULT_BACKOFF_MS } from '../policies/backoff-policy.ts';
import type { Clock } from '../util/clock.ts';
import { CallSchedule } from './call-schedule.ts';
import { ExchangeRequestBuilder } from './exchange-request.ts';
import { FirstRequest } from './first-request.ts';
import type { FleetHooks, FleetRequest, FleetSnapshot } from './fleet-hooks.ts';
import { fleetSnapshot } from './fleet-reports.ts';
import { isNewlyPaced, leftOf, withoutRates } from './grant-replies.ts';
import { type ExchangeReply, type GrantReply, PROTOCOL, type SharedConfig } from './protocol.ts';
import { DEFAULT_TTL_MS, type StoreCalls, StoreProtocolError } from './shared-store.ts';
import { StoreCaller } from './store-caller.ts';
import { WorkerAccount } from './worker-account.ts';

/** The `tick` of the protocol, in ms. */
export const RESERVED_MS = 50;

/**
 * One worker of a fleet. It lets requests pass that its account covers. It calls the store when
 * requests wait, when something has changed, and often enough to keep its lease.
 */
export class FleetWorker {
  readonly name: string;
  readonly account: WorkerAccount;
  private readonly clock: Clock;
  private readonly hooks: FleetHooks;
  private readonly caller: StoreCaller;
  private readonly requests: ExchangeRequestBuilder;
  private readonly schedule: CallSchedule;
  private readonly first: FirstRequest;
  private readonly ttlMs: number;
  private refusal: Error | undefined = undefined;
  private isClosed = false;
  private lostLeases = 0;

  constructor(store: StoreCalls, config: SharedConfig, clock: Clock, hooks: FleetHooks) {
    const run = globalThis.crypto.randomUUID();
    this.name = store.worker === undefined ? run : `${store.worker}/${run}`;
    this.account = new WorkerAccount(config, store.onStoreLoss === 'share');
    this.first = new FirstRequest(this.account, hooks);
    this.clock = clock;
    this.hooks = hooks;
    this.ttlMs = store.ttlMs ?? DEFAULT_TTL_MS;
    const timeoutMs = Math.max(50, this.ttlMs * 0.4);
    this.caller = new StoreCaller(store, clock, timeoutMs, {
      answered: (reply, ...times) => this.answered(reply, ...times),
      lost: (error, now) => this.lost(error, now),
      back: (awayMs, now) => this.back(awayMs, now),
      repeated: (request, now) => this.requests.repeated(request, now),
      called: (tookMs, isAnswered, now) => this.called(tookMs, isAnswered, now),
      isAwaited: () => this.hooks.waiting() > 0,
    });
    this.requests = new ExchangeRequestBuilder(this.name, this.account, hooks);
    const call = () => this.exchange();
    this.schedule = new CallSchedule(this.account, hooks, this.ttlMs, clock, call);
  }

  /** Why the store refuses this worker. */
  get error(): Error | undefined {
    return this.refusal;
  }

  /** Whether requests wait here because of a learned limit. */
  get isHeldBack(): boolean {
    const { account } = this;
    return this.hooks.waiting() > 0 && (account.isPaced || account.isLearnedShort);
  }

  /** Whether the store cannot be reached. */
  get isAway(): boolean {
    return this.caller.isAway;
  }

  /** @returns as `Policy.wait`, but never `REFUSED` */
  wait(request: FleetRequest, now: number): number {
    const waitMs = this.first.check(request, now);
    if (waitMs === 0 && this.first.isKept && this.mustRenew()) this.reportSoon(now);
    if (waitMs !== Number.POSITIVE_INFINITY) return waitMs;
    const hasCalled = this.ask(now);
    // A store within the process has already replied.
    const restMs = this.first.check(request, now);
    // Its reply came before the request was in the queue, so nobody asks again for it.
    if (hasCalled && !this.caller.isBusy && restMs === Number.POSITIVE_INFINITY) {
      this.schedule.askAgain(request, now, now);
    }
    return restMs;
  }

  take(request: FleetRequest, now: number): void {
    this.first.sent();
    this.account.take(request, now);
    this.reportSoon(now);
  }

  /** A request has ended. @param corrections its cost beyond (or below) its charge, by limit */
  giveBack(request: FleetRequest, corrections: readonly number[] | undefined, now: number): void {
    const hasFreed = this.account.giveBack(request, corrections, now);
    // Other workers wait for them.
    if (hasFreed) this.hurry(now);
    else this.reportSoon(now);
  }

  /** An amount of a limit was used without this limiter. */
  used(name: string, amount: number): void {
    const { account } = this;
    const amounts = account.limits.map((limit) => (limit.name === name ? amount : 0));
    if (amounts.every((each) => each === 0)) return;
    const now = this.clock.now();
    account.charge(amounts, now);
    this.reportSoon(now);
  }

  /** Calls the store at once, to report a change. */
  urge(): void {
    this.schedule.hasChanged = true;
    if (!this.caller.isBusy) this.exchange();
  }

  /** Calls the store with the next tick, to report a change. */
  reportSoon(now: number): void {
    this.schedule.hasChanged = true;
    this.setTimer(now);
  }

  /** Calls the store soon, to report a change on which all workers depend. */
  hurry(now: number): void {
    this.schedule.hasChanged = true;
    if (!this.isClosed && !this.caller.isBusy) this.schedule.hurry(now);
  }

  /**
   * The provider has rejected a request. A worker that goes on alone learns no lower rate from it,
   * and sends nothing for the named wait, or for the usual backoff if that is longer.
   */
  rejected(now: number, retryAfterMs = 0): void {
    const { account } = this;
    if (account.isAlone) account.hold(now + Math.max(retryAfterMs, DEFAULT_BACKOFF_MS));
    else {
      account.rejected(now);
      this.hurry(now);
    }
  }

  /** The limits of this limiter have changed. The newest limits apply to all workers. */
  configure(config: SharedConfig): void {
    this.adopt(config);
    this.requests.isConfigTold = false;
    const now = this.clock.now();
    if (this.account.isAlone) this.account.goAlone(now, now + this.ttlMs);
    if (this.requests.count > 0) this.urge();
  }

  /** Gives everything back. Results of requests in flight are no longer reported. */
  close(): void {
    this.isClosed = true;
    this.schedule.cancel();
    if (this.requests.count === 0 || this.refusal !== undefined) return;
    this.account.returnAll();
    this.caller.end(this.requests.build(this.first.request, false, true, this.clock.now()));
  }

  snapshot(): FleetSnapshot {
    const { name: worker, caller, lostLeases } = this;
    const { last, holdings } = this.account;
    const waitsFor = this.hooks.waiting() > 0 ? this.account.shortageOf(this.first.request) : '';
    return fleetSnapshot({ worker, caller, last, holdings, lostLeases, waitsFor });
  }

  /**
   * Asks the store for more: at once, or after the shortest gap since the last call.
   * @returns whether it was called at once
   */
  private ask(now: number): boolean {
    if (this.isClosed) return false;
    if (this.caller.isBusy) {
      this.schedule.hasChanged = true;
      return false;
    }
    if (!this.schedule.ask(this.first.request, now)) return false;
    this.exchange(true);
    return true;
  }

  /** Whether limits elsewhere may let the first request pass at any time: its grant is kept valid. */
  private mustRenew(): boolean {
    const hasGrants = this.account.holdings.credits.lastDueAt > Number.NEGATIVE_INFINITY;
    return hasGrants && this.hooks.isNextElsewhere();
  }

  private setTimer(now: number): void {
    if (this.isClosed || this.caller.isBusy || this.requests.count === 0) return;
    this.schedule.setTimer(now);
  }

  /** @param isAsking whether the call is for a request that may not be in the queue yet */
  private exchange(isAsking = false): void {
    if (this.caller.isBusy || this.isClosed || this.refusal !== undefined) return;
    const now = this.clock.now();
    // Lets a due request pass first: after a late timer, the call would return its grant as late.
    const { first, requests } = this;
    const { count } = requests;
    if (first.isDue(now)) {
      this.hooks.changed();
      // The hook has made a call, or closed the worker.
      if (requests.count !== count || this.isClosed) return;
    }
    this.schedule.cancel();
    this.account.meter.look(now);
    first.prepare(isAsking, now);
    const request = requests.build(first.request, first.isKept, false, now);
    this.schedule.called(first.request, now);
    this.caller.call(request);
  }

  private answered(reply: ExchangeReply, sentAt: number, now: number, repeatedMs: number): void {
    if (reply.status === 'protocol') {
      this.refusal = new StoreProtocolError(PROTOCOL, reply.protocol);
      this.hooks.changed();
      return;
    }
    if (reply.status === 'config') {
      this.requests.isConfigTold = false;
      this.requests.untold();
      if (this.account.last !== undefined) this.account.forgetCharges();
      // A store within the process replies before the request has entered the queue.
      this.exchange(true);
      return;
    }
    // A worker without slots lets its lease end while it is idle, and loses nothing by that.
    const hadNothing = reply.lost === 1 && this.account.last?.slots === 0;
    this.granted(
      { ...reply, ...leftOf(reply, repeatedMs), ...(hadNothing && { lost: 0 }) },
      sentAt,
      now,
    );
    if (this.caller.isBusy) return;
    const { slots, credits } = this.account.holdings;
    // Slots and grants that were requested ahead are returned soon if they are not used.
    const hasMore = slots.free > 0 || credits.lastDueAt > Number.NEGATIVE_INFINITY;
    if ((hasMore && this.hooks.waiting() === 0) || this.mustRenew()) {
      this.schedule.hasChanged = true;
    }
    this.setTimer(now);
    if (this.first.isShort(reply, now)) {
      this.schedule.askAgain(this.first.request, sentAt, now);
    }
  }

  private granted(answer: GrantReply, sentAt: number, now: number): void {
    const { account, first } = this;
    const { last: before, holdings } = account;
    const hasForgotten = before !== undefined && answer.run !== before.run;
    if (answer.config !== undefined && this.requests.last?.config === undefined)
      this.requests.untold();
    if (hasForgotten) {
      account.forgetCharges();
      // The store keeps room for this worker until it calls again.
      this.schedule.hasChanged = true;
    }
    // If the limits changed during the call, the next call sends them.
    const hasOthers = this.requests.isOutdated;
    const reply = hasOthers ? withoutRates(answer) : answer;
    if (hasOthers) this.schedule.hasChanged = true;
    else this.requests.isConfigTold = true;
    account.heard(reply, sentAt, now);
    holdings.renew(sentAt + this.ttlMs / 2);
    if (reply.config !== undefined) this.meet(reply.config, now);
    if (this.hooks.waiting() === 0) first.request = undefined;
    if (reply.lost === 1) this.lostLeases += 1;
    const isKept = this.requests.last?.keeps === 1;
    if (isKept) holdings.credits.renew(now);
    // Grants from before a rate was learned lack its amounts, and would be reserved a second time.
    if (first.request !== undefined && isNewlyPaced(before, reply)) {
      account.coverLearned(first.request, now);
    }
    account.receive(reply, first.request, isKept, now);
    this.hooks.answered(reply, hasForgotten, now, sentAt);
    const isNews =
      hasOthers ||
      reply.config !== undefined ||
      reply.why !== (before?.why ?? '') ||
      reply.amounts.some((amount) => amount > 0);
    if (isNews || holdings.slots.free > 0 || holdings.bytes.free > 0) this.hooks.changed();
  }

  /** Takes over the configuration of the store, if another worker has set it. */
  private meet(config: SharedConfig, now: number): void {
    if (JSON.stringify(config) === JSON.stringify(this.account.config)) return;
    this.adopt(config);
    this.hooks.reconfigured(config, this.account.last?.epoch ?? 0, now);
    this.schedule.hasChanged = true;
  }

  private adopt(config: SharedConfig): void {
    this.account.adopt(config);
    this.first.request = undefined;
  }

  private called(tookMs: number, isAnswered: boolean, now: number): void {
    this.hooks.called(tookMs, isAnswered);
    if (!isAnswered && this.account.stayAlone(now)) this.hooks.changed();
  }

  private lost(error: Error, now: number): void {
    this.account.goAlone(now, now + this.ttlMs);
    this.hooks.lost(error, now);
    this.hooks.changed();
  }

  private back(awayMs: number, now: number): void {
    this.account.comeBack();
    this.hooks.back(awayMs, now);
  }
}
