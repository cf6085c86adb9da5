import { QueueFullError, WaitTimeoutError } from '../../src/model/errors.ts';
import type { SettleOutcome } from '../../src/model/outcome.ts';
import type { Ticket } from '../../src/model/ticket.ts';
import type { ManualClock } from '../../src/simulator/manual-clock.ts';
import { Attempts } from './attempts.ts';
import { MEANINGS, type Req } from './requests.ts';
import type { Setup } from './setup.ts';
import type { Tap } from './tap.ts';

const NEARLY = 1e-6;

/** Watches every ticket, and records each broken law at once. */
export class Warden implements Tap {
  readonly faults: string[] = [];
  readonly requests: Req[] = [];
  readonly alive = new Set<Ticket>();
  readonly ended: Record<SettleOutcome, number> = {
    ok: 0,
    failed: 0,
    rejected: 0,
    cancelled: 0,
    reclaimed: 0,
  };
  readonly attempts: Attempts;
  dropped = 0;
  /**
   * A user was told of a request that was let pass and is not sent yet, and may change what it met.
   */
  disturbedAt = -1;
  /** Others have come while one was between two queues. */
  isCrowded = false;
  /** All tickets so far. */
  tickets = 0;
  /** The highest limits that those who are there may have been let in under. */
  mostSlots: number;
  mostThrottled: number;
  mostBytes: number;
  maxQueue: number;
  mostQueue: number;
  waitTimeoutMs: number;
  /** The first call since requests are timed out: those that came before it are not. */
  timedFrom = 0;
  /** After this time nothing may be sent; Infinity: it may. */
  pausedAt = Number.POSITIVE_INFINITY;
  /** The number of unfinished requests that were sent. */
  inSlots = 0;
  readonly #setup: Setup;
  readonly #clock: ManualClock;
  readonly #reqOf: (ticket: Ticket) => Req | undefined;

  constructor(setup: Setup, clock: ManualClock, reqOf: (ticket: Ticket) => Req | undefined) {
    this.#setup = setup;
    this.#clock = clock;
    this.#reqOf = reqOf;
    this.attempts = new Attempts(setup, clock);
    this.mostSlots = setup.concurrency;
    this.mostThrottled = setup.throttledConcurrency;
    this.maxQueue = setup.maxQueue ?? Number.POSITIVE_INFINITY;
    this.mostQueue = this.maxQueue;
    this.waitTimeoutMs = setup.waitTimeoutMs ?? Number.POSITIVE_INFINITY;
    this.mostBytes = setup.maxBytes ?? Number.POSITIVE_INFINITY;
  }

  fault(what: string): void {
    this.faults.push(`at ${this.#clock.now()} ms: ${what}`);
  }

  taken(ticket: Ticket): void {
    if (ticket.outcome !== undefined || this.alive.has(ticket)) return;
    this.alive.add(ticket);
    // Now it is known whose it is: nobody else has come meanwhile.
    this.#reqOf(ticket);
    this.tickets += 1;
  }

  refused(ticket: Ticket, error: Error): void {
    const req = this.#reqOf(ticket);
    if (req === undefined) return;
    const isForNewcomers = error instanceof QueueFullError || error instanceof WaitTimeoutError;
    if (req.attempts > 0 && isForNewcomers)
      this.fault(`request ${req.id} was refused after it was sent: ${error}`);
    if (!req.isRefused && error instanceof QueueFullError) this.dropped += 1;
    req.isRefused = true;
  }

  waited(ticket: Ticket): void {
    const req = this.#reqOf(ticket);
    if (req !== undefined) req.sinceAt = this.#clock.now();
  }

  sent(ticket: Ticket): void {
    const req = this.#reqOf(ticket);
    if (req === undefined) {
      this.fault('a ticket of nobody was sent');
      return;
    }
    const now = this.#clock.now();
    const name = `request ${req.id}`;
    if (req.isRefused) this.fault(`${name} was sent though refused`);
    if (req.isGone && !req.isBornLate) this.fault(`${name} was sent though its user has gone`);
    if (now > this.pausedAt) this.fault(`${name} was sent while the limiter is paused`);
    if (req.ends > 0) this.fault(`${name} was sent after it had ended`);
    if (this.attempts.out.has(ticket)) this.fault(`${name} was sent while its last attempt is out`);
    if (req.attempts === 0) {
      this.#checkOrder(req);
      this.inSlots += 1;
      this.#checkHeld(name);
    }
    req.attempts += 1;
    req.lastAnswer = undefined;
    const { maxAttempts = Number.POSITIVE_INFINITY, deadlineMs = Number.POSITIVE_INFINITY } =
      this.#setup;
    if (req.attempts > maxAttempts) this.fault(`${name} was sent too often`);
    if (req.attempts > 1 && now - ticket.arrivedAt > deadlineMs + NEARLY)
      this.fault(`${name} was sent after its deadline`);
    const faults = this.attempts.sent(ticket);
    if (this.disturbedAt === now) return;
    for (const what of faults) this.fault(`${name} was sent ${what}`);
  }

  recorded(ticket: Ticket, limit: string, amount: number): void {
    const sent = this.attempts.out.get(ticket);
    if (sent !== undefined) sent.usage[limit] = (sent.usage[limit] ?? 0) + amount;
  }

  attemptOver(ticket: Ticket, outcome: SettleOutcome | undefined): void {
    const sent = this.attempts.out.get(ticket);
    if (sent === undefined) return;
    const req = this.#reqOf(ticket);
    const { verdict } = ticket;
    const meaning = req?.lastAnswer && MEANINGS[req.lastAnswer];
    const isLease = this.isLease(ticket);
    const { deadlineMs = Number.POSITIVE_INFINITY } = this.#setup;
    const { attemptTimeoutMs = Number.POSITIVE_INFINITY } = this.#setup;
    const now = this.#clock.now();
    const isTimedOut = !isLease && now - sent.at >= attemptTimeoutMs - NEARLY;
    // An answer that comes as the deadline or the timeout passes may come too late to be heard.
    const isLate = isTimedOut || now - ticket.arrivedAt >= deadlineMs - NEARLY;
    if (!isLate && !isLease && outcome !== 'cancelled' && verdict?.kind !== meaning?.[0])
      this.fault(`request ${req?.id} was answered ${req?.lastAnswer}, taken for ${verdict?.kind}`);
    if (isTimedOut && outcome !== 'cancelled' && verdict?.kind !== 'failed') {
      const isHeard = verdict?.kind === meaning?.[0];
      if (!isHeard) this.fault(`request ${req?.id} has timed out, taken for ${verdict?.kind}`);
    }
    const isCutOff = isLate && verdict === undefined;
    const isFailure = isTimedOut && verdict?.kind === 'failed';
    this.attempts.over(ticket, sent, isCutOff ? 'cancelled' : outcome, req, isFailure);
  }

  /** Whether its user sends it, and ends it. */
  isLease(ticket: Ticket): boolean {
    const via = this.#reqOf(ticket)?.via;
    return via === 'acquire' || via === 'try';
  }

  /** Requests that have gone, and waited without a ticket: at least so many, and at most. */
  get abandoned(): readonly [least: number, most: number] {
    const gone = this.requests.filter(({ isGone, ticket }) => isGone && ticket === undefined);
    // Who came to a stream that had ended may have come to nobody.
    return [gone.filter(({ isBornLate }) => !isBornLate).length, gone.length];
  }

  /** A request that went past the limiter counts for it, too. */
  passedBy(outcome: 'ok' | 'failed'): void {
    this.ended[outcome] += 1;
    this.tickets += 1;
  }

  settled(ticket: Ticket, outcome: SettleOutcome): void {
    if (!this.alive.delete(ticket)) this.tickets += 1;
    this.ended[outcome] += 1;
    const req = this.#reqOf(ticket);
    if (req !== undefined && req.attempts > 0) this.inSlots -= 1;
    if ((req?.attempts ?? 0) > 0 && outcome === 'rejected')
      this.fault(`request ${req?.id} was sent, and counts as rejected`);
  }

  /** First in, first out among equals; aging bounds how far others may get ahead. */
  #checkOrder(req: Req): void {
    const { agingMs } = this.#setup;
    for (const other of this.requests) {
      if (other === req || !other.waits || other.enteredAt > req.begunAt) continue;
      const steps = req.priority - other.priority;
      if (steps <= 0 || req.arrivedAt - other.sinceAt >= steps * agingMs) {
        this.fault(`request ${req.id} has overtaken ${other.id}`);
      }
    }
  }

  #checkHeld(name: string): void {
    if (this.inSlots > this.mostSlots) this.fault(`${name} was sent beyond the concurrency`);
    const sizes = [...this.alive]
      .filter((ticket) => (this.#reqOf(ticket)?.attempts ?? 0) > 0)
      .map(({ bytes }) => bytes);
    const used = sizes.reduce((sum, bytes) => sum + bytes, 0) - Math.max(0, ...sizes);
    if (used > this.mostBytes) this.fault(`${name} was sent beyond the bytes`);
  }
}
