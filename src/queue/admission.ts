import type { Core } from '../core/core.ts';
import type { Clock } from '../model/clock.ts';
import type { LeaseIssuer, Ticket } from '../model/ticket.ts';

/**
 * The policies of a gate as one decision: those that a request holds something of over all its
 * attempts (a slot, bytes), and those that are asked for each attempt. A request that was sent before
 * holds the former, and is asked for the latter alone.
 */
export class Admission<C extends Core = Core> {
  /** Asked for each attempt. */
  readonly core: C;
  private readonly hold: Core<number> | undefined;
  private readonly holdIssuer: LeaseIssuer;
  /** What has held the last request back. */
  private _binding: Core;

  /** @param givenBack called after a request has given back what it held */
  constructor(core: C, hold: Core<number> | undefined, clock: Clock, givenBack: () => void) {
    this.core = core;
    this.hold = hold;
    this._binding = core;
    this.holdIssuer = {
      giveBack: (charge, ticket) => {
        hold?.giveBack(charge as number, ticket, clock);
        givenBack();
      },
    };
  }

  /** What has held the last request back. */
  get binding(): Core {
    return this._binding;
  }

  /** Whether that was what requests hold over their attempts. */
  get isHoldShort(): boolean {
    return this._binding === this.hold;
  }

  /** Whether the end of a request gives back more than the end of its attempt. */
  get hasHold(): boolean {
    return this.hold !== undefined;
  }

  /** Whether nothing but what is given back can help a request: then no clock need be read. */
  isFull(isRetry: boolean): boolean {
    const hold = this.holdOf(isRetry);
    const isHoldFull = hold?.isFull === true;
    this._binding = isHoldFull ? hold : this.core;
    return isHoldFull || this.core.isFull === true;
  }

  /** @returns as `Core.wait` */
  wait(ticket: Ticket, isRetry: boolean, now: number): number {
    const hold = this.holdOf(isRetry);
    const heldMs = hold === undefined ? 0 : hold.wait(ticket, now);
    this._binding = heldMs === 0 ? this.core : (hold ?? this.core);
    return heldMs === 0 ? this.core.wait(ticket, now) : heldMs;
  }

  /** What binds those that wait behind one that `core` holds back: what they lack first. */
  bindingBehind(isRetry: boolean): Core {
    const hold = this.holdOf(isRetry);
    return hold?.isFull ? hold : this.core;
  }

  refusal(ticket: Ticket, now: number): Error | undefined {
    const refuser = this.isHoldShort ? this.hold : this.core;
    return refuser?.refusal?.(ticket, now);
  }

  /** Charges a request that need not wait, to all policies. @param gate lends what an attempt takes */
  charge(ticket: Ticket, isRetry: boolean, gate: LeaseIssuer, now: number): void {
    ticket.readAt = now;
    const hold = this.holdOf(isRetry);
    if (hold !== undefined) ticket.lend(this.holdIssuer, hold.take(ticket, now));
    const charge = this.core.take(ticket, now);
    if (charge !== 0) ticket.lend(gate, charge);
  }

  private holdOf(isRetry: boolean): Core<number> | undefined {
    return isRetry ? undefined : this.hold;
  }
}
