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

/** Knows the limits of requests. Its methods must not throw. */
export interface RequestCheck {
  /** Whether requests that could be sent at their arrival still can be. Default true. */
  readonly limitsStand?: boolean;
  /** The error of a name that no rate limit has; undefined if one has it, or had it. */
  unknownLimit(name: string): Error | undefined;
  /** The error of a request that can never be sent; undefined if it can. */
  refusal(request: RequestCost): Error | undefined;
}

/** The error of a request with costs of a limit that does not exist. */
export function unknownCost({ costs }: RequestCost, limits: RequestCheck): Error | undefined {
  for (const name in costs) {
    const error = limits.unknownLimit(name);
    if (error !== undefined) return error;
  }
  return undefined;
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
  readonly limits?: RequestCheck | undefined;
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
  readonly limits: RequestCheck | undefined;
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
    const { clock, instrumentation, listener, limits, feedback, tap, named } = context;
    const { estimate = estimateBytes, costs, priority, weight, id } = options;
    this.clock = clock;
    this.isCall = context.isCall ?? false;
    this.instrumentation = instrumentation;
    this.isEager = priority !== undefined || id !== undefined;
    this.named = named;
    this.listener = listener;
    this.limits = limits;
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
   * Makes a ticket.
   * @param index its position in its stream, if several factories make tickets for that stream
   */
  ticket<V extends T>(
    value: V,
    { bytes, tokens, priority, costs, weight }: TicketFacts,
    arrivedAt: number,
    index = this.next,
  ): Ticket<V> {
    const ticket = new Ticket(this, value, bytes, tokens, index, arrivedAt, weight);
    this.next = index + 1;
    if (priority !== undefined) ticket.priority = priority;
    if (costs !== undefined) ticket.costs = costs;
    this.listener?.arrived(ticket);
    return ticket;
  }

  /** Refuses a request that can never be sent. */
  check(ticket: Ticket): void {
    const refusal = this.limits?.refusal(ticket);
    if (refusal !== undefined) ticket.refuse(refusal);
  }

  /** Reports the arrival of a request that has its ticket from then on. */
  arrived(ticket: Ticket): void {
    this.instrumentation?.arrived?.(ticket, this.feedback);
  }

  /** The ticket of a stream's request that arrives now. @throws as `ticketOf` */
  ticketNow(arrival: T | Sized<T>, index?: number): Ticket<T> {
    const ticket = this.ticketOf(arrival, this.clock.now(), index);
    this.arrived(ticket);
    return ticket;
  }

  /**
   * The ticket of a stream's request that has waited without one. With `outcomes`, the ticket of a
   * request whose functions fail is refused with their error.
   * @throws EstimatorError without `outcomes`
   */
  ticketOf(arrival: T | Sized<T>, arrivedAt: number, index?: number): Ticket<T> {
    const { id } = this;
    const value = isSized(arrival) ? arrival.value : arrival;
    try {
      const name = id && resultOf(id, value, 'id', (given) => given);
      const ticket = this.ticket<T>(value, this.factsOf(arrival, value), arrivedAt, index);
      this.check(ticket);
      if (name !== undefined) this.named?.add(ticket, name);
      return ticket;
    } catch (error) {
      if (!(error instanceof EstimatorError)) throw error;
      const failure = error.at(index ?? this.next);
      if (!this.outcomes) throw failure;
      const ticket = this.ticket<T>(value, NOTHING, arrivedAt, index);
      ticket.refuse(failure);
      return ticket;
    }
  }

  /**
   * Adds to the ticket of an earlier gate what the functions of this one return.
   * @returns the same ticket
   * @throws EstimatorError
   */
  complete(ticket: Ticket<T>): Ticket<T> {
    try {
      const { costs, priority, weight } = this.givenFor(ticket.value);
      if (costs !== undefined) ticket.costs = { ...ticket.costs, ...costs };
      if (priority !== undefined) ticket.priority = priority;
      if (weight !== undefined) ticket.weight = weight;
      return ticket;
    } catch (error) {
      throw error instanceof EstimatorError ? error.at(ticket.index) : error;
    }
  }

  /** @throws EstimatorError */
  private factsOf(arrival: T | Sized<T>, value: T): TicketFacts {
    const { estimate } = this;
    const { costs, priority, weight } = this.givenFor(value);
    let bytes: number;
    let tokens: number | undefined;
    if (isSized(arrival)) ({ bytes, tokens } = arrival);
    else if (estimate === estimateBytes) bytes = estimateBytes(value);
    else ({ bytes, tokens } = sizeOf(value, estimate));
    return { bytes, tokens, costs, priority, weight };
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
  readonly priority?: number | undefined;
  readonly costs?: Amounts | undefined;
  readonly weight?: number | undefined;
}

/** The size of a request, and its options. */
interface TicketFacts extends GivenByUser {
  readonly bytes: number;
  /** Undefined: estimated at the first read. */
  readonly tokens: number | undefined;
}

const NOTHING: TicketFacts = { bytes: 0, tokens: 0 };
