/** Something that can stand in one {@link LinkedList} at a time. */
export interface Linked<T> {
  before: T | undefined;
  after: T | undefined;
}

/**
 * Who is present, in order of arrival: a doubly linked list through the members themselves. Those
 * who leave are unlinked fully, so that the old generation of the garbage collector, where leftovers
 * of a `Set` end up, keeps no young one alive.
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

  /** Does nothing for one who is in no roster. */
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
