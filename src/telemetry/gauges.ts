import type { Attributes } from '@opentelemetry/api';
import type { Mode } from '../model/feedback.ts';
import type { GaugeSnapshot } from '../model/gauge-snapshot.ts';
import { Counts } from './counts.ts';
import type { ObservedKey } from './instruments.ts';
import { ATTRIBUTES } from './names.ts';

/** Kinds of gates, and more. */
const MOST_GATES = 10;
const MODES = ['normal', 'throttled', 'outage'] as const;
const STATES = ['closed', 'open', 'half-open'] as const;
/** How many rate limits have a series of their own. */
export const MOST_LIMITS = 20;

/** Reports the value of a gauge. */
export type Observe = (key: ObservedKey, value: number, attributes: Attributes) => void;

/**
 * The gauges of one name. Amounts of several instances are summed, the longest interval counts, and
 * a mode or state is in force if it is in one instance. A series that was reported once is reported
 * for ever, as 0 if it is gone: otherwise back ends would keep its last value.
 */
export class Gauges {
  readonly #name: Attributes;
  readonly #waiting: Counts;
  readonly #modes: Counts;
  readonly #slots: Counts;
  readonly #states: Counts;
  readonly #used: Counts;
  readonly #limits: Counts;
  readonly #rates: Counts;
  readonly #seen = new Set<ObservedKey>();
  /** The gauges that policies describe: the sums of all instances. */
  readonly #policies = new Map<string, number>();

  constructor(name: Attributes) {
    const { gate, mode, state, limit, source } = ATTRIBUTES;
    this.#name = name;
    this.#waiting = new Counts(name, gate, [], MOST_GATES);
    this.#modes = new Counts(name, mode, MODES, 0);
    this.#slots = new Counts(name, mode, [], 2);
    this.#states = new Counts(name, state, STATES, 0);
    this.#used = new Counts(name, limit, [], MOST_LIMITS);
    this.#limits = new Counts(name, limit, [], MOST_LIMITS);
    this.#rates = new Counts(name, source, [], 3);
  }

  /**
   * @param retrying requests between two attempts
   * @param active attempts in flight
   */
  observe(
    snapshots: readonly GaugeSnapshot[],
    retrying: number,
    active: number,
    observe: Observe,
  ): void {
    this.#sum(snapshots, retrying);
    this.#waiting.each((count, attributes) => observe('queued', count, attributes));
    if (this.#sees('mode', snapshots, ({ mode }) => mode)) {
      this.#modes.each((count, attributes) => observe('mode', count, attributes));
    }
    this.#used.each((used, attributes) => observe('rateUsed', used, attributes));
    this.#limits.each((limit, attributes) => observe('rateLimit', limit, attributes));
    this.#rates.each((rate, attributes) => observe('rateTarget', rate, attributes));
    if (this.#sees('concurrencyLimit', snapshots, ({ slots }) => slots)) {
      this.#slots.each((slots, attributes) => observe('concurrencyLimit', slots, attributes));
    }
    if (this.#sees('circuit', snapshots, ({ circuit }) => circuit)) {
      this.#states.each((count, attributes) => observe('circuit', Math.min(count, 1), attributes));
    }
    const tell = (key: ObservedKey, value: number) => observe(key, value, this.#name);
    if (this.#sees('active', snapshots, ({ isSending }) => isSending)) tell('active', active);
    if (this.#sees('backoffActive', snapshots, ({ isBackingOff }) => isBackingOff)) {
      tell('backoffActive', snapshots.some(({ isBackingOff }) => isBackingOff) ? 1 : 0);
    }
    if (this.#sees('paused', snapshots, ({ isPaused }) => isPaused)) {
      tell('paused', snapshots.some(({ isPaused }) => isPaused) ? 1 : 0);
    }
    if (this.#sees('bytesUsed', snapshots, ({ bytes }) => bytes)) {
      tell(
        'bytesUsed',
        sum(snapshots, ({ bytes }) => bytes?.used),
      );
      tell(
        'bytesLimit',
        sum(snapshots, ({ bytes }) => bytes?.limit),
      );
    }
    if (this.#sees('interval', snapshots, ({ intervalMs }) => intervalMs)) {
      tell('interval', Math.max(0, ...snapshots.map(({ intervalMs = 0 }) => intervalMs)) / 1000);
    }
    for (const [key, value] of this.#policies) tell(`policy.${key}`, value);
    if (this.#sees('outage', snapshots, ({ isOut }) => isOut)) {
      tell('outage', snapshots.some(({ isOut }) => isOut) ? 1 : 0);
      // 0 before the first congestion.
      tell(
        'rateCeiling',
        sum(snapshots, ({ rateCeiling }) => rateCeiling),
      );
    }
    if (this.#sees('progressCompleted', snapshots, ({ progress }) => progress)) {
      tell(
        'progressCompleted',
        sum(snapshots, ({ progress }) => progress?.completed),
      );
    }
    if (this.#sees('progressExpected', snapshots, ({ progress }) => progress?.total)) {
      tell(
        'progressExpected',
        sum(snapshots, ({ progress }) => progress?.total),
      );
    }
  }

  #sum(snapshots: readonly GaugeSnapshot[], retrying: number): void {
    for (const counts of [this.#waiting, this.#modes, this.#slots, this.#states]) counts.clear();
    for (const counts of [this.#used, this.#limits, this.#rates]) counts.clear();
    for (const key of this.#policies.keys()) this.#policies.set(key, 0);
    if (retrying > 0) this.#waiting.add('retry', retrying);
    const isIn = (wanted: Mode) => snapshots.some(({ mode }) => mode === wanted);
    this.#modes.add(isIn('outage') ? 'outage' : isIn('throttled') ? 'throttled' : 'normal');
    for (const { waiting, slots, circuit, limits = {}, rates = {}, gauges = {} } of snapshots) {
      for (const [key, value] of Object.entries(gauges)) {
        this.#policies.set(key, value + (this.#policies.get(key) ?? 0));
      }
      for (const [gate, requests] of waiting) this.#waiting.add(gate, requests);
      if (circuit !== undefined) this.#states.add(circuit);
      if (slots !== undefined) this.#slots.add('normal', slots.limit);
      if (slots?.throttledLimit !== undefined) {
        this.#slots.add('throttled', slots.throttledLimit);
      }
      for (const [name, { used, limit }] of Object.entries(limits)) {
        this.#used.add(name, used);
        this.#limits.add(name, limit);
      }
      for (const [source, rate] of Object.entries(rates)) this.#rates.add(source, rate);
    }
  }

  /** Whether any instance has, or had, such a value. */
  #sees(
    key: ObservedKey,
    snapshots: readonly GaugeSnapshot[],
    read: (gauges: GaugeSnapshot) => unknown,
  ): boolean {
    if (snapshots.some((gauges) => read(gauges) !== undefined)) this.#seen.add(key);
    return this.#seen.has(key);
  }
}

function sum(
  snapshots: readonly GaugeSnapshot[],
  read: (gauges: GaugeSnapshot) => number | undefined,
): number {
  return snapshots.reduce((total, gauges) => total + (read(gauges) ?? 0), 0);
}
