import { EstimatorError } from '../model/errors.ts';
import type { Mode } from '../model/feedback.ts';
import type { Tap } from '../model/inspection.ts';
import { type Instrumentation, needsArrival } from '../model/instrumentation.ts';
import type { SettleOutcome } from '../model/outcome.ts';
import { isSized, type Sized } from '../model/sized.ts';
import { type Amounts, Ticket, type TicketOwner } from '../model/ticket.ts';
import type { RequestCost } from '../policies/policy.ts';
import { estimateBytes, estimateTokens } from '../sizing/estimate.ts';
import { checkAmount, checkFunction, checkInteger, show } from '../util/check.ts';
import type { Clock } from '../util/clock.ts';
import type { ResultOptions } from './send-options.ts';
import { checkEstimator, type Estimator, sizeOf } from './size.ts';

/** The input of a gate: a ticket, or a value that becomes one. */
export type RequestInput<T> = T | Sized<T> | Ticket<T>;

/** Options of a stream's requests. */
export interface RequestOptions<T> {
  /** Estimates the size of a request. Default: as `byteEstimate`. A `Sized` keeps its size. */
  readonly estimate?: Estimator<T>;
  /**
   * The costs of a request by rate limit; fractions are rounded up. Default: 1 of `requests`, its
   * `tokens` and `bytes`.
   */
  readonly costs?: (value: T) => Amounts;
  /** An integer; the highest goes first. Default 0. */
  readonly priority?: (value: T) => number;
  /** How many slots of `concurrency` a request takes, an integer >= 1. Default 1. */
  readonly weight?: (value: T) => number;
}

/** Options of a stream's requests that may be found by an id. */
export interface NamedRequestOptions<T> extends RequestOptions<T> {
  /**
   * Returns the id of a request, by which `setPriority` finds it. Any value; undefined: it has
   * none. Several requests may have the same. Default: none has one.
   */
  readonly id?: (value: T) => unknown;
}

export const REQUEST_KEYS = ['estimate', 'costs', 'priority', 'weight'] as const;

export const NAMED_REQUEST_KEYS = [...REQUEST_KEYS, 'id'] as const;

/** @throws TypeError that names a wrong option */
export function checkRequestOptions<T>({
  estimate,
  costs,
  priority,
  weight,
  id,
}: NamedRequestOptions<T>): void {
  checkEstimator(estimate);
  if (costs !== undefined) checkFunction('costs', costs);
  if (priority !== undefined) checkFunction('priority', priority);
  if (weight !== undefined) checkFunction('weight', weight);
  if (id !== undefined) checkFunction('id', id);
}

/** Knows the rate limits that requests may have costs and usage of. */
export interface LimitNames {
  /** The error of a name that no limit has; undefined if one has it, or had it. Must not throw. */
  unknownLimit(name: string): Error | undefined;
}

/** Finds the requests that can never be sent. */
export interface PossibilityCheck extends LimitNames {
  /** Whether requests that could be sent at their arrival still can be. */
  readonly limitsStand: boolean;
  /** The error of a request that can never be sent; undefined if it can. Must not throw. */
  refusal(request: RequestCost): Error | undefined;
}

/** Is called when requests arrive and end. Its methods must not throw. */
export interface RequestListener {
  arrived(ticket: Ticket): void;
  settled(ticket: Ticket, outcome: SettleOutcome): void;
  /** Counts requests that waited without a ticket and left. */
  abandoned(count: number): void;
}

export interface TicketFactoryOptions {
  readonly clock: Clock;
  readonly instrumentation: Instrumentation | undefined;
  readonly listener?: RequestListener | undefined;
  readonly impossible?: PossibilityCheck | undefined;
  /** The rate limits, if `impossible` does not know them. */
  readonly limits?: LimitNames | undefined;
  /** The feedback whose mode applies. */
  readonly feedback?: { readonly mode: Mode } | undefined;
  /** Where an inspector follows the requests. */
  readonly tap?: Tap | undefined;
  /** Whether it makes the tickets of a limiter's calls. Default false. */
  readonly isCall?: boolean;
  /** Receives the requests that have an id. */
  readonly named?: { add(ticket: Ticket, id: unknown): void } | undefined;
}

/** Makes the tickets of requests that arrive at the first gate. */
export class TicketFactory<T> implements TicketOwner {
  readonly clock: Clock;
  readonly instrumentation: Instrumentation | undefined;
  /** Whether `priority` or `id` is read as a request arrives, so that it needs its ticket then. */
  private readonly isAsked: boolean;
  readonly isCall: boolean;
  private readonly listener: RequestListener | undefined;
  private readonly impossible: PossibilityCheck | undefined;
  private readonly limits: LimitNames | undefined;
  private readonly feedback: { readonly mode: Mode } | undefined;
  private readonly tap: Tap | undefined;
  private readonly named: TicketFactoryOptions['named'];
  /** Its options in fields: V8 is slow to read objects of many shapes. */
  private readonly estimate: Estimator<T>;
  private readonly costs: RequestOptions<T>['costs'];
  private readonly priority: RequestOptions<T>['priority'];
  private readonly weight: RequestOptions<T>['weight'];
  private readonly id: NamedRequestOptions<T>['id'];
  /**
   * Whether a failing function (`estimate`, `costs` …) fails only its request; else it fails the
   * stream.
   */
  private readonly outcomes: boolean;
  private next = 0;

  constructor(
    around: TicketFactoryOptions,
    options: NamedRequestOptions<T> & Pick<ResultOptions, 'outcomes'> = {},
  ) {
    const { clock, instrumentation, listener, impossible, feedback, tap, named } = around;
    const { estimate = estimateBytes, costs, priority, weight, id } = options;
    this.clock = clock;
    this.isCall = around.isCall ?? false;
    this.instrumentation = instrumentation;
    this.isAsked = priority !== undefined || id !== undefined;
    this.named = named;
    this.listener = listener;
    this.impossible = impossible;
    this.limits = around.limits ?? impossible;
    this.feedback = feedback;
    this.tap = tap;
    this.estimate = estimate;
    this.costs = costs;
    this.priority = priority;
    this.weight = weight;
    this.id = id;
    this.outcomes = options.outcomes ?? false;
  }

  /** Whether a request that arrives now needs its ticket at once. */
  needsTicket(): boolean {
    return this.isAsked || needsArrival(this.instrumentation, this.feedback);
  }

  tokensOf(value: unknown, bytes: number): number {
    return estimateTokens(value, bytes);
  }

  unknownLimit(name: string): Error | undefined {
    return this.limits?.unknownLimit(name);
  }

  /** Counts requests that waited without a ticket and left. */
  abandoned(count: number): void {
    this.listener?.abandoned(count);
  }

  settled(ticket: Ticket, outcome: SettleOutcome): void {
    this.listener?.settled(ticket, outcome);
    this.instrumentation?.settled?.(ticket, outcome);
    this.tap?.follower?.settled(ticket, outcome);
  }

  /**
   * Makes a ticket for a value of known size. Undefined `tokens` are estimated at the first read.
   * @param index its position in its stream, if several factories make tickets for that stream
   * @param isPossible whether it could be sent at its arrival
   * @param isLate whether it has waited without a ticket, so that its arrival is not reported
   */
  ticket<V extends T>(
    value: V,
    bytes: number,
    tokens: number | undefined,
    arrivedAt: number,
    { priority, costs, weight }: GivenByUser = NOTHING,
    index = this.next,
    isPossible = false,
    isLate = false,
  ): Ticket<V> {
    const ticket = new Ticket(this, value, bytes, tokens, index, arrivedAt, weight);
    this.next = index + 1;
    if (priority !== undefined) ticket.priority = priority;
    if (costs !== undefined) ticket.costs = costs;
    this.listener?.arrived(ticket);
    const { impossible } = this;
    if (impossible !== undefined && !(isPossible && impossible.limitsStand)) {
      const refusal = impossible.refusal(ticket);
      if (refusal !== undefined) ticket.refuse(refusal);
    } else if (costs !== undefined && impossible === undefined) {
      for (const name in costs) {
        const error = this.unknownLimit(name);
        if (error !== undefined) ticket.refuse(error);
      }
    }
    if (!isLate) this.instrumentation?.arrived?.(ticket, this.feedback);
    return ticket;
  }

  /**
   * With `outcomes`, the ticket of a request whose functions fail is refused with their error.
   * @param isLate whether it has waited without a ticket
   * @throws EstimatorError without `outcomes`
   */
  ticketOf(arrival: T | Sized<T>, arrivedAt: number, index?: number, isLate = false): Ticket<T> {
    const { id } = this;
    try {
      const name = id && resultOf(id, isSized(arrival) ? arrival.value : arrival, 'id');
      const ticket = this.newTicket(arrival, arrivedAt, index, isLate);
      if (name !== undefined) this.named?.add(ticket, name);
      return ticket;
    } catch (error) {
      if (!(error instanceof EstimatorError)) throw error;
      const failure = error.at(index ?? this.next);
      if (!this.outcomes) throw failure;
      const value = isSized(arrival) ? arrival.value : arrival;
      const ticket = this.ticket<T>(value, 0, 0, arrivedAt, NOTHING, index, true, isLate);
      ticket.refuse(failure);
      return ticket;
    }
  }

  private newTicket(
    arrival: T | Sized<T>,
    arrivedAt: number,
    index: number | undefined,
    isLate: boolean,
  ): Ticket<T> {
    const { estimate, costs, priority, weight } = this;
    const value = isSized(arrival) ? arrival.value : arrival;
    const given =
      costs === undefined && priority === undefined && weight === undefined
        ? NOTHING
        : {
            ...(costs && { costs: resultOf(costs, value, 'costs', checkCosts) }),
            ...(priority && { priority: resultOf(priority, value, 'priority', checkPriority) }),
            ...(weight && { weight: weightOf(weight, value) }),
          };
    if (isSized(arrival)) {
      const { bytes, tokens } = arrival;
      return this.ticket<T>(value, bytes, tokens, arrivedAt, given, index, false, isLate);
    }
    if (estimate === estimateBytes) {
      const bytes = estimateBytes(value);
      return this.ticket<T>(value, bytes, undefined, arrivedAt, given, index, false, isLate);
    }
    const { bytes, tokens } = sizeOf(value, estimate);
    return this.ticket<T>(value, bytes, tokens, arrivedAt, given, index, false, isLate);
  }
}

interface GivenByUser {
  readonly priority?: number;
  readonly costs?: Amounts | undefined;
  readonly weight?: number;
}

const NOTHING: GivenByUser = {};

/** @throws RangeError or TypeError; only the gate knows whether it has this number of slots */
export function checkWeight(weight: number): void {
  checkInteger('weight', weight, 1);
}

/** The weight of a value. @throws EstimatorError */
export function weightOf<T>(weight: (value: T) => number, value: T): number {
  return resultOf(weight, value, 'weight', checkWeight);
}

/** @throws RangeError or TypeError */
export function checkPriority(priority: number): void {
  checkInteger('priority', priority, Number.MIN_SAFE_INTEGER);
}

/** @throws RangeError or TypeError. Unknown limits are found at the gate */
export function checkCosts(costs: Amounts): void {
  if (typeof costs !== 'object' || costs === null) {
    throw new TypeError(`\`costs\` must be an object of numbers, got ${show(costs)}`);
  }
  for (const [name, amount] of Object.entries(costs)) checkAmount(`costs.${name}`, amount);
}

/** The checked result of a user's function. @throws EstimatorError */
export function resultOf<T, V>(
  say: (value: T) => V,
  value: T,
  name: string,
  check?: (given: V) => void,
): V {
  try {
    const given = say(value);
    check?.(given);
    return given;
  } catch (error) {
    throw new EstimatorError(say.name || name, error);
  }
}
