import type { Verdict } from '../model/feedback.ts';
import type { LeaseIssuer, Ticket } from '../model/ticket.ts';
import type { Policy } from '../policies/policy.ts';
import type { Clock } from '../util/clock.ts';
import type { Refusing } from './gate-rules.ts';

/** A charge of a policy that replaced the first policy of its gate. */
class LaterCharge {
  readonly policy: Policy;
  readonly charge: unknown;

  constructor(policy: Policy, charge: unknown) {
    this.policy = policy;
    this.charge = charge;
  }
}

/**
 * The gate. It issues the leases of attempts, and is called after a request has given back its
 * leases.
 */
interface IssuingGate extends LeaseIssuer {
  drain(): void;
}

/** Issues the leases that requests hold over all their attempts. */
class HoldIssuer implements LeaseIssuer {
  private readonly hold: Policy<number> | undefined;
  private readonly clock: Clock;
  private readonly gate: IssuingGate;

  constructor(hold: Policy<number> | undefined, clock: Clock, gate: IssuingGate) {
    this.hold = hold;
    this.clock = clock;
    this.gate = gate;
  }

  giveBack(charge: unknown, ticket: Ticket): void {
    this.hold?.giveBack(charge as number, ticket, this.clock);
    this.gate.drain();
  }
}

/**
 * The policies of a gate as one decision. A request holds the leases of some policies over all its
 * attempts (a slot, bytes). The other policies are asked for each attempt; a retry asks only these,
 * because it still holds its slot and bytes.
 */
export class Admission<C extends Policy = Policy> {
  /** The policy that is asked for each attempt. */
  policy: C;
  /** The cause of the last request's wait. */
  binding: Policy;
  /** The first policy; most gates have no other. */
  private readonly original: C;
  private readonly clock: Clock;
  private readonly hold: Policy<number> | undefined;
  private readonly holdIssuer: LeaseIssuer;
  private readonly gate: LeaseIssuer;
  /** Requests that were sent before and gave back all leases, until they pass again. */
  private readonly anew = new WeakSet<Ticket>();
  /** Refuses all requests that arrive, retries too; undefined if none are refused. */
  private suspension: Refusing | undefined = undefined;

  constructor(policy: C, hold: Policy<number> | undefined, clock: Clock, gate: IssuingGate) {
    this.policy = policy;
    this.original = policy;
    this.clock = clock;
    this.hold = hold;
    this.gate = gate;
    this.binding = policy;
    this.holdIssuer = new HoldIssuer(hold, clock, gate);
  }

  /** Whether the cause is a policy whose leases requests hold over their attempts. */
  get isHoldShort(): boolean {
    return this.binding === this.hold;
  }

  /** Whether requests hold leases over their attempts. */
  get hasHold(): boolean {
    return this.hold !== undefined;
  }

  /** Whether no request can pass before a lease is given back. Then the clock is not read. */
  isFull(isRetry: boolean): boolean {
    const hold = this.holdOf(isRetry);
    const isHoldFull = hold?.isFull === true;
    this.binding = isHoldFull ? hold : this.policy;
    return isHoldFull || this.policy.isFull === true;
  }

  /** @returns as `Policy.wait` */
  wait(ticket: Ticket, isRetry: boolean, now: number): number {
    const hold = this.holdOf(isRetry);
    const heldMs = hold === undefined ? 0 : hold.wait(ticket, now);
    this.binding = heldMs === 0 ? this.policy : (hold ?? this.policy);
    return heldMs === 0 ? this.policy.wait(ticket, now) : heldMs;
  }

  /**
   * The cause for the requests that wait behind the head: the first policy that has no room for
   * them.
   */
  bindingBehind(isRetry: boolean): Policy {
    const hold = this.holdOf(isRetry);
    return hold?.isFull ? hold : this.policy;
  }

  /** Refuses all requests that arrive from now on, for as long as `refusal` returns an error. */
  suspend(refusing: Refusing): void {
    this.suspension = refusing;
  }

  /** The error of requests that arrive while sending is suspended. */
  refusalNow(): Error | undefined {
    if (this.suspension === undefined) return undefined;
    const error = this.suspension.refusal();
    if (error === undefined) this.suspension = undefined;
    return error;
  }

  /** The error of a request that may not wait. A suspension comes before any policy. */
  refusal(ticket: Ticket, now: number): Error | undefined {
    const refuser = this.isHoldShort ? this.hold : this.policy;
    return this.refusalNow() ?? refuser?.refusal?.(ticket, now);
  }

  /** Refuses a request that may not wait. */
  refuse(ticket: Ticket, now: number): void {
    const error = this.refusal(ticket, now);
    if (error !== undefined) ticket.refuse(error);
  }

  /** Charges a request that may pass to all policies. */
  charge(ticket: Ticket, isRetry: boolean, now: number): void {
    if (ticket.attempts === 0) ticket.startedAt = now;
    else if (!isRetry) this.anew.delete(ticket);
    const hold = this.holdOf(isRetry);
    if (hold !== undefined) ticket.lend(this.holdIssuer, hold.take(ticket, now));
    const { policy } = this;
    const charge = policy.take(ticket, now);
    if (charge === 0) return;
    ticket.lend(this.gate, policy === this.original ? charge : new LaterCharge(policy, charge));
  }

  /**
   * Takes back the leases that a request holds over all its attempts: it will be charged for them
   * again.
   */
  takeHoldBack(ticket: Ticket): void {
    this.anew.add(ticket);
    ticket.returnTo(this.holdIssuer);
  }

  /** Whether a request was sent before, and holds nothing now. */
  isAnew(ticket: Ticket): boolean {
    return this.anew.has(ticket);
  }

  /** Gives the charge of an attempt back to the policy that has charged it. */
  giveBack(charge: unknown, ticket: Ticket): void {
    if (charge instanceof LaterCharge) charge.policy.giveBack(charge.charge, ticket, this.clock);
    else this.original.giveBack(charge, ticket, this.clock);
  }

  /** Tells the policy that has charged an attempt that its answer has begun. */
  begun(charge: unknown, verdict: Verdict): void {
    if (charge instanceof LaterCharge) charge.policy.begun?.(charge.charge, verdict, this.clock);
    else this.original.begun?.(charge, verdict, this.clock);
  }

  private holdOf(isRetry: boolean): Policy<number> | undefined {
    return isRetry ? undefined : this.hold;
  }
}
