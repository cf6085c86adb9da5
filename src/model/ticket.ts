import type { Clock, Timer } from '../util/clock.ts';
import { TicketExpiredError, TicketInUseError } from './errors.ts';
import type { Verdict } from './feedback.ts';
import {
  type GateKind,
  longer,
  type RequestStats,
  type SettleOutcome,
  type Wait,
  waitsOf,
} from './outcome.ts';

/** Issues leases to tickets (a slot, bytes), and takes them back. */
export interface LeaseIssuer {
  /** Takes back exactly what was charged to the ticket. Must not throw. */
  giveBack(charge: unknown, ticket: Ticket): void;
  /** The answer to an attempt has begun: it was accepted, and goes on. Must not throw. */
  begun?(charge: unknown, verdict: Verdict): void;
}

/** Bounds how long a request waits for its first attempt. */
export interface WaitTimeout {
  /** The request waits no longer: it is sent, or has ended. */
  end(): void;
}

/** The parts that the tickets of one subscription or limiter share. */
export interface TicketOwner {
  readonly clock: Clock;
  /** Whether its tickets are calls of a limiter. Default false: they are requests of a stream. */
  readonly isCall?: boolean;
  /** The feedback that hears of their 429s; undefined: unknown. */
  readonly feedback?: object | undefined;
  /** Receives the end of its tickets, by `settled`. */
  readonly instrumentation?: EndObserver | undefined;
  tokensOf(value: unknown, bytes: number): number;
  /** The error of a name that no rate limit has. Default: every name may be that of one. */
  unknownLimit?(name: string): Error | undefined;
  /** Called when a ticket has ended and has given everything back. Must not throw. */
  settled(ticket: Ticket, outcome: SettleOutcome): void;
}

/** Receives the end of a request. */
export interface EndObserver {
  settled?(ticket: Ticket, outcome: SettleOutcome): void;
}

/**
 * The data that one observer keeps for a ticket, in the ticket's list: a map would cost more than
 * it holds.
 */
export interface TicketNote {
  /** The observer whose note it is. A ticket has at most one of each. */
  readonly owner: object;
  next: TicketNote | undefined;
}

/** Parts of the usage that are priced, whether or not a rate limit has the name. */
const TOKENS: readonly string[] = ['inputTokens', 'cachedTokens', 'outputTokens'];

/** Amounts by the names of rate limits. */
export type Amounts = Readonly<Record<string, number>>;

/**
 * Whether any value is a ticket. `instanceof` throws for a revoked Proxy. Primitives are excluded
 * first, because `instanceof` is slow.
 */
export function isTicket(item: unknown): item is Ticket {
  try {
    return typeof item === 'object' && item instanceof Ticket;
  } catch {
    return false;
  }
}

/** One lease in a ticket's stack, linked to the lease before it. */
class StackedLease {
  readonly issuer: LeaseIssuer;
  readonly charge: unknown;
  below: StackedLease | undefined;
  constructor(issuer: LeaseIssuer, charge: unknown, below: StackedLease | undefined) {
    this.issuer = issuer;
    this.charge = charge;
    this.below = below;
  }
}

/** `waitsSince` of a ticket that is in no queue. */
export const UNQUEUED = Number.NaN;

/** `waitsSince` of a ticket in a queue whose gate still decides on its arrival. */
export const ARRIVING = Number.NEGATIVE_INFINITY;

/**
 * A request on its way, with the leases that it holds.
 *
 * The holder of a ticket settles it. Between two gates a ticket has no holder. If it never reaches
 * the next gate, for example because of a `filter`, it is reclaimed after a while. Call
 * `ticket.settle('cancelled')` to give its leases back at once.
 */
export class Ticket<out T = unknown> {
  /** Makes the class nominal: tickets cannot be chunked. */
  declare private readonly kind: 'ticket';
  /** The request itself. */
  readonly value: T;
  readonly bytes: number;
  /** Position of the request in its stream, from 0. */
  readonly index: number;
  /** The number of slots that it takes of a concurrency limit. */
  weight: number;
  /** When it reached its first gate, in the clock's milliseconds. */
  readonly arrivedAt: number;
  /** @internal the epoch of the backoff when the last attempt was sent */
  epoch = 0;
  /** Attempts made so far. */
  attempts = 0;
  /** The highest goes first, at gates with priorities. */
  priority = 0;
  /** Its costs by rate limit, if they are not `requests: 1`, its tokens and its bytes. */
  costs: Amounts | undefined = undefined;
  /** @internal the recorded usage of the present attempt */
  usage: Amounts | undefined = undefined;
  /** @internal whether a policy needs the input and output tokens of the answer apart */
  needsParts = false;
  /** @internal how many of its timeouts use up no attempt */
  excused = 0;
  /** @internal whether the present attempt was sent */
  isSent = false;
  /** @internal the verdict on the answer to the present attempt; undefined before the answer */
  verdict: Verdict | undefined = undefined;
  /**
   * @internal the error of a request that may not be sent; it then passes all gates without a
   * charge
   */
  refusal: Error | undefined = undefined;
  /** @internal since when it waits at a gate, or {@link UNQUEUED}, or {@link ARRIVING} */
  waitsSince = UNQUEUED;
  /**
   * @internal when the last gate before its first attempt let it pass; NaN if unknown, for example
   * when an operator has kept it since
   */
  startedAt = Number.NaN;
  /** @internal how often its gate decided that it waits on */
  rounds = 0;
  /** @internal the bound on its wait for the first attempt */
  waitTimeout: WaitTimeout | undefined = undefined;
  /**
   * @internal the cause of its wait when it was dropped; undefined if it was not, or if there is no
   * instrumentation
   */
  gaveUpAt: GateKind | undefined = undefined;
  /** How it ended; undefined before that. */
  outcome: SettleOutcome | undefined = undefined;
  /** @internal its neighbours in the list of waiting tickets of its subscription */
  before: Ticket | undefined = undefined;
  /** @internal */
  after: Ticket | undefined = undefined;
  /** @internal runs while the ticket has no holder */
  transit: Timer | undefined = undefined;
  /** @internal receive its end, beside the instrumentation of its first gate */
  observers: readonly EndObserver[] | undefined = undefined;
  /** @internal the notes of its observers */
  notes: TicketNote | undefined = undefined;
  readonly #origin: TicketOwner;
  #tokens: number;
  #holder: object | undefined = undefined;
  /** The first two leases, stored without a lease object: few tickets have more. */
  #first: LeaseIssuer | undefined = undefined;
  #firstCharge: unknown = 0;
  #second: LeaseIssuer | undefined = undefined;
  #secondCharge: unknown = 0;
  #top: StackedLease | undefined = undefined;
  #waits: Wait | undefined = undefined;

  /** @internal */
  constructor(
    origin: TicketOwner,
    value: T,
    bytes: number,
    tokens: number | undefined,
    index: number,
    arrivedAt: number,
    weight = 1,
  ) {
    this.#origin = origin;
    this.value = value;
    this.bytes = bytes;
    this.#tokens = tokens ?? -1;
    this.index = index;
    this.arrivedAt = arrivedAt;
    this.weight = weight;
  }

  /** @internal whether it is a call of a limiter, not a request of a stream */
  get isCall(): boolean {
    return this.#origin.isCall === true;
  }

  /** @internal the feedback that hears of its 429s; undefined: unknown */
  get feedback(): object | undefined {
    return this.#origin.feedback;
  }

  /** Tokens of the request, estimated at the first read. */
  get tokens(): number {
    if (this.#tokens < 0) this.#tokens = this.#origin.tokensOf(this.value, this.bytes);
    return this.#tokens;
  }

  /**
   * Gives all leases back, the last one first, exactly what was charged, once.
   * @returns false if the ticket was settled before; then nothing happens.
   */
  settle(outcome: SettleOutcome): boolean {
    if (this.outcome !== undefined) return false;
    this.outcome = outcome;
    // Without `dispatch`, nothing else is known about the attempt.
    if (this.attempts === 0 && this.refusal === undefined) {
      if (outcome === 'ok' || outcome === 'failed') {
        this.isSent = true;
        this.verdict = { kind: outcome };
      }
    }
    this.cancelTransit();
    this.endWaitTimeout();
    this.giveAllBack();
    this.#origin.settled(this, outcome);
    if (this.observers !== undefined) {
      for (const observer of this.observers) observer.settled?.(this, outcome);
    }
    return true;
  }

  /** The history of the request so far. */
  stats(): RequestStats {
    return {
      waits: waitsOf(this.#waits),
      attempts: this.attempts,
      bytes: this.bytes,
      tokens: this.tokens,
      durationMs: this.ageMs,
    };
  }

  /**
   * @internal makes a gate or dispatch the holder. Throws if the ticket has ended or has a holder.
   */
  take(holder: object): void {
    if (this.outcome !== undefined) throw new TicketExpiredError(this.outcome);
    if (this.#holder !== undefined) throw new TicketInUseError();
    this.#holder = holder;
    this.cancelTransit();
  }

  /** @internal the instrumentation of its first gate */
  get instrumentation(): EndObserver | undefined {
    return this.#origin.instrumentation;
  }

  /** @internal the holder; undefined between two gates */
  get holder(): object | undefined {
    return this.#holder;
  }

  /** @internal ends the holder's hold: the next gate must take the ticket, or it is reclaimed */
  release(): void {
    this.#holder = undefined;
  }

  /** @internal the time of the clock, if it was read in this turn of the event loop; else NaN */
  get readAt(): number {
    return this.attempts === 0 ? this.startedAt : Number.NaN;
  }

  /** @internal whether it is in the queue of a gate */
  get isQueued(): boolean {
    return !Number.isNaN(this.waitsSince);
  }

  /** @internal ms since its arrival, by the clock of its gates */
  get ageMs(): number {
    return this.#origin.clock.now() - this.arrivedAt;
  }

  /** @internal its waits so far */
  get waits(): RequestStats['waits'] {
    return waitsOf(this.#waits);
  }

  /** @internal its tokens, or 0 if they were not estimated yet: estimating takes time */
  get knownTokens(): number {
    return Math.max(0, this.#tokens);
  }

  /** @internal whether it has waited anywhere */
  get hasWaited(): boolean {
    return this.#waits !== undefined;
  }

  /** @internal whether the ticket has neither ended nor a holder */
  get isAdrift(): boolean {
    return this.#holder === undefined && this.outcome === undefined;
  }

  /** @internal adds a lease. A ticket that was settled meanwhile gives it back at once */
  lend(issuer: LeaseIssuer, charge: unknown): void {
    if (this.outcome !== undefined) issuer.giveBack(charge, this);
    else if (this.#second !== undefined || this.#top !== undefined) {
      this.#top = new StackedLease(issuer, charge, this.#top);
    } else if (this.#first !== undefined) {
      this.#second = issuer;
      this.#secondCharge = charge;
    } else {
      this.#first = issuer;
      this.#firstCharge = charge;
    }
  }

  /** @internal gives back the lease of one issuer, wherever it is in the stack */
  returnTo(issuer: LeaseIssuer): void {
    let above: StackedLease | undefined;
    for (let lease = this.#top; lease !== undefined; lease = lease.below) {
      if (lease.issuer === issuer) {
        if (above === undefined) this.#top = lease.below;
        else above.below = lease.below;
        issuer.giveBack(lease.charge, this);
        return;
      }
      above = lease;
    }
    if (this.#second === issuer) this.giveSecondBack();
    else if (this.#first === issuer) this.giveFirstBack();
  }

  /** @internal the answer to the present attempt has begun: it was accepted, and goes on */
  begun(verdict: Verdict): void {
    for (let lease = this.#top; lease !== undefined; lease = lease.below) {
      lease.issuer.begun?.(lease.charge, verdict);
    }
    this.#second?.begun?.(this.#secondCharge, verdict);
    this.#first?.begun?.(this.#firstCharge, verdict);
  }

  /** @internal refuses the request for good; its leases are given back when it is settled */
  refuse(error: Error): void {
    this.refusal ??= error;
    this.endWaitTimeout();
  }

  /** @internal an attempt is sent */
  sent(epoch: number): void {
    this.attempts += 1;
    this.epoch = epoch;
    this.isSent = true;
    this.verdict = undefined;
    this.usage = undefined;
    this.endWaitTimeout();
  }

  /** @internal prepares another attempt */
  unsent(): void {
    this.isSent = false;
    this.verdict = undefined;
    this.usage = undefined;
  }

  /** @internal records usage of a limit that the user names. @throws UnknownLimitError */
  recordNamed(limit: string, amount: number): void {
    const error = TOKENS.includes(limit) ? undefined : this.#origin.unknownLimit?.(limit);
    if (error !== undefined) throw error;
    this.record(limit, amount);
  }

  /** @internal adds to the usage of the present attempt */
  record(limit: string, amount: number): void {
    this.usage = { ...this.usage, [limit]: (this.usage?.[limit] ?? 0) + amount };
  }

  /** @internal @param limit the named limit that bound, if one did */
  waited(gate: GateKind, waitMs: number, rounds: number, limit?: string): void {
    this.#waits = longer(this.#waits, gate, limit, waitMs, rounds);
  }

  /** The leases, the last one first. */
  private giveAllBack(): void {
    let lease = this.#top;
    this.#top = undefined;
    for (; lease !== undefined; lease = lease.below) lease.issuer.giveBack(lease.charge, this);
    this.giveSecondBack();
    this.giveFirstBack();
  }

  private giveSecondBack(): void {
    const issuer = this.#second;
    this.#second = undefined;
    issuer?.giveBack(this.#secondCharge, this);
  }

  private giveFirstBack(): void {
    const issuer = this.#first;
    this.#first = undefined;
    issuer?.giveBack(this.#firstCharge, this);
  }

  private endWaitTimeout(): void {
    if (this.waitTimeout === undefined) return;
    const { waitTimeout } = this;
    this.waitTimeout = undefined;
    waitTimeout.end();
  }

  private cancelTransit(): void {
    this.transit?.cancel();
    this.transit = undefined;
  }
}
