import type { Core, Demand, Ended, Time } from '../core/core.ts';
import type { GateKind } from '../model/outcome.ts';
import { type Contender, DeficitRound } from './deficit-round.ts';
import { Link } from './link.ts';

/** What one of several gates charges a request for: its own limits, and those that all share. */
interface Charge {
  readonly own: unknown;
  readonly common: unknown;
}

/**
 * Limits that several gates share, each beside limits of its own: a gate for each key, say. A
 * request passes when both let it, and is charged by both or by neither.
 *
 * While the shared limits hold requests back, the gates take turns by the cost of what they let
 * pass (deficit round robin): of two gates that both have waiters, what passes the one and the
 * other differs by at most `quantum` + 2 x the largest cost. A gate whose own limits hold it back
 * takes no turn, and keeps nobody waiting. O(1) a request, however many gates there are.
 */
export class SharedPolicy {
  private readonly core: Core;
  private readonly costOf: (demand: Demand) => number;
  private readonly round = new DeficitRound<SharedPolicyMember>(0, ({ cost }) => cost);
  private draining = false;
  private again = false;

  /**
   * @param core the shared limits
   * @param costOf what a request counts in the turns: finite, >= 0
   */
  constructor(core: Core, costOf: (demand: Demand) => number) {
    this.core = core;
    this.costOf = costOf;
  }

  /**
   * A core for one of the gates.
   * @param own its own limits
   * @param wake lets the gate ask again
   */
  coreOf(own: Core, wake: () => void): Core {
    return new SharedPolicyMember(this, own, wake);
  }

  get binding(): GateKind | undefined {
    return this.core.binding;
  }

  /** Named apart from the limits of each gate, as in gauges. */
  get bindingLimit(): string | undefined {
    const { bindingLimit } = this.core;
    return bindingLimit === undefined ? undefined : `shared.${bindingLimit}`;
  }

  /** @internal asked for the head of a gate that its own limits let pass */
  wait(member: SharedPolicyMember, demand: Demand, now: number): number {
    const cost = this.costOf(demand);
    if (cost !== member.cost) this.round.withdraw(member);
    member.cost = cost;
    if (member.isWaiting || this.round.spender() !== undefined) {
      this.join(member);
      if (this.round.spender() !== member) {
        // If its turn comes by that, its gate is woken and asks anew, of its own limits too: they may
        // have changed while others passed.
        this.drain();
        return Number.POSITIVE_INFINITY;
      }
    }
    const waitMs = this.core.wait(demand, now);
    if (waitMs > 0) this.join(member);
    return waitMs;
  }

  /** @internal */
  refusal(demand: Demand, now: number): Error | undefined {
    return this.core.refusal?.(demand, now);
  }

  /** @internal */
  take(member: SharedPolicyMember, demand: Demand, now: number): unknown {
    if (member.isWaiting) this.round.spend();
    return this.core.take(demand, now);
  }

  /** @internal */
  giveBack(charge: unknown, ended: Ended, time: Time): void {
    if (charge !== 0) this.core.giveBack(charge, ended, time);
    this.drain();
  }

  /** @internal nobody waits at the gate any more, or not for the shared limits */
  leave(member: SharedPolicyMember): void {
    if (!member.isWaiting) return;
    member.isWaiting = false;
    this.round.withdraw(member);
    this.round.leave(member);
    this.drain();
  }

  /** Wakes those whose turn it is, until one of them has to wait. */
  drain(): void {
    this.again = true;
    if (this.draining) return;
    this.draining = true;
    try {
      while (this.again) {
        this.again = false;
        for (let next = this.round.spender(); next !== undefined; next = this.round.spender()) {
          next.wake();
          if (this.round.spender() === next) break;
        }
      }
    } finally {
      this.draining = false;
    }
  }

  private join(member: SharedPolicyMember): void {
    if (member.isWaiting) return;
    member.isWaiting = true;
    this.round.join(member);
  }
}

/** One of the gates that share limits. */
class SharedPolicyMember implements Core<Charge>, Contender<SharedPolicyMember> {
  readonly turn: Link<SharedPolicyMember> = new Link(this);
  readonly wake: () => void;
  deficit = 0;
  /** Of the head of its queue. */
  cost = 0;
  /** Whether it takes turns: somebody waits here for the shared limits. */
  isWaiting = false;
  binding: GateKind = 'backoff';
  bindingLimit: string | undefined = undefined;
  private readonly shared: SharedPolicy;
  private readonly own: Core;
  private refuser: 'own' | 'common' = 'own';

  constructor(shared: SharedPolicy, own: Core, wake: () => void) {
    this.shared = shared;
    this.own = own;
    this.wake = wake;
  }

  get nextChangeAt(): number {
    return this.own.nextChangeAt ?? Number.POSITIVE_INFINITY;
  }

  advance(now: number): void {
    this.own.advance?.(now);
  }

  wait(demand: Demand, now: number): number {
    const ownMs = this.own.wait(demand, now);
    if (ownMs !== 0) {
      this.binding = this.own.binding ?? this.binding;
      this.bindingLimit = this.own.bindingLimit;
      this.refuser = 'own';
      this.shared.leave(this);
      return ownMs;
    }
    const commonMs = this.shared.wait(this, demand, now);
    if (commonMs !== 0) {
      this.binding = this.shared.binding ?? this.binding;
      this.bindingLimit = this.shared.bindingLimit;
    }
    this.refuser = 'common';
    return commonMs;
  }

  refusal(demand: Demand, now: number): Error {
    const refuser = this.refuser === 'own' ? this.own : this.shared;
    const error = refuser.refusal?.(demand, now);
    return error ?? new TypeError('no limit has refused this request');
  }

  take(demand: Demand, now: number): Charge {
    const own = this.own.take(demand, now);
    return { own, common: this.shared.take(this, demand, now) };
  }

  giveBack({ own, common }: Charge, ended: Ended, time: Time): void {
    if (own !== 0) this.own.giveBack(own, ended, time);
    this.shared.giveBack(common, ended, time);
  }

  idle(): void {
    this.shared.leave(this);
  }

  snapshot(now: number): object {
    return this.own.snapshot(now);
  }
}
