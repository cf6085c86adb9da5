import type { Link } from './link.ts';

/**
 * Which of many queues is the longest, in O(1) amortised: queues of the same length form a ring,
 * and the rings lie in an array by length. A queue grows by one at a time, so the array does too;
 * it is as long as the longest queue.
 */
export class Lengths<Value> {
  /** The first link of each ring. */
  readonly #rings: (Link<Value> | undefined)[] = [undefined];

  /** The longest; of several, the one that has had its length for the longest time. */
  get longest(): Value | undefined {
    return this.#rings[this.#rings.length - 1]?.value;
  }

  /** A queue has changed its length. A length of 0 is not kept. */
  change(link: Link<Value>, from: number, to: number): void {
    if (from > 0) this.#remove(link, from);
    if (to > 0) this.#add(link, to);
    while (this.#rings.length > 1 && this.#rings[this.#rings.length - 1] === undefined) {
      this.#rings.pop();
    }
  }

  #add(link: Link<Value>, length: number): void {
    const first = this.#rings[length];
    if (first === undefined) this.#rings[length] = link;
    else link.join(first);
  }

  #remove(link: Link<Value>, length: number): void {
    if (link.isAlone) this.#rings[length] = undefined;
    else if (this.#rings[length] === link) this.#rings[length] = link.after;
    link.leave();
  }
}
