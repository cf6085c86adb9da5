import { MAX_DEPTH } from './limits.ts';

/**
 * The containers from the root of a value down to the present one. It tells a cycle from a value
 * that merely occurs twice, and stops values without an end.
 *
 * In a long walk it also remembers sizes: a few containers that refer to each other many times are
 * one value of exponential size.
 */
export class Path {
  private readonly containers: object[] = [];
  private lookup: Set<object> | undefined;
  private members = 0;
  private sizes: Map<object, number> | undefined;

  /**
   * @param length how many members the container has
   * @throws TypeError when the container holds itself, RangeError when it lies too deep
   */
  enter(container: object, length: number): void {
    const { containers, lookup } = this;
    if (lookup === undefined ? containers.includes(container) : lookup.has(container)) {
      throw new TypeError('a cyclic value has no size');
    }
    if (containers.push(container) > MAX_DEPTH) {
      throw new RangeError(`a value nested more than ${MAX_DEPTH} deep has no size`);
    }
    if (lookup !== undefined) lookup.add(container);
    else if (containers.length > SCANNED) this.lookup = new Set(containers);
    this.members += length;
    if (this.members > LONG) this.sizes ??= new Map();
  }

  /** Leaves the container that was entered last, whose size is now known. */
  leave(size: number): void {
    const container = this.containers.pop();
    if (container === undefined) return;
    this.lookup?.delete(container);
    this.sizes?.set(container, size);
  }

  /** The size of a container that was left before, if it is remembered. */
  sizeOf(container: object): number | undefined {
    return this.sizes?.get(container);
  }
}

/** Up to this depth a scan is faster than a Set, so nearly no value needs one. */
const SCANNED = 32;

/** Sizes are remembered after this many members. Fewer are walked again in a few milliseconds. */
const LONG = 50_000;
