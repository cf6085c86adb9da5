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
