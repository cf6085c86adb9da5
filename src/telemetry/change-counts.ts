import type { Attributes } from '@opentelemetry/api';
import type { GaugeSnapshot } from '../model/gauge.ts';
import type { PolicyEvent } from '../model/policy-events.ts';
import { getOrMake } from '../util/collections.ts';
import { ATTRIBUTES, adaptationOf, MOST_VALUES } from './attributes.ts';
import { Counts, FleetCounts, type Observe } from './counts.ts';

const SUSPENSIONS = ['longWait', 'quota', 'billing', 'unreachable'] as const;

/** Counts the changes that policies report: denials, suspensions, and adaptations. */
export class ChangeCounts {
  readonly #name: Attributes;
  readonly #denied: Counts;
  readonly #suspensions: Counts;
  /** By the kind of the limit or rate that changed. */
  readonly #adaptations = new Map<string, Counts>();
  #rateCuts = 0;
  /** Undefined until the shared store is called: most programs have none. */
  #fleet: FleetCounts | undefined;

  constructor(name: Attributes) {
    this.#name = name;
    this.#denied = new Counts(name, ATTRIBUTES.limit, [], MOST_VALUES);
    this.#suspensions = new Counts(name, ATTRIBUTES.reason, SUSPENSIONS, 0);
  }

  changed(fact: PolicyEvent): void {
    if (fact.kind === 'limitDenied') this.#denied.add(fact.limit);
    if (fact.kind === 'suspended') this.#suspensions.add(fact.reason);
    this.#fleet?.changed(fact);
    const adaptation = adaptationOf(fact);
    if (adaptation === undefined) return;
    const { what, reason } = adaptation;
    this.#adaptationsOf(what).add(reason);
    if (fact.kind === 'rateAdapted' && reason === 'rejected') this.#rateCuts += 1;
  }

  storeCalled(isAnswered: boolean): void {
    this.#fleet ??= new FleetCounts(this.#name);
    this.#fleet.called(isAnswered);
  }

  /** Lets the counters of present limits begin at 0. */
  begin({ rateCeiling, rateLimit = {} }: NonNullable<GaugeSnapshot['gauges']>): void {
    if (rateCeiling !== undefined) {
      const rate = this.#adaptationsOf('rate');
      rate.add('rejected', 0);
      rate.add('accepted', 0);
    }
    for (const name of Object.keys(rateLimit)) this.#denied.add(name, 0);
  }

  observe(observe: Observe): void {
    this.#suspensions.observe('suspensions', observe);
    observe('rateCuts', this.#rateCuts, this.#name);
    this.#fleet?.observe(observe);
    for (const counts of this.#adaptations.values()) counts.observe('adaptations', observe);
    this.#denied.observe('rateDenied', observe);
  }

  #adaptationsOf(what: string): Counts {
    const attributes = { ...this.#name, [ATTRIBUTES.what]: what };
    const make = () => new Counts(attributes, ATTRIBUTES.reason, [], 10);
    return getOrMake(this.#adaptations, what, make);
  }
}
