/** An object that can be in one {@link LinkedList} at a time. */
export interface Linked<T> {
  before: T | undefined;
  after: T | undefined;
}

/**
 * A doubly linked list through its members, in order of arrival. A removed member keeps no links:
 * the leftovers of a `Set` would reach the old generation of the garbage collector and keep young
 * objects alive.
 */
export class LinkedList<T extends Linked<T>> {
  private _first: T | undefined = undefined;
  private last: T | undefined = undefined;

  get first(): T | undefined {
    return this._first;
  }

  add(member: T): void {
    member.before = this.last;
    if (this.last === undefined) this._first = member;
    else this.last.after = member;
    this.last = member;
  }

  /** Does nothing for a member that is in no list. */
  remove(member: T): void {
    const { before, after } = member;
    if (before === undefined && this._first !== member) return;
    if (before === undefined) this._first = after;
    else before.after = after;
    if (after === undefined) this.last = before;
    else after.before = before;
    member.before = undefined;
    member.after = undefined;
  }
}

/**
 * A member of up to two heaps. `places[0]` is its index in the first, `places[1]` in the second.
 */
export interface Placed {
  readonly places: number[];
}

/** A binary heap whose members may move or leave, each in O(log n). */
export class Heap<Member extends Placed> {
  readonly #which: number;
  readonly #precedes: (one: Member, other: Member) => boolean;
  readonly #members: Member[] = [];

  /** @param which the index in `places` that this heap uses */
  constructor(which: number, precedes: (one: Member, other: Member) => boolean) {
    this.#which = which;
    this.#precedes = precedes;
  }

  get size(): number {
    return this.#members.length;
  }

  /** The first member. */
  get top(): Member | undefined {
    return this.#members[0];
  }

  add(member: Member): void {
    this.#members.push(member);
    this.#rise(member, this.#members.length - 1);
  }

  /** Moves a member whose rank has changed. */
  move(member: Member): void {
    if (this.#members.length > 1) this.#sink(member, this.#rise(member, this.#placeOf(member)));
  }

  delete(member: Member): void {
    const last = this.#members.pop();
    if (last === undefined || last === member) return;
    this.#put(last, this.#placeOf(member));
    this.move(last);
  }

  #placeOf(member: Member): number {
    return member.places[this.#which] as number;
  }

  #put(member: Member, at: number): void {
    this.#members[at] = member;
    member.places[this.#which] = at;
  }

  /** @returns the member's new index */
  #rise(member: Member, from: number): number {
    let at = from;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = this.#members[above] as Member;
      if (!this.#precedes(member, parent)) break;
      this.#put(parent, at);
      at = above;
    }
    this.#put(member, at);
    return at;
  }

  #sink(member: Member, from: number): void {
    const { length } = this.#members;
    let at = from;
    for (let below = 2 * at + 1; below < length; below = 2 * at + 1) {
      let child = this.#members[below] as Member;
      const sibling = this.#members[below + 1];
      if (sibling !== undefined && this.#precedes(sibling, child)) {
        below += 1;
        child = sibling;
      }
      if (!this.#precedes(child, member)) break;
      this.#put(child, at);
      at = below;
    }
    this.#put(member, at);
  }
}

/** Called when members are added and removed. Must not throw. */
export interface RegistryWatcher<T> {
  opened(member: T): void;
  closed(member: T): void;
}

/** The value of a key, which is made and kept if there is none. */
export function getOrMake<K, V>(
  map: { get(key: K): V | undefined; set(key: K, value: V): unknown },
  key: K,
  make: () => V,
): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** With fewer references than this there is no search for collected members. */
const LEAST_SWEPT = 64;

/**
 * The open members in this process. The registry does not keep members alive that were dropped
 * without being removed.
 */
export class WeakRegistry<T extends object> {
  readonly #members = new Map<number, WeakRef<T>>();
  readonly #watchers = new Set<RegistryWatcher<T>>();
  #next = 1;
  #sweepAt = LEAST_SWEPT;

  /** @returns a function that removes the member */
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

  /** Reports all open members, then each change, until the returned function is called. */
  watch(watcher: RegistryWatcher<T>): () => void {
    for (const reference of this.#members.values()) {
      const member = reference.deref();
      if (member !== undefined) watcher.opened(member);
    }
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** Called each time the number of members has doubled: a constant cost for each member. */
  #sweep(): void {
    for (const [id, reference] of this.#members) {
      if (reference.deref() === undefined) this.#members.delete(id);
    }
    this.#sweepAt = Math.max(LEAST_SWEPT, 2 * this.#members.size);
  }
}
