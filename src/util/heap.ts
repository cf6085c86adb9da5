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
