import type { Feedback } from '../../src/model/feedback.ts';
import type { SettleOutcome } from '../../src/model/outcome.ts';
import type { Ticket } from '../../src/model/ticket.ts';
import type { ManualClock } from '../../src/simulator/manual-clock.ts';
import { BACKOFF_MS } from './options.ts';
import { type Attempt, BackoffOracle, CircuitOracle } from './provider-oracles.ts';
import { type Charge, RateOracle } from './rate-oracle.ts';
import { MEANINGS, type Req } from './requests.ts';
import type { Setup } from './setup.ts';

/** An attempt, and what it was charged. */
interface Sent extends Attempt {
  readonly costs: ReadonlyMap<string, number>;
  readonly charges: ReadonlyMap<string, Charge>;
  readonly usage: Record<string, number>;
  /** The limits that there were as it was sent. */
  readonly rates: ReadonlyMap<string, RateOracle>;
}

const NEARLY = 1e-6;

/** When attempts may be sent: by rate limits, the pace, the backoff and the circuit breaker. */
export class Attempts {
  /** Those that are out. */
  readonly out = new Map<Ticket, Sent>();
  readonly rates = new Map<string, RateOracle>();
  readonly backoff: BackoffOracle;
  readonly circuit: CircuitOracle | undefined;
  intervalMs: number;
  readonly #setup: Setup;
  readonly #refunds: boolean;
  readonly #clock: ManualClock;
  #sentAt = Number.NEGATIVE_INFINITY;

  constructor(setup: Setup, clock: ManualClock) {
    this.#setup = setup;
    // Said with the limits at the start alone: of one that is added the default holds.
    this.#refunds = setup.refundRejected && setup.limits.length > 0;
    this.#clock = clock;
    for (const [name, rule] of setup.limits) this.rates.set(name, new RateOracle(rule));
    this.backoff = new BackoffOracle(setup.reopen, BACKOFF_MS);
    this.circuit = setup.circuitBreaker && new CircuitOracle(setup.circuitBreaker);
    this.intervalMs = setup.pace?.intervalMs ?? 0;
  }

  /**
   * What the library has been told of the provider, by attempts and from outside.
   * @param leastMs the least wait that closes the gate: a rate that adapts minds shorter ones
   */
  heard({ kind, retryAfterMs, epoch = this.backoff.epoch }: Feedback, leastMs: number): void {
    const now = this.#clock.now();
    if (kind === 'ok') this.backoff.accept(epoch, now);
    const closes = kind === 'throttled' || (kind === 'overloaded' && retryAfterMs !== undefined);
    if (closes && (retryAfterMs ?? 0) >= leastMs) this.backoff.reject(retryAfterMs, epoch, now);
  }

  /** @returns in what ways it was sent too early */
  sent(ticket: Ticket): string[] {
    const now = this.#clock.now();
    const faults: (string | undefined)[] = [];
    const charges = new Map<string, Charge>();
    const costs = new Map<string, number>();
    const { tokens, epoch } = ticket;
    const expected: Record<string, number> = { requests: 1, tokens, ...ticket.costs };
    for (const [name, rate] of this.rates) {
      const cost = expected[name] ?? 0;
      costs.set(name, cost);
      if (rate.mode !== 'actual' && cost > 0) charges.set(name, rate.charge(cost, now));
      if (!rate.isKept(now)) faults.push(`beyond ${name}: ${rate.used(now)} of ${rate.limit}`);
    }
    const sinceMs = now - this.#sentAt;
    if (sinceMs < this.intervalMs - NEARLY) faults.push(`${sinceMs} ms after the last`);
    this.#sentAt = now;
    const sent: Sent = {
      at: now,
      epoch,
      trial: 0,
      generation: 0,
      costs,
      charges,
      usage: {},
      rates: new Map(this.rates),
    };
    if (this.#setup.isHeard) faults.push(this.backoff.sent(sent, this.out.values(), now));
    faults.push(this.circuit?.sent(sent, now));
    this.out.set(ticket, sent);
    return faults.filter((what) => what !== undefined);
  }

  /** What it was charged is given back, settled or kept. */
  over(
    ticket: Ticket,
    sent: Sent,
    outcome: SettleOutcome | undefined,
    req: Req | undefined,
    isTimedOut: boolean,
  ): void {
    const now = this.#clock.now();
    const { verdict } = ticket;
    const isSent = req?.isUnused !== true;
    const answered = req?.lastAnswer && MEANINGS[req.lastAnswer][1];
    const meaning = isTimedOut ? 'failed' : answered;
    this.out.delete(ticket);
    // A stream that had a value went well, whatever was to come when it was cancelled.
    const said = outcome === 'cancelled' && verdict?.kind === 'ok' ? 'ok' : meaning;
    const result = verdict === undefined || !isSent ? 'ignored' : (said ?? 'ignored');
    this.circuit?.ended(sent.generation, result, now);
    const isFree = !isSent || (verdict?.kind === 'throttled' && this.#refunds);
    for (const [name, rate] of sent.rates) {
      const charge = sent.charges.get(name);
      if (isFree && charge !== undefined) rate.giveBack(charge, charge.amount, now);
      if (isFree || rate.mode === 'upfront') continue;
      const more = (sent.usage[name] ?? sent.costs.get(name) ?? 0) - (charge?.amount ?? 0);
      if (more > 0) rate.charge(more, now);
      else if (charge !== undefined) rate.giveBack(charge, -more, now);
    }
  }
}
