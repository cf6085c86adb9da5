import type { GateKind } from '../model/outcome.ts';
import type { CompletedAttempt, Policy, RequestCost, Time } from '../policies/policy.ts';
import { checkNumber } from '../util/check.ts';
import { type Contender, FairOrder } from './fair-order.ts';

/** No store grants more requests than this at once. */
const MOST_COUNTED = 10_000;

/** A request's charges at one of several gates: by its own limits and by the shared ones. */
interface Charge {
  readonly own: unknown;
  readonly common: unknown;
  /** What the turn was charged; undefined: the request passed without one. */
  readonly turn: number | undefined;
}

/**
 * Limits that several gates share, beside limits of their own, such as one gate for each key. A
 * request passes if both allow it, and is charged by both or by neither.
 *
 * While the shared limits hold requests back, the gates take turns by the cost of their requests
 * (`FairOrder`): for two gates that both have waiters, the admitted costs differ by at most the sum
 * of their largest costs. What a request has really cost replaces the expected cost when its attempt
 * has ended, so wrong estimates only delay the balance. A gate that is held back by its own limits
 * takes no turn, and delays no other gate. O(log gates) per request.
 */
export class SharedPolicy {
  private readonly limits: Policy;
  private readonly costOf: (request: RequestCost) => number;
  private readonly realCostOf: (completed: CompletedAttempt) => number | undefined;
  private readonly order = new FairOrder<SharedPolicyMember>();
  private readonly waiters = new Set<SharedPolicyMember>();
  private draining = false;
  private again = false;
  /** Counts the calls of `drain`: after each, an earlier answer may be out of date. */
  private changes = 0;

  /**
   * @param limits the shared limits
   * @param costOf the cost of a request in the turns: finite, >= 0
   * @param realCostOf what it has really cost there; undefined: as expected, or not known
   */
  constructor(
    limits: Policy,
    costOf: (request: RequestCost) => number,
    realCostOf: (completed: CompletedAttempt) => number | undefined = () => undefined,
  ) {
    this.limits = limits;
    this.costOf = costOf;
    this.realCostOf = realCostOf;
  }

  /**
   * The policy of one of the gates.
   * @param own its own limits
   * @param wake makes the gate decide again
   * @param waiting how many requests wait at the gate
   */
  policyOf(own: Policy, wake: () => void, waiting: () => number): Policy {
    return new SharedPolicyMember(this, own, wake, waiting);
  }

  /** The number of requests that wait at the gates that take turns, up to `MOST_COUNTED`. */
  get waiting(): number {
    let sum = 0;
    for (const member of this.waiters) {
      sum += Math.max(1, member.waiting());
      if (sum >= MOST_COUNTED) return MOST_COUNTED;
    }
    return sum;
  }

  get binding(): GateKind | undefined {
    return this.limits.binding;
  }

  /** Prefixed with `shared.`, as in gauges, to distinguish it from the gate's own limits. */
  get bindingLimit(): string | undefined {
    const { bindingLimit } = this.limits;
    return bindingLimit === undefined ? undefined : `shared.${bindingLimit}`;
  }

  /** @internal asked about the head of a gate whose own limits let it pass */
  wait(member: SharedPolicyMember, request: RequestCost, now: number): number {
    const cost = checkNumber('cost', this.costOf(request), 0);
    if (member.isWaiting) this.order.change(member, cost);
    if (this.order.next !== undefined) {
      this.join(member, cost);
      if (this.order.next !== member) {
        // When its turn comes, the gate is woken and decides again. It asks its own limits again
        // too, which may have changed while other requests passed.
        this.drain();
        return Number.POSITIVE_INFINITY;
      }
    }
    let waitMs: number;
    let before: number;
    // A listener of the wait may have given back or added enough.
    do {
      before = this.changes;
      waitMs = this.limits.wait(request, now);
    } while (waitMs !== 0 && before !== this.changes);
    if (waitMs > 0) this.join(member, cost);
    return waitMs;
  }

  /** @internal */
  isTurnOf(member: SharedPolicyMember): boolean {
    return this.order.next === member;
  }

  /** @internal */
  refusal(request: RequestCost, now: number): Error | undefined {
    return this.limits.refusal?.(request, now);
  }

  /** @internal */
  take(member: SharedPolicyMember, own: unknown, request: RequestCost, now: number): Charge {
    const turn = member.isWaiting ? this.order.serve(member) : undefined;
    return { own, common: this.limits.take(request, now), turn };
  }

  /** @internal */
  giveBack(
    member: SharedPolicyMember,
    { common, turn }: Charge,
    completed: CompletedAttempt,
    time: Time,
  ): void {
    if (common !== 0) this.limits.giveBack(common, completed, time);
    const realCost = turn === undefined ? undefined : this.realCostOf(completed);
    if (turn !== undefined && realCost !== undefined) {
      this.order.correct(member, turn, realCost, member.isWaiting);
    }
    this.drain();
  }

  /** @internal the gate has no request that waits for the shared limits */
  leave(member: SharedPolicyMember): void {
    if (!member.isWaiting) return;
    member.isWaiting = false;
    this.waiters.delete(member);
    this.order.leave(member);
    this.drain();
  }

  /**
   * Wakes the gates whose turn it is, until one of them has to wait. A gate that ends its turn calls
   * this again.
   */
  drain(): void {
    this.changes += 1;
    this.again = true;
    if (this.draining) return;
    this.draining = true;
    try {
      while (this.again) {
        this.again = false;
        this.order.next?.wake();
      }
    } finally {
      this.draining = false;
    }
  }

  private join(member: SharedPolicyMember, cost: number): void {
    if (member.isWaiting) return;
    member.isWaiting = true;
    this.waiters.add(member);
    this.order.join(member, cost);
  }
}

/** One of the gates that share the limits. */
class SharedPolicyMember implements Policy<Charge>, Contender {
  readonly places = [0, 0];
  readonly wake: () => void;
  readonly waiting: () => number;
  startsAt = 0;
  finishesAt = 0;
  isNew = true;
  arrival = 0;
  /** Whether it takes turns, because a request waits here for the shared limits. */
  isWaiting = false;
  binding: GateKind | undefined = undefined;
  bindingLimit: string | undefined = undefined;
  private readonly shared: SharedPolicy;
  private readonly own: Policy;
  private refuser: 'own' | 'common' = 'own';

  constructor(shared: SharedPolicy, own: Policy, wake: () => void, waiting: () => number) {
    this.shared = shared;
    this.own = own;
    this.wake = wake;
    this.waiting = waiting;
  }

  get isShared(): boolean {
    return this.refuser === 'common';
  }

  get isNext(): boolean {
    return this.isShared && this.shared.isTurnOf(this);
  }

  wait(request: RequestCost, now: number): number {
    const ownMs = this.own.wait(request, now);
    if (ownMs !== 0) {
      this.binding = this.own.binding;
      this.bindingLimit = this.own.bindingLimit;
      this.refuser = 'own';
      this.shared.leave(this);
      return ownMs;
    }
    const commonMs = this.shared.wait(this, request, now);
    if (commonMs !== 0) {
      this.binding = this.shared.binding;
      this.bindingLimit = this.shared.bindingLimit;
    }
    this.refuser = 'common';
    return commonMs;
  }

  refusal(request: RequestCost, now: number): Error {
    const refuser = this.refuser === 'own' ? this.own : this.shared;
    const error = refuser.refusal?.(request, now);
    return error ?? new TypeError('no limit has refused this request');
  }

  take(request: RequestCost, now: number): Charge {
    this.refuser = 'own';
    const own = this.own.take(request, now);
    return this.shared.take(this, own, request, now);
  }

  giveBack(charge: Charge, completed: CompletedAttempt, time: Time): void {
    if (charge.own !== 0) this.own.giveBack(charge.own, completed, time);
    this.shared.giveBack(this, charge, completed, time);
  }

  idle(): void {
    this.refuser = 'own';
    this.shared.leave(this);
  }

  snapshot(now: number): object {
    return this.own.snapshot(now);
  }
}
