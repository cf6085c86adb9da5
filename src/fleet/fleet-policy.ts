import type { GateKind } from '../model/outcome.ts';
import {
  type CompletedAttempt,
  type Policy,
  REFUSED,
  type RequestCost,
  type Time,
} from '../policies/policy.ts';
import type { Reservation } from '../policies/rate-limit/reservation.ts';
import type { RateLimitPolicy } from '../policies/rate-limit-policy.ts';
import type { FleetRequest } from './fleet-hooks.ts';
import type { FleetWorker } from './fleet-worker.ts';
import { PACED, type ReportedAttempt, WAITED } from './learning/attempt-reports.ts';
import type { FleetLearning } from './learning/fleet-learning.ts';
import type { SharedConfig, Shortage } from './protocol.ts';
import { micro } from './shared-limits-config.ts';

/** The gate that a wait is counted under, by the reason of the store. */
const BINDING: Readonly<Record<Shortage, GateKind>> = {
  '': 'shared',
  limit: 'rateLimit',
  learned: 'pace',
  slots: 'concurrency',
  bytes: 'byteBudget',
  closed: 'backoff',
  broken: 'circuitBreaker',
  recovering: 'shared',
};

/** The charges of one attempt. */
interface Charge {
  readonly own: Reservation | 0;
  readonly request: FleetRequest;
  readonly limits: SharedConfig['limits'];
  readonly attempt: ReportedAttempt | undefined;
  readonly ledger: number;
  /** In ms of the worker's clock. */
  readonly at: number;
}

/**
 * The limits that all workers of a key share, as a policy of attempts: an attempt is sent when this
 * worker's own rate limits and the store allow it.
 */
export class FleetPolicy implements Policy<Charge> {
  binding: GateKind = 'shared';
  bindingLimit: string | undefined = undefined;
  /** Undefined: the rate does not adapt. */
  learning: FleetLearning | undefined = undefined;
  /** Whether the head of the queue has waited for more than the reply of the store. */
  private hasWaited = false;
  private readonly find: () => FleetWorker | undefined;
  private found: FleetWorker | undefined = undefined;
  private readonly own: RateLimitPolicy | undefined;
  private asked: RequestCost | undefined = undefined;
  private cost: FleetRequest = { costs: [], slots: 1, bytes: 0, tokens: 0 };
  private limits: SharedConfig['limits'] | undefined = undefined;

  /** @param find returns the worker, which exists before the first request */
  constructor(find: () => FleetWorker | undefined, own: RateLimitPolicy | undefined) {
    this.find = find;
    this.own = own;
  }

  private get worker(): FleetWorker {
    this.found ??= this.find();
    return this.found as FleetWorker;
  }

  get readsUsage(): boolean {
    return this.own?.readsUsage === true || this.learning !== undefined;
  }

  wait(request: RequestCost, now: number): number {
    const ownMs = this.own?.wait(request, now) ?? 0;
    if (ownMs !== 0) {
      this.binding = 'rateLimit';
      this.bindingLimit = this.own?.bindingLimit;
      return ownMs;
    }
    const { worker } = this;
    const waitMs = worker.error === undefined ? worker.wait(this.of(request), now) : 0;
    if (worker.error !== undefined) return REFUSED;
    if (waitMs === 0) return 0;
    if (worker.account.shortage !== '' || Number.isFinite(waitMs)) this.hasWaited = true;
    this.binding = worker.isAway ? 'shared' : BINDING[worker.account.shortage];
    this.bindingLimit = this.binding === 'rateLimit' ? worker.account.shortLimit : undefined;
    return waitMs;
  }

  refusal(request: RequestCost, now: number): Error {
    const error = this.worker.error ?? this.own?.refusal(request, now);
    return error ?? new TypeError('the shared store has refused this request');
  }

  take(request: RequestCost, now: number): Charge {
    const cost = this.of(request);
    const own = this.own?.take(request, now) ?? 0;
    const { worker } = this;
    const hasWaited = this.hasWaited || worker.isHeldBack;
    const flags = hasWaited ? (worker.account.isPaced ? PACED | WAITED : WAITED) : 0;
    const attempt = this.learning?.reports.sent(flags, request.tokens, now);
    this.hasWaited = false;
    worker.take(cost, now);
    this.asked = undefined;
    return {
      own,
      request: cost,
      limits: worker.account.limits,
      attempt,
      ledger: worker.account.ledger,
      at: now,
    };
  }

  giveBack(charge: Charge, completed: CompletedAttempt, time: Time): void {
    const { own, request, limits, attempt, ledger, at } = charge;
    const now = time.now();
    const changes = this.corrections(request, limits, completed);
    const corrections = changes && this.ofWindow(changes, limits, now - at);
    const isKnown = ledger === this.worker.account.ledger;
    // A charge that the store no longer knows is not refunded.
    const due = isKnown ? corrections : corrections?.map((amount) => Math.max(0, amount));
    this.worker.giveBack(request, due, now);
    if (own !== 0) this.own?.giveBack(own, completed, time);
    if (attempt === undefined) return;
    const isRejected = this.learning?.reports.ended(attempt, completed, now) === true;
    if (isRejected) this.worker.hurry(now);
  }

  idle(): void {
    this.asked = undefined;
  }

  snapshot(now: number): object {
    return this.own?.snapshot(now) ?? {};
  }

  private of(request: RequestCost): FleetRequest {
    const { limits, mostSlots } = this.worker.account;
    // If the limit was lowered below the weight of a waiting request, the request is sent alone.
    const slots = Math.min(request.weight ?? 1, mostSlots);
    const isKnown = request === this.asked && limits === this.limits;
    if (isKnown && slots === this.cost.slots) return this.cost;
    this.asked = request;
    this.limits = limits;
    const known = this.own?.costsOf(request) ?? [];
    const rules = this.own?.limits.rules ?? [];
    const costs = limits.map(({ name }) => {
      const place = rules.findIndex((rule) => rule.name === name);
      if (rules[place]?.charge === 'actual') return 0;
      return micro(known[place] ?? request.costs?.[name] ?? usual(name, request));
    });
    this.cost = {
      costs,
      slots,
      bytes: Math.ceil(request.bytes),
      tokens: micro(request.tokens),
    };
    return this.cost;
  }

  /**
   * Reduces refunds to the part that the window still holds. A bucket regains a charge in the
   * course of one window: half a window after a charge, half of it is refilled already.
   */
  private ofWindow(
    changes: readonly number[],
    limits: SharedConfig['limits'],
    ageMs: number,
  ): readonly number[] {
    const rules = this.own?.limits.rules ?? [];
    return changes.map((change, place) => {
      if (change >= 0) return change;
      const rule = rules.find(({ name }) => name === limits[place]?.name);
      if (rule === undefined || rule.algorithm === 'token-bucket') return change;
      return Math.ceil(change * Math.max(0, 1 - ageMs / rule.windowMs)) + 0;
    });
  }

  /** The cost of an attempt minus its charge, by limit; undefined: no correction. */
  private corrections(
    { costs }: FleetRequest,
    limits: SharedConfig['limits'],
    { isSent, verdict, usage, ...request }: CompletedAttempt,
  ): readonly number[] | undefined {
    // Other limits apply by now, with new buckets.
    if (limits !== this.worker.account.limits || costs.length === 0) return undefined;
    const isFree =
      !isSent || (verdict?.kind === 'throttled' && this.own?.options.refundRejected === true);
    if (isFree) return costs.map((cost) => -cost);
    const rules = this.own?.limits.rules ?? [];
    let isCorrected = false;
    const corrections = limits.map(({ name }, place) => {
      const rule = rules.find((each) => each.name === name);
      if (rule === undefined || rule.charge === 'upfront') return 0;
      const charged = costs[place] as number;
      const actual = usage?.[name];
      const isUnknown = actual === undefined && rule.charge === 'settle';
      const used = isUnknown ? charged : micro(actual ?? usual(name, request));
      if (used !== charged) isCorrected = true;
      return used - charged;
    });
    return isCorrected ? corrections : undefined;
  }
}

function usual(name: string, { tokens, bytes }: Pick<RequestCost, 'tokens' | 'bytes'>): number {
  if (name === 'requests') return 1;
  if (name === 'tokens') return tokens;
  return name === 'bytes' ? bytes : 0;
}
