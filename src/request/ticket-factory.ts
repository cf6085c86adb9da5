import { EstimatorError } from '../model/errors.ts';
import type { Mode } from '../model/feedback.ts';
import type { Tap } from '../model/inspection.ts';
import { type Instrumentation, needsArrival } from '../model/instrumentation.ts';
import type { SettleOutcome } from '../model/outcome.ts';
import { isSized, type Sized } from '../model/sized.ts';
import { type Amounts, Ticket, type TicketOwner } from '../model/ticket.ts';
import type { RequestCost } from '../policies/policy.ts';
import { estimateBytes, estimateTokens } from '../sizing/estimate.ts';
import type { Clock } from '../util/clock.ts';
import {
  checkCosts,
  checkPriority,
  type NamedRequestOptions,
  type RequestOptions,
  weightOf,
} from './request-options.ts';
import type { ResultOptions } from './send-options.ts';
import { type Estimator, resultOf, sizeOf } from './size.ts';

/** The input of a gate: a ticket, or a value that becomes one. */
export type RequestInput<T> = T | Sized<T> | Ticket<T>;

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
  private readonly isEager: boolean;
  readonly isCall: boolean;
  private readonly listener: RequestListener | undefined;
  private readonly impossible: PossibilityCheck | undefined;
  private readonly limits: LimitNames | undefined;
  readonly feedback: { readonly mode: Mode } | undefined;
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
    context: TicketFactoryOptions,
    options: NamedRequestOptions<T> & Pick<ResultOptions, 'outcomes'> = {},
  ) {
    const { clock, instrumentation, listener, impossible, feedback, tap, named } = context;
    const { estimate = estimateBytes, costs, priority, weight, id } = options;
    this.clock = clock;
    this.isCall = context.isCall ?? false;
    this.instrumentation = instrumentation;
    this.isEager = priority !== undefined || id !== undefined;
    this.named = named;
    this.listener = listener;
    this.impossible = impossible;
    this.limits = context.limits ?? impossible;
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
    return this.isEager || needsArrival(this.instrumentation, this.feedback);
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
    { priority, costs, weight }: GivenByUser,
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
      const name =
        id && resultOf(id, isSized(arrival) ? arrival.value : arrival, 'id', (given) => given);
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

  /**
   * Adds to the ticket of an earlier gate what the functions of this one return.
   * @throws EstimatorError
   */
  complete(ticket: Ticket<T>): void {
    try {
      const { costs, priority, weight } = this.givenFor(ticket.value);
      if (costs !== undefined) ticket.costs = { ...ticket.costs, ...costs };
      if (priority !== undefined) ticket.priority = priority;
      if (weight !== undefined) ticket.weight = weight;
    } catch (error) {
      throw error instanceof EstimatorError ? error.at(ticket.index) : error;
    }
  }

  private newTicket(
    arrival: T | Sized<T>,
    arrivedAt: number,
    index: number | undefined,
    isLate: boolean,
  ): Ticket<T> {
    const { estimate } = this;
    const value = isSized(arrival) ? arrival.value : arrival;
    const given = this.givenFor(value);
    let bytes: number;
    let tokens: number | undefined;
    if (isSized(arrival)) ({ bytes, tokens } = arrival);
    else if (estimate === estimateBytes) bytes = estimateBytes(value);
    else ({ bytes, tokens } = sizeOf(value, estimate));
    return this.ticket<T>(value, bytes, tokens, arrivedAt, given, index, false, isLate);
  }

  private givenFor(value: T): GivenByUser {
    const { costs, priority, weight } = this;
    if (costs === undefined && priority === undefined && weight === undefined) return NOTHING;
    return {
      costs: costs && resultOf(costs, value, 'costs', checkCosts),
      priority: priority && resultOf(priority, value, 'priority', checkPriority),
      weight: weight && weightOf(weight, value),
    };
  }
}

/** The options of one request, as the functions of the stream returned them. */
interface GivenByUser {
  readonly priority?: number;
  readonly costs?: Amounts | undefined;
  readonly weight?: number;
}

const NOTHING: GivenByUser = {};
