import { isList } from './guards.ts';
import { MAX_JSON_ITEMS } from './limits.ts';
import { Path } from './path.ts';

/**
 * Sums `measure` over the items of a list; an item that is a list counts as the sum of its own.
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
