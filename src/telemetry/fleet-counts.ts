import type { Attributes } from '@opentelemetry/api';
import type { PolicyEvent } from '../model/policy-events.ts';
import { ATTRIBUTES } from './attributes.ts';
import { Counts } from './counts.ts';
import type { Observe } from './gauges.ts';

/** The counters of workers that share the limits of one key, from 0. */
export class FleetCounts {
  readonly #name: Attributes;
  readonly #calls: Counts;
  #lostLeases = 0;
  #handovers = 0;

  constructor(name: Attributes) {
    this.#name = name;
    this.#calls = new Counts(name, ATTRIBUTES.outcome, ['ok', 'failed'], 0);
  }

  called(isAnswered: boolean): void {
    this.#calls.add(isAnswered ? 'ok' : 'failed');
  }

  changed(fact: PolicyEvent): void {
    if (fact.kind === 'leaseLost') this.#lostLeases += 1;
    if (fact.kind === 'leaderChanged' && fact.leads) this.#handovers += 1;
  }

  observe(observe: Observe): void {
    this.#calls.each((count, attributes) => observe('storeCalls', count, attributes));
    observe('lostLeases', this.#lostLeases, this.#name);
    observe('fleetHandovers', this.#handovers, this.#name);
  }
}
