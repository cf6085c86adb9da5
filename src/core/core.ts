import type { Verdict } from '../model/feedback.ts';
import type { GateKind } from '../model/outcome.ts';
import type { Amounts } from '../model/ticket.ts';

/** What a core needs to know of a request. */
export interface Demand {
  readonly bytes: number;
  readonly tokens: number;
  /** Slots that it takes while it is in flight. Default 1. */
  readonly weight?: number;
  /** What it costs of rate limits, where that is not what they expect. */
  readonly costs?: Amounts | undefined;
  /** Set by a policy that needs the tokens of the answer as providers price them. */
  isPriced?: boolean;
}

/** A request whose attempt has ended, or was never made. */
export interface Ended extends Demand {
  /** Whether it was sent. */
  readonly isSent: boolean;
  /** What the provider has answered; undefined: nothing, as when it was cancelled. */
  readonly verdict: Verdict | undefined;
  /** What it has really used, as far as that is known. */
  readonly usage: Amounts | undefined;
  /** The backoff in force when it was sent. */
  readonly epoch: number;
}

/** Reads the time, where it is needed: reading a clock may cost more than all the rest. */
export interface Time {
  now(): number;
}

/** Answer of {@link Core.wait}: no wait will do. `refusal` has the error. */
export const REFUSED = -1;

/**
 * A pure state machine that says when a request may pass. It has no timer, no clock and no queue:
 * the gate around it waits.
 */
export interface Core<Charge = unknown> {
  /**
   * How long the request must wait, asked of the request at the head of the queue.
   * @returns 0: it may pass now. A number of milliseconds: ask again then, or after something was
   * given back. Infinity: ask again when something was given back. {@link REFUSED}: it never may.
   */
  wait(demand: Demand, now: number): number;
  /** The error of a request that was refused. */
  refusal?(demand: Demand, now: number): Error;
  /**
   * Whether nobody may pass until something was given back, whatever they demand and whenever that
   * is: then nobody need be asked for, and no clock be read. Default false.
   */
  readonly isFull?: boolean;
  /** What made the last request wait, where a core minds several things. */
  readonly binding?: GateKind;
  /** Which named limit did, where it keeps several. */
  readonly bindingLimit?: string | undefined;
  /** Charges a request that need not wait. Returns the charge; 0 if there is nothing to give back. */
  take(demand: Demand, now: number): Charge | 0;
  /** Takes a charge back: the request has ended, or its attempt where it is charged for each. */
  giveBack(charge: Charge, ended: Ended, time: Time): void;
  /** Why no wait would be enough for a request; undefined: it would. */
  impossible?(demand: Demand): Error | undefined;
  /** Whether the usage in answers that went well must be read. Default false. */
  readonly readsUsage?: boolean;
  /** Nobody waits for this now: nobody waits at all, or for something else first. */
  idle?(): void;
  /** When time alone changes the state in a way that others should know; default Infinity. */
  readonly nextChangeAt?: number;
  /** Does what is due by now. */
  advance?(now: number): void;
  /** The state in plain numbers, for people and gauges. */
  snapshot(now: number): object;
}

/** Until when requests are to be held back more than usual: shared by the gates that mind. */
export interface ModeState {
  /** Throttled mode ends at this time of the clock; -Infinity if there was none. */
  readonly throttledUntil: number;
}

/** For gates that know of no provider. */
export const ALWAYS_NORMAL: ModeState = { throttledUntil: Number.NEGATIVE_INFINITY };
