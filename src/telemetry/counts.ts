import type { Attributes } from '@opentelemetry/api';
import type { PolicyEvent } from '../model/policy-events.ts';
import { ATTRIBUTES, Labels } from './attributes.ts';
import type { ObservedKey } from './instruments.ts';

/** Reports the value of a counter or gauge. */
export type Observe = (key: ObservedKey, value: number, attributes: Attributes) => void;

interface Count {
  readonly attributes: Attributes;
  count: number;
}

/** One counter for each value of an attribute, up to a bound. */
export class Counts {
  readonly #counts = new Map<string, Count>();
  readonly #labels: Labels;
  readonly #attributes: Attributes;
  readonly #key: string;

  /**
   * @param attributes the common attributes
   * @param key the attribute that distinguishes the counters
   * @param from the values that exist from the start, at 0
   * @param most how many other values get a counter of their own
   */
  constructor(attributes: Attributes, key: string, from: readonly string[], most: number) {
    this.#attributes = attributes;
    this.#key = key;
    this.#labels = new Labels(most);
    for (const value of from) this.#counts.set(value, this.#entry(value));
  }

  /** Adds to the counter of a value. The counter of the empty value has no such attribute. */
  add(value: string, by = 1): void {
    this.#of(value).count += by;
  }

  /** Sets the counter of a value to the greater or lesser of it and `to`: `by` is `Math.max` or `Math.min`. */
  choose(value: string, to: number, by: (...values: number[]) => number): void {
    const entry = this.#of(value);
    entry.count = by(entry.count, to);
  }

  /** Sets all to 0. */
  clear(): void {
    for (const entry of this.#counts.values()) entry.count = 0;
  }

  observe(key: ObservedKey, observe: Observe): void {
    for (const { count, attributes } of this.#counts.values()) observe(key, count, attributes);
  }

  #of(value: string): Count {
    const known = this.#counts.get(value);
    if (known !== undefined) return known;
    const label = this.#labels.of(value);
    const entry = this.#counts.get(label) ?? this.#entry(label);
    this.#counts.set(label, entry);
    return entry;
  }

  #entry(value: string): Count {
    const own = value === '' ? {} : { [this.#key]: value };
    return { attributes: { ...this.#attributes, ...own }, count: 0 };
  }
}

/** The counters of a process that shares the limits of one key with others. All begin at 0. */
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
    this.#calls.observe('storeCalls', observe);
    observe('lostLeases', this.#lostLeases, this.#name);
    observe('fleetHandovers', this.#handovers, this.#name);
  }
}
