import type { Verdict } from '../model/feedback.ts';
import type { GateKind } from '../model/outcome.ts';
import type { Amounts } from '../model/ticket.ts';

/** What policies need to know about a request. */
export interface RequestCost {
  readonly bytes: number;
  readonly tokens: number;
  /** Slots that it takes while it is in flight. Default 1. */
  readonly weight?: number;
  /** Its costs by rate limit, if they differ from the expected ones. */
  readonly costs?: Amounts | undefined;
  /**
   * Whether it is a call of a limiter (`run`, `acquire`, `fetch`), not a request of a stream.
   * Default false.
   */
  readonly isCall?: boolean;
  /** Set by a policy that needs the tokens of the answer as providers price them. */
  isPriced?: boolean;
}

/** A request whose attempt ended, or was not made. */
export interface CompletedAttempt extends RequestCost {
  /** Whether it was sent. */
  readonly isSent: boolean;
  /** The provider's answer; undefined if there is none, as after a cancellation. */
  readonly verdict: Verdict | undefined;
  /** Its real usage, as far as it is known. */
  readonly usage: Amounts | undefined;
  /** The backoff in force when it was sent. */
  readonly epoch: number;
}

/** Reads the time only where it is needed: reading a clock may cost more than everything else. */
export interface Time {
  now(): number;
}

/** Answer of {@link Policy.wait} for a request that can never pass. `refusal` returns the error. */
export const REFUSED = -1;

/**
 * A pure state machine that says when a request may pass. It has no timer, no clock and no queue:
 * the gate around it waits.
 */
export interface Policy<Charge = unknown> {
  /**
   * The wait of the request at the head of the queue.
   * @returns 0: it may pass now. A number of milliseconds: ask again then, or after a lease was
   * given back. Infinity: ask again when a lease was given back. {@link REFUSED}: it can never
   * pass.
   */
  wait(request: RequestCost, now: number): number;
  /** The error of a refused request. */
  refusal?(request: RequestCost, now: number): Error;
  /**
   * Whether no request can pass until a lease is given back, whatever its cost and however late.
   * Then no request is asked about, and the clock is not read. Default false.
   */
  readonly isFull?: boolean;
  /** The cause of the last request's wait, if a policy has several. */
  readonly binding?: GateKind;
  /** The named limit that caused it, if the policy has several. */
  readonly bindingLimit?: string | undefined;
  /** Charges a request that may pass. Returns the charge; 0 if there is nothing to give back. */
  take(request: RequestCost, now: number): Charge | 0;
  /** Takes a charge back when the request, or its attempt if each attempt is charged, has ended. */
  giveBack(charge: Charge, completed: CompletedAttempt, time: Time): void;
  /** A part of this is in force no more: what that has charged is not given back to it. */
  retire?(part: Policy): void;
  /** The error of a request that no wait is enough for; undefined if a wait is enough. */
  impossible?(request: RequestCost): Error | undefined;
  /** Whether the usage in answers that went well must be read. Default false. */
  readonly readsUsage?: boolean;
  /** Called when no request waits for this policy. */
  idle?(): void;
  /** When time alone changes the state so that an event is due; default Infinity. */
  readonly nextChangeAt?: number;
  /** Makes the changes that are due. */
  advance?(now: number): void;
  /** The state in plain numbers, for people and gauges. */
  snapshot(now: number): object;
}

/** The end of throttled mode, shared by the gates that depend on it. */
export interface ModeState {
  /** Throttled mode ends at this time of the clock; -Infinity if there was none. */
  readonly throttledUntil: number;
}

/** For gates without feedback. */
export const ALWAYS_NORMAL: ModeState = { throttledUntil: Number.NEGATIVE_INFINITY };
