/** Is told of members that come and go. Must not throw. */
export interface RegistryWatcher<T> {
  opened(member: T): void;
  closed(member: T): void;
}

/** Fewer references are not worth a search for those whose members were collected. */
const LEAST_SWEPT = 64;

/** What is open in this process. Members that were dropped without being taken off are not kept alive. */
export class WeakRegistry<T extends object> {
  readonly #members = new Map<number, WeakRef<T>>();
  readonly #watchers = new Set<RegistryWatcher<T>>();
  #next = 1;
  #sweepAt = LEAST_SWEPT;

  /** @returns what takes it off again */
  add(member: T): () => void {
    const id = this.#next;
    this.#next += 1;
    this.#members.set(id, new WeakRef(member));
    if (this.#members.size > this.#sweepAt) this.#sweep();
    for (const watcher of this.#watchers) watcher.opened(member);
    return () => {
      if (!this.#members.delete(id)) return;
      for (const watcher of this.#watchers) watcher.closed(member);
    };
  }

  /** Tells of all that are open, then of each change, until what is returned is called. */
  watch(watcher: RegistryWatcher<T>): () => void {
    for (const reference of this.#members.values()) {
      const member = reference.deref();
      if (member !== undefined) watcher.opened(member);
    }
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** Each time their number has doubled: a constant cost for each member. */
  #sweep(): void {
    for (const [id, reference] of this.#members) {
      if (reference.deref() === undefined) this.#members.delete(id);
    }
    this.#sweepAt = Math.max(LEAST_SWEPT, 2 * this.#members.size);
  }
}
