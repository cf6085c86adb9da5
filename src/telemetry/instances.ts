import type { Reading } from '../model/reading.ts';

/** Gates that are open. Whoever opened them keeps this alive, and nobody else. */
interface Instance {
  readonly read: () => Reading;
}

/**
 * The gates of one name that are open. Those that were dropped without a word, as a limiter may be,
 * are forgotten when they are collected.
 */
export class Instances {
  readonly #instances = new Set<WeakRef<Instance>>();
  /** The progress of the last that was closed: it stands until there is another. */
  #lastProgress: Reading['progress'];

  /** @returns what closes them; it must be kept as long as they are open */
  open(read: () => Reading): () => void {
    const instance: Instance = { read };
    const reference = new WeakRef(instance);
    this.#instances.add(reference);
    return () => {
      if (this.#instances.delete(reference)) {
        this.#lastProgress = instance.read().progress ?? this.#lastProgress;
      }
    };
  }

  /** The state of all that are open, and the progress of the last where none of them has any. */
  read(): readonly Reading[] {
    const readings: Reading[] = [];
    for (const reference of this.#instances) {
      const instance = reference.deref();
      if (instance === undefined) this.#instances.delete(reference);
      else readings.push(instance.read());
    }
    const progress = this.#lastProgress;
    if (progress === undefined || readings.some((reading) => reading.progress !== undefined)) {
      return readings;
    }
    return [...readings, { waiting: [], progress }];
  }
}
