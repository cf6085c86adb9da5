import { estimateBytes, estimateTokens } from '../estimate/estimate.ts';
import { checkAmount, checkFunction, checkInteger, show } from '../model/check.ts';
import type { Clock } from '../model/clock.ts';
import { EstimatorError } from '../model/errors.ts';
import type { Mode } from '../model/feedback.ts';
import type { SettleOutcome } from '../model/outcome.ts';
import type { Probe } from '../model/probe.ts';
import { isSized, type Sized } from '../model/sized.ts';
import type { Tap } from '../model/tap.ts';
import type { TicketOwner } from '../model/ticket.ts';
import { type Amounts, Ticket } from '../model/ticket.ts';
import { checkEstimator, type Estimator, sizeOf } from './size.ts';

/** What a gate takes: a ticket, or what is to become one. */
export type RequestInput<T> = T | Sized<T> | Ticket<T>;

/** What a stream says of its requests. */
export interface RequestOptions<T> {
  /** How large a request is. Default: as `byteEstimate` does it. A `Sized` keeps the size it has. */
  readonly estimate?: Estimator<T>;
  /** What a request costs of named rate limits. Default: 1 of `requests`, its `tokens` and `bytes`. */
  readonly costs?: (value: T) => Amounts;
  /** An integer: a higher one goes first. Default 0. */
  readonly priority?: (value: T) => number;
  /** How many slots of `concurrency` a request takes, an integer >= 1. Default 1. */
  readonly weight?: (value: T) => number;
}

export const REQUEST_KEYS = ['estimate', 'costs', 'priority', 'weight'] as const;

/** @throws TypeError that names a wrong option */
export function checkRequestOptions<T>({
  estimate,
  costs,
  priority,
  weight,
}: RequestOptions<T>): void {
  checkEstimator(estimate);
  if (costs !== undefined) checkFunction('costs', costs);
  if (priority !== undefined) checkFunction('priority', priority);
  if (weight !== undefined) checkFunction('weight', weight);
}

/** Is told of requests that come and go. None of it may throw. */
export interface RequestListener {
  /** Whether what could be sent as it came still can be. */
  readonly limitsStand: boolean;
  /** Why a request can never be sent; undefined: it can. */
  refusal(ticket: Ticket): Error | undefined;
  arrived(ticket: Ticket): void;
  settled(ticket: Ticket, outcome: SettleOutcome): void;
  /** So many have gone that waited without a ticket. */
  abandoned(count: number): void;
}

export interface TicketFactoryOptions {
  readonly clock: Clock;
  readonly probe: Probe | undefined;
  readonly listener?: RequestListener | undefined;
  /** Whose mode is in force. */
  readonly feedback?: { readonly mode: Mode } | undefined;
  /** Where an inspector follows the requests. */
  readonly tap?: Tap | undefined;
}

/** Makes tickets of what arrives at the first gate. */
export class TicketFactory<T> implements TicketOwner {
  readonly clock: Clock;
  readonly probe: Probe | undefined;
  /** Whether each request needs its ticket as it arrives. */
  readonly needsTickets: boolean;
  private readonly listener: RequestListener | undefined;
  private readonly feedback: { readonly mode: Mode } | undefined;
  private readonly tap: Tap | undefined;
  private readonly options: RequestOptions<T>;
  private next = 0;

  constructor(around: TicketFactoryOptions, options: RequestOptions<T> = {}) {
    const { clock, probe, listener, feedback, tap } = around;
    this.clock = clock;
    this.probe = probe;
    this.needsTickets = probe !== undefined || options.priority !== undefined;
    this.listener = listener;
    this.feedback = feedback;
    this.tap = tap;
    this.options = options;
  }

  tokensOf(value: unknown, bytes: number): number {
    return estimateTokens(value, bytes);
  }

  /** So many have gone that waited without a ticket. */
  abandoned(count: number): void {
    this.listener?.abandoned(count);
  }

  settled(ticket: Ticket, outcome: SettleOutcome): void {
    this.listener?.settled(ticket, outcome);
    this.probe?.settled?.(ticket, outcome);
    this.tap?.follower?.settled(ticket, outcome);
  }

  /**
   * A ticket for a value whose size is known; `tokens` undefined: to be estimated if asked for.
   * @param index its position in its stream, where several intakes make tickets for it
   * @param isPossible whether it could be sent as it came
   */
  ticket<V extends T>(
    value: V,
    bytes: number,
    tokens: number | undefined,
    arrivedAt: number,
    { priority, costs, weight }: SaidOfRequest = NOTHING,
    index = this.next,
    isPossible = false,
  ): Ticket<V> {
    const ticket = new Ticket(this, value, bytes, tokens, index, arrivedAt, weight);
    this.next = index + 1;
    if (priority !== undefined) ticket.priority = priority;
    if (costs !== undefined) ticket.costs = costs;
    if (this.listener !== undefined) {
      this.listener.arrived(ticket);
      const isKnown = isPossible && this.listener.limitsStand;
      const refusal = isKnown ? undefined : this.listener.refusal(ticket);
      if (refusal !== undefined) ticket.refuse(refusal);
    }
    this.probe?.arrived?.(ticket, this.feedback);
    return ticket;
  }

  /** @throws EstimatorError */
  ticketOf(arrival: T | Sized<T>, arrivedAt: number, index?: number): Ticket<T> {
    const { estimate = estimateBytes, costs, priority, weight } = this.options;
    const value = isSized(arrival) ? arrival.value : arrival;
    const said =
      costs === undefined && priority === undefined && weight === undefined
        ? NOTHING
        : {
            ...(costs && { costs: saidBy(costs, value, 'costs', checkCosts) }),
            ...(priority && { priority: saidBy(priority, value, 'priority', checkPriority) }),
            ...(weight && { weight: saidBy(weight, value, 'weight', checkWeight) }),
          };
    if (isSized(arrival)) {
      return this.ticket<T>(value, arrival.bytes, arrival.tokens, arrivedAt, said, index);
    }
    if (estimate === estimateBytes) {
      return this.ticket<T>(value, estimateBytes(value), undefined, arrivedAt, said, index);
    }
    const { bytes, tokens } = sizeOf(value, estimate);
    return this.ticket<T>(value, bytes, tokens, arrivedAt, said, index);
  }
}

interface SaidOfRequest {
  readonly priority?: number;
  readonly costs?: Amounts | undefined;
  readonly weight?: number;
}

const NOTHING: SaidOfRequest = {};

/** @throws RangeError or TypeError; whether there are so many slots is known at the gate */
export function checkWeight(weight: number): void {
  checkInteger('weight', weight, 1);
}

/** @throws RangeError or TypeError */
export function checkPriority(priority: number): void {
  checkInteger('priority', priority, Number.MIN_SAFE_INTEGER);
}

/** @throws RangeError or TypeError; whether the limits are there is known at their gate */
export function checkCosts(costs: Amounts): void {
  if (typeof costs !== 'object' || costs === null) {
    throw new TypeError(`\`costs\` must be an object of numbers, got ${show(costs)}`);
  }
  for (const [name, amount] of Object.entries(costs)) checkAmount(`costs.${name}`, amount);
}

/** What a function of the user says of a value, checked. @throws EstimatorError */
function saidBy<T, V>(say: (value: T) => V, value: T, name: string, check: (said: V) => void): V {
  try {
    const said = say(value);
    check(said);
    return said;
  } catch (error) {
    throw new EstimatorError(say.name || name, error);
  }
}
