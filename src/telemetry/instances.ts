import type { GaugeSnapshot } from '../model/gauge.ts';

/** Open gates. Only their creator keeps this object alive. */
interface Instance {
  readonly read: () => GaugeSnapshot;
}

/**
 * The open gates of one name. Gates that were dropped without being closed, as a limiter may be, are
 * removed when they are garbage-collected.
 */
export class Instances {
  readonly #instances = new Set<WeakRef<Instance>>();
  /** The progress of the last closed instance; it stays until there is another. */
  #lastProgress: GaugeSnapshot['progress'];

  /** @returns a function that closes them, which must be kept while they are open */
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
