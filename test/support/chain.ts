import { equal, ok } from 'node:assert/strict';
import type { Ticket } from '../../src/model/ticket.ts';
import { Backoff, type Reopen } from '../../src/policies/backoff.ts';
import { ByteBudgetPolicy } from '../../src/policies/byte-budget-policy.ts';
import { ConcurrencyPolicy } from '../../src/policies/concurrency-policy.ts';
import { Gate } from '../../src/queue/gate.ts';
import type { AdmissionCallback } from '../../src/queue/waiting-requests.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { ticketMaker } from './waiter.ts';

/** What a request does in the same turn in which it is sent. */
export type Plan = 'stay' | 'succeed' | 'reject' | 'abort' | 'abortAnother' | 'bringAnother';

const FACTOR = 20;

/** A request in the chain of gates, sent through promises. */
export class Traveller implements AdmissionCallback {
  gone = false;
  queued = 0;
  /** The index of the gate where the request waits; -1: none. */
  waitsAt = -1;
  /** Whether its bytes are charged and not yet released. */
  charge = 0;
  inFlight = false;
  isProbe = false;
  readonly ticket: Ticket;
  readonly plan: Plan;
  readonly #chain: Chain;

  constructor(chain: Chain, ticket: Ticket, plan: Plan) {
    this.#chain = chain;
    this.ticket = ticket;
    this.plan = plan;
  }

  admitted(): void {
    equal(this.gone, false);
    const passed = this.waitsAt;
    this.#chain.passed(this, passed);
    this.walk(passed + 1);
  }

  walk(from: number): void {
    const { gates } = this.#chain;
    for (let at = from; at < gates.length && !this.gone; at += 1) {
      this.waitsAt = at;
      this.#chain.queues[at]?.push(this);
      if (!gates[at]?.enter(this.ticket, this)) return;
      this.#chain.passed(this, at);
    }
    if (!this.gone) this.#chain.send(this);
  }
}

/**
 * Three gates (slots, bytes, backoff) and a simple model of them, which are compared after each
 * step. The comparison uses `node:assert`, since `expect` takes a hundred times as long.
 */
export class Chain {
  readonly clock = new ManualClock();
  readonly backoff: Backoff;
  readonly slots: ConcurrencyPolicy;
  readonly budget: ByteBudgetPolicy;
  readonly gates: readonly Gate[];
  /** The requests that wait at each gate, in order of arrival. */
  readonly queues: Traveller[][] = [[], [], []];
  readonly alive: Traveller[] = [];
  sent = 0;
  readonly #ticket = ticketMaker(this.clock);

  constructor(reopen: Reopen) {
    this.backoff = new Backoff(reopen, 10_000);
    this.slots = new ConcurrencyPolicy(4, 2, this.backoff);
    this.budget = new ByteBudgetPolicy(1_000, FACTOR, this.backoff);
    this.gates = [
      new Gate('concurrency', this.slots, this.clock),
      new Gate('byteBudget', this.budget, this.clock),
      new Gate('backoff', this.backoff, this.clock),
    ];
  }

  arrive(bytes: number, plan: Plan): void {
    const traveller = new Traveller(this, this.#ticket(bytes), plan);
    this.alive.push(traveller);
    traveller.walk(0);
  }

  /** Checks the laws for a request that a gate has admitted. */
  passed(traveller: Traveller, at: number): void {
    equal(this.queues[at]?.indexOf(traveller), 0, 'its place in the queue');
    this.queues[at]?.shift();
    traveller.waitsAt = -1;
    const now = this.clock.now();
    const throttled = now < this.backoff.throttledUntil;
    if (at === 0) ok(this.slots.inFlight <= this.slots.limit, 'slots');
    if (at === 0 && throttled) ok(this.slots.throttledInFlight <= 2, 'slots while throttled');
    if (at === 1) {
      const before = this.alive.reduce((sum, { charge }) => sum + charge, 0);
      ok(before <= this.budget.maxBytes, 'bytes used before');
      traveller.charge = traveller.ticket.bytes * (throttled ? FACTOR : 1);
    }
    if (at === 2) {
      ok(now >= this.backoff.until, 'the backoff is over');
      if (this.backoff.snapshot(now).state !== 'probing') return;
      ok(!this.alive.some(({ isProbe }) => isProbe), 'one probe at a time');
      traveller.isProbe = true;
    }
  }

  send(traveller: Traveller): void {
    traveller.inFlight = true;
    traveller.ticket.sent(this.backoff.epoch);
    this.sent += 1;
    const { plan, ticket } = traveller;
    if (ticket.attempts > 3) return;
    if (plan === 'succeed') this.succeed(traveller);
    if (plan === 'reject') this.reject(traveller, 500);
    if (plan === 'abort') this.abort(traveller);
    if (plan === 'abortAnother') this.abort(this.alive[(this.sent * 7) % this.alive.length]);
    if (plan === 'bringAnother') this.arrive(ticket.bytes, 'succeed');
  }

  succeed(traveller: Traveller): void {
    this.accept(traveller.ticket.epoch);
    // A request that was admitted by this release may have aborted this one.
    if (!traveller.gone) this.#end(traveller, 'ok');
  }

  accept(epoch: number): void {
    if (!this.backoff.accept(epoch, this.clock.now())) return;
    this.#noProbe();
    this.gates[2]?.drain();
  }

  /** Simulates a 429: the request waits at the backoff gate again, and keeps its leases. */
  reject(traveller: Traveller, waitMs: number): void {
    traveller.inFlight = false;
    this.rejected(waitMs, traveller.ticket.epoch);
    traveller.isProbe = false;
    traveller.ticket.returnTo(this.gates[2] as Gate);
    if (!traveller.gone) traveller.walk(2);
  }

  rejected(waitMs: number, epoch: number): void {
    if (this.backoff.reject(waitMs, epoch, this.clock.now())) this.#noProbe();
    this.gates[2]?.drain();
  }

  abort(traveller: Traveller | undefined): void {
    if (traveller === undefined || traveller.gone) return;
    traveller.gone = true;
    const at = traveller.waitsAt;
    if (at >= 0) {
      this.queues[at]?.splice(this.queues[at]?.indexOf(traveller) ?? -1, 1);
      this.gates[at]?.left(traveller);
    }
    this.#end(traveller, 'cancelled');
  }

  #end(traveller: Traveller, outcome: 'ok' | 'cancelled'): void {
    traveller.gone = true;
    traveller.inFlight = false;
    traveller.charge = 0;
    traveller.isProbe = false;
    this.alive.splice(this.alive.indexOf(traveller), 1);
    traveller.ticket.settle(outcome);
  }

  #noProbe(): void {
    for (const traveller of this.alive) traveller.isProbe = false;
  }
}
