import type { Attributes } from '@opentelemetry/api';
import type { Mode } from '../model/feedback.ts';
import type { GaugeSnapshot, GaugeValue } from '../model/gauge.ts';
import { getOrMake } from '../util/collections.ts';
import { MOST_VALUES } from './attributes.ts';
import { Counts, type Observe } from './counts.ts';
import type { ObservedKey } from './instruments.ts';
import type { Metric } from './meter.ts';
import { type GaugeMetric, METRICS } from './metrics.ts';

/** One open gate. Only the function that closes it keeps this object alive. */
interface Instance {
  readonly read: () => GaugeSnapshot;
}

/**
 * The open gates of one name. Gates that were dropped without being closed, as a limiter may be,
 * are removed when they are garbage-collected.
 */
export class Instances {
  readonly #instances = new Set<WeakRef<Instance>>();
  /** The progress of the last closed gate, reported until an open gate has a progress. */
  #lastProgress: GaugeSnapshot['progress'];

  /**
   * @returns a function that closes the gate. Keep it: the gate's entry is garbage-collected with
   * it
   */
  open(read: () => GaugeSnapshot): () => void {
    const instance: Instance = { read };
    const reference = new WeakRef(instance);
    this.#instances.add(reference);
    return () => {
      if (this.#instances.delete(reference)) {
        this.#lastProgress = instance.read().progress ?? this.#lastProgress;
      }
    };
  }

  /** The state of all open gates, and the last progress if none of them has one. */
  read(): readonly GaugeSnapshot[] {
    const snapshots: GaugeSnapshot[] = [];
    for (const reference of this.#instances) {
      const instance = reference.deref();
      if (instance === undefined) this.#instances.delete(reference);
      else snapshots.push(instance.read());
    }
    const progress = this.#lastProgress;
    if (progress === undefined || snapshots.some((gauges) => gauges.progress !== undefined)) {
      return snapshots;
    }
    return [...snapshots, { waiting: [], progress }];
  }
}

/** Every mode is reported from the start, as 0. */
const NO_MODE: Readonly<Record<Mode, number>> = { normal: 0, throttled: 0, outage: 0 };

/**
 * The gauges of one name. Several instances report one value: their sum or the greatest, as the
 * gauge's description says, and the most serious of their modes. A series that was reported once is
 * always reported, with 0 after its source has closed: otherwise back ends would show its last
 * value for a while.
 */
export class Gauges {
  readonly #name: Attributes;
  readonly #series = new Map<string, Counts>();

  constructor(name: Attributes) {
    this.#name = name;
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
    for (const counts of this.#series.values()) counts.clear();
    for (const snapshot of snapshots) this.#addAll(snapshot);
    this.#bound(snapshots);
    if (retrying > 0) this.#add('queued', { retry: retrying });
    if (this.#series.has('active')) this.#add('active', active);
    if (this.#series.has('mode')) this.#add('mode', { [gravest(snapshots)]: 1 });
    for (const [key, counts] of this.#series) {
      counts.observe(key as ObservedKey, observe);
    }
  }

  #addAll({ waiting, isSending, mode, isPaused, progress, gauges = {} }: GaugeSnapshot): void {
    for (const [gate, requests] of waiting) this.#add('queued', { [gate]: requests });
    if (isSending !== undefined) this.#add('active', 0);
    if (mode !== undefined) this.#add('mode', NO_MODE);
    if (isPaused !== undefined) this.#add('paused', isPaused ? 1 : 0);
    if (progress !== undefined) this.#add('progressCompleted', progress.completed);
    if (progress?.total !== undefined) this.#add('progressExpected', progress.total);
    for (const [key, value] of Object.entries(gauges)) this.#add(key, value);
  }

  /** Limits that all keys of a group share are reported where their own limits allow more. */
  #bound(snapshots: readonly GaugeSnapshot[]): void {
    const own = new Set(snapshots.flatMap(({ gauges = {} }) => Object.keys(gauges)));
    for (const { shared = {} } of snapshots) {
      for (const [key, value] of Object.entries(shared)) this.#add(key, value, own.has(key));
    }
  }

  /** Does nothing for a gauge that no metric describes. */
  #add(key: string, value: GaugeValue, isBound = false): void {
    const metric = DESCRIBED[key];
    if (metric === undefined) return;
    const make = () => new Counts(this.#name, metric.attributes[0] ?? '', [], MOST_VALUES);
    const counts = getOrMake(this.#series, key, make);
    const byLabel = typeof value === 'number' ? { '': value } : value;
    for (const [label, amount] of Object.entries(byLabel)) {
      if (metric.together === 'greatest') counts.choose(label, amount, Math.max);
      else if (isBound) counts.choose(label, amount, Math.min);
      else counts.add(label, amount);
    }
  }
}

const DESCRIBED: Readonly<Record<string, Metric & Pick<GaugeMetric, 'together'>>> = METRICS;

/** The mode of all instances together. */
function gravest(snapshots: readonly GaugeSnapshot[]): Mode {
  const isIn = (wanted: Mode) => snapshots.some(({ mode }) => mode === wanted);
  if (isIn('outage')) return 'outage';
  return isIn('throttled') ? 'throttled' : 'normal';
}
