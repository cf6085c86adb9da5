import { estimateBytes, estimateTokens } from '../estimate/estimate.ts';
import type { Clock } from '../model/clock.ts';
import type { Probe } from '../model/probe.ts';
import { Sized } from '../model/sized.ts';
import { type Origin, Ticket } from '../model/ticket.ts';
import { type Estimator, sizeOf } from './size.ts';

/** What a gate takes: a ticket, or what is to become one. */
export type Arrival<T> = T | Sized<T> | Ticket<T>;

export function isTicket<T>(arrival: Arrival<T>): arrival is Ticket<T> {
  return arrival instanceof Ticket;
}

/** Makes tickets of what arrives at the first gate. */
export class Intake<T> implements Origin {
  readonly clock: Clock;
  readonly probe: Probe | undefined;
  readonly #estimate: Estimator<T>;
  #index = 0;

  constructor(
    { clock, probe }: { readonly clock: Clock; readonly probe: Probe | undefined },
    estimate: Estimator<T> = estimateBytes,
  ) {
    this.clock = clock;
    this.probe = probe;
    this.#estimate = estimate;
  }

  tokensOf(value: unknown, bytes: number): number {
    return estimateTokens(value, bytes);
  }

  /** A ticket for a value whose size is known; `tokens` undefined: to be estimated if asked for. */
  ticket<V extends T>(
    value: V,
    bytes: number,
    tokens: number | undefined,
    arrivedAt: number,
  ): Ticket<V> {
    const ticket = new Ticket(this, value, bytes, tokens, this.#index, arrivedAt);
    this.#index += 1;
    this.probe?.arrived?.(ticket);
    return ticket;
  }

  /** @throws EstimatorError */
  ticketOf(arrival: T | Sized<T>, arrivedAt: number): Ticket<T> {
    if (arrival instanceof Sized) {
      return this.ticket<T>(arrival.value, arrival.bytes, arrival.tokens, arrivedAt);
    }
    if (this.#estimate === estimateBytes) {
      return this.ticket<T>(arrival, estimateBytes(arrival), undefined, arrivedAt);
    }
    const { bytes, tokens } = sizeOf(arrival, this.#estimate);
    return this.ticket<T>(arrival, bytes, tokens, arrivedAt);
  }
}
