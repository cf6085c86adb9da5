import type { Clock, Timer } from './clock.ts';
import { TicketExpiredError, TicketInUseError } from './errors.ts';
import type { Verdict } from './feedback.ts';
import type { GateKind, RequestStats, SettleOutcome } from './outcome.ts';
import { longer, type Wait, waitsOf } from './wait.ts';

/** Lends something to tickets (a slot, bytes), and takes it back. */
export interface LeaseIssuer {
  /** Takes back exactly what was charged to the ticket. Must not throw. */
  giveBack(charge: unknown, ticket: Ticket): void;
}

/** Bounds how long a request waits for its first attempt. */
export interface WaitTimeout {
  /** The request waits no longer: it is sent, or has ended. */
  end(): void;
}

/** What the tickets of one subscription or limiter share. */
export interface TicketOwner {
  readonly clock: Clock;
  /** Told of the end of its tickets, by `settled`. */
  readonly probe?: EndObserver | undefined;
  tokensOf(value: unknown, bytes: number): number;
  /** A ticket has ended, and all that it held was given back. Must not throw. */
  settled(ticket: Ticket, outcome: SettleOutcome): void;
}

/** Is told of the end of a request. */
export interface EndObserver {
  settled?(ticket: Ticket, outcome: SettleOutcome): void;
}

/** Amounts by the names of rate limits. */
export type Amounts = Readonly<Record<string, number>>;

/**
 * Of anything that users send: a Proxy that was revoked throws when it is asked. The look along the
 * prototypes is for objects alone, as it is slow.
 */
export function isTicket(item: unknown): item is Ticket {
  try {
    return typeof item === 'object' && item instanceof Ticket;
  } catch {
    return false;
  }
}

/** A thing lent, on top of what was lent before. */
class Lease {
  readonly lender: LeaseIssuer;
  readonly charge: unknown;
  below: Lease | undefined;
  constructor(lender: LeaseIssuer, charge: unknown, below: Lease | undefined) {
    this.lender = lender;
    this.charge = charge;
    this.below = below;
  }
}

/**
 * A request on its way, with the leases that it holds.
 *
 * Whoever holds a ticket settles it. Between two gates nobody does: a ticket that you keep from
 * the next gate (with `filter`, say) is reclaimed after a while; `ticket.settle('cancelled')`
 * gives its leases back at once.
 */
export class Ticket<out T = unknown> {
  /** Makes the class nominal: tickets cannot be chunked. */
  declare private readonly kind: 'ticket';
  /** The request itself. */
  readonly value: T;
  readonly bytes: number;
  /** Position of the request in its stream, from 0. */
  readonly index: number;
  /** Slots that it takes of a limit of requests in flight. */
  readonly weight: number;
  /** When it came to its first gate, in the clock's milliseconds. */
  readonly arrivedAt: number;
  /** @internal the backoff in force when the last attempt was sent */
  epoch = 0;
  /** Attempts made so far. */
  attempts = 0;
  /** Higher goes first where gates wait by priority. */
  priority = 0;
  /** What it costs of rate limits, where that is not `requests: 1`, its tokens and its bytes. */
  costs: Amounts | undefined = undefined;
  /** @internal what the present attempt has really used, where that was recorded */
  usage: Amounts | undefined = undefined;
  /** @internal whether a policy prices the tokens of answers */
  isPriced = false;
  /** @internal whether the present attempt was sent */
  isSent = false;
  /** @internal what the provider's answer to the present attempt says; undefined: none yet */
  verdict: Verdict | undefined = undefined;
  /** @internal why it may not be sent, once that is known; it then passes all gates for nothing */
  refusal: Error | undefined = undefined;
  /** @internal the time of the clock, if it was read in this very turn; else NaN */
  readAt = Number.NaN;
  /** @internal since when it waits at a gate; NaN: it does not wait */
  waitsSince = Number.NaN;
  /** @internal when the last gate before its first attempt let it pass; NaN: not known */
  startedAt = Number.NaN;
  /** @internal how often its gate has told it to wait on */
  rounds = 0;
  /** @internal minds its wait, while it waits for its first attempt */
  patience: WaitTimeout | undefined = undefined;
  /** @internal what it waited for when it was given up; undefined: it was not, or nobody is told */
  gaveUpAt: GateKind | undefined = undefined;
  /** How it ended, once it has. */
  outcome: SettleOutcome | undefined = undefined;
  /** @internal its neighbours among the tickets that one subscription has waiting */
  before: Ticket | undefined = undefined;
  /** @internal */
  after: Ticket | undefined = undefined;
  /** @internal runs while nobody holds the ticket */
  transit: Timer | undefined = undefined;
  /** @internal told of its end, beside the probe of its first gate */
  observers: readonly EndObserver[] | undefined = undefined;
  readonly #origin: TicketOwner;
  #tokens: number;
  #holder: object | undefined = undefined;
  /** The first two things lent: few tickets have more, and a lease is larger than what it holds. */
  #first: LeaseIssuer | undefined = undefined;
  #firstCharge: unknown = 0;
  #second: LeaseIssuer | undefined = undefined;
  #secondCharge: unknown = 0;
  #top: Lease | undefined = undefined;
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

  /** Tokens of the request, estimated when first asked for. */
  get tokens(): number {
    if (this.#tokens < 0) this.#tokens = this.#origin.tokensOf(this.value, this.bytes);
    return this.#tokens;
  }

  /**
   * Gives all leases back, last lent first, exactly what was charged, once.
   * @returns false when the ticket had been settled before, and nothing was done.
   */
  settle(outcome: SettleOutcome): boolean {
    if (this.outcome !== undefined) return false;
    this.outcome = outcome;
    // Whoever sends it without `dispatch` tells no more than this.
    if (this.attempts === 0 && this.refusal === undefined) {
      if (outcome === 'ok' || outcome === 'failed') {
        this.isSent = true;
        this.verdict = { kind: outcome };
      }
    }
    this.cancelTransit();
    this.endPatience();
    this.giveAllBack();
    this.#origin.settled(this, outcome);
    if (this.observers !== undefined) {
      for (const observer of this.observers) observer.settled?.(this, outcome);
    }
    return true;
  }

  /** What has happened to the request so far. */
  stats(): RequestStats {
    return {
      waits: waitsOf(this.#waits),
      attempts: this.attempts,
      bytes: this.bytes,
      tokens: this.tokens,
      durationMs: this.ageMs,
    };
  }

  /** @internal a gate or dispatch takes the ticket over. Throws when it may not. */
  take(holder: object): void {
    if (this.outcome !== undefined) throw new TicketExpiredError(this.outcome);
    if (this.#holder !== undefined) throw new TicketInUseError();
    this.#holder = holder;
    this.cancelTransit();
  }

  /** @internal the probe of its first gate */
  get probe(): EndObserver | undefined {
    return this.#origin.probe;
  }

  /** @internal whoever has it */
  get holder(): object | undefined {
    return this.#holder;
  }

  /** @internal the holder lets go: from now on somebody must take the ticket over */
  release(): void {
    this.#holder = undefined;
  }

  /** @internal ms since it came, by the clock of its gates */
  get ageMs(): number {
    return this.#origin.clock.now() - this.arrivedAt;
  }

  /** @internal what it has waited for so far */
  get waits(): RequestStats['waits'] {
    return waitsOf(this.#waits);
  }

  /** @internal 0 as long as nobody has asked for its tokens: to estimate them takes time */
  get knownTokens(): number {
    return Math.max(0, this.#tokens);
  }

  /** @internal whether it has waited anywhere */
  get hasWaited(): boolean {
    return this.#waits !== undefined;
  }

  /** @internal whether the ticket lives and nobody holds it */
  get isAdrift(): boolean {
    return this.#holder === undefined && this.outcome === undefined;
  }

  /** @internal one that was settled while the lender charged it keeps nothing */
  lend(lender: LeaseIssuer, charge: unknown): void {
    if (this.outcome !== undefined) lender.giveBack(charge, this);
    else if (this.#second !== undefined || this.#top !== undefined) {
      this.#top = new Lease(lender, charge, this.#top);
    } else if (this.#first !== undefined) {
      this.#second = lender;
      this.#secondCharge = charge;
    } else {
      this.#first = lender;
      this.#firstCharge = charge;
    }
  }

  /** @internal gives back what one lender lent, where it lies in the stack */
  returnTo(lender: LeaseIssuer): void {
    let above: Lease | undefined;
    for (let lease = this.#top; lease !== undefined; lease = lease.below) {
      if (lease.lender === lender) {
        if (above === undefined) this.#top = lease.below;
        else above.below = lease.below;
        lender.giveBack(lease.charge, this);
        return;
      }
      above = lease;
    }
    if (this.#second === lender) this.giveSecondBack();
    else if (this.#first === lender) this.giveFirstBack();
  }

  /** @internal it will never be sent; what it holds is given back when it is settled */
  refuse(error: Error): void {
    this.refusal ??= error;
    this.endPatience();
  }

  /** @internal an attempt is sent */
  sent(epoch: number): void {
    this.attempts += 1;
    if (this.attempts === 1) this.startedAt = this.readAt;
    this.readAt = Number.NaN;
    this.epoch = epoch;
    this.isSent = true;
    this.verdict = undefined;
    this.usage = undefined;
    this.endPatience();
  }

  /** @internal there will be another attempt, which was not sent yet */
  unsent(): void {
    this.isSent = false;
    this.verdict = undefined;
    this.usage = undefined;
  }

  /** @internal adds to what the present attempt has used */
  record(limit: string, amount: number): void {
    this.usage = { ...this.usage, [limit]: (this.usage?.[limit] ?? 0) + amount };
  }

  /** @internal @param limit the named limit that bound, if one did */
  waited(gate: GateKind, waitMs: number, rounds: number, limit?: string): void {
    this.#waits = longer(this.#waits, gate, limit, waitMs, rounds);
  }

  /** The last lent first. */
  private giveAllBack(): void {
    let lease = this.#top;
    this.#top = undefined;
    for (; lease !== undefined; lease = lease.below) lease.lender.giveBack(lease.charge, this);
    this.giveSecondBack();
    this.giveFirstBack();
  }

  private giveSecondBack(): void {
    const lender = this.#second;
    this.#second = undefined;
    lender?.giveBack(this.#secondCharge, this);
  }

  private giveFirstBack(): void {
    const lender = this.#first;
    this.#first = undefined;
    lender?.giveBack(this.#firstCharge, this);
  }

  private endPatience(): void {
    if (this.patience === undefined) return;
    const { patience } = this;
    this.patience = undefined;
    patience.end();
  }

  private cancelTransit(): void {
    this.transit?.cancel();
    this.transit = undefined;
  }
}
