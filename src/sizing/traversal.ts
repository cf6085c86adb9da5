/** Guards and loops for reading values of unknown types. */

/** Whether a value is an object, which includes arrays, but not functions. */
export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** A guard without the `any` that `Array.isArray` brings. */
export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

/** The limits of measuring. A value beyond them has no JSON form, so its size is 0. */

/** The length of the longest string in V8. */
const LONGEST_STRING = 2 ** 29 - 24;

/** A JSON text of more UTF-8 bytes would exceed the longest string. */
export const MAX_JSON_BYTES = 3 * LONGEST_STRING;

/** A JSON array of more items would also exceed it: each item takes a character and a comma. */
export const MAX_JSON_ITEMS = LONGEST_STRING / 2;

/**
 * Levels of nesting. Far deeper than `JSON.stringify` reaches on a default stack (some thousands),
 * so it stops only values that generate themselves: a proxy, or a `toJSON` that returns new objects
 * for ever.
 */
const MAX_DEPTH = 200_000;

/**
 * The containers from the root of a value down to the present one. It distinguishes a cycle from a
 * value that merely occurs twice, and stops values without an end.
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

/**
 * Sums `measure` over the items of a list; an item that is a list counts as the sum of its items.
 * A loop, so that depth overflows no stack.
 *
 * @throws TypeError when a list holds itself, RangeError when lists have no end or no finite sum
 */
export function sumItems(list: readonly unknown[], measure: (item: unknown) => number): number {
  let sum = 0;
  let frame = frameOf(list, sum);
  let path: Path | undefined;
  const outer: Frame[] = [];
  for (;;) {
    if (frame.index >= frame.items.length) {
      const parent = outer.pop();
      if (parent === undefined) return sum;
      path?.leave(sum - frame.before);
      frame = parent;
      continue;
    }
    const item = frame.items[frame.index++];
    if (!isList(item)) {
      sum += measure(item);
      continue;
    }
    if (sum > Number.MAX_SAFE_INTEGER) throw new RangeError('the sum of a list is not finite');
    if (path === undefined) {
      path = new Path();
      path.enter(list, list.length);
    }
    const known = path.sizeOf(item);
    if (known !== undefined) {
      sum += known;
      continue;
    }
    path.enter(item, item.length);
    outer.push(frame);
    frame = frameOf(item, sum);
  }
}

/** A list that is being summed: the item at `index` comes next. */
interface Frame {
  readonly items: readonly unknown[];
  /** The sum of all that came before the list. */
  readonly before: number;
  index: number;
}

function frameOf(items: readonly unknown[], before: number): Frame {
  if (items.length > MAX_JSON_ITEMS) throw new RangeError('no string can hold so long a list');
  return { items, before, index: 0 };
}
