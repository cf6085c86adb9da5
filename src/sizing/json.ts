import { jsonStringBytes } from './json-string.ts';
import { types } from './native-types.ts';
import { MAX_JSON_BYTES, MAX_JSON_ITEMS, Path } from './traversal.ts';

/**
 * The exact UTF-8 bytes of `JSON.stringify(value)`, without making that string.
 *
 * A value without JSON form counts 0: undefined, functions, symbols, and values for which
 * `JSON.stringify` throws (cycles, BigInts without `toJSON`, a throwing `toJSON` or getter) or
 * hangs (values without an end). Never throws, and does not overflow the stack at any depth: a loop
 * walks the value, so that it also measures values nested too deep for `JSON.stringify`.
 */
export function jsonBytes(value: unknown): number {
  try {
    const root = resolve(value, '');
    if (isContainer(root)) return walk(root);
    return Math.max(0, leafBytes(root));
  } catch {
    return 0;
  }
}

type Container = Readonly<Record<string | number, unknown>>;

function walk(root: Container): number {
  let bytes = 0;
  let frame = frameOf(root, bytes);
  let path: Path | undefined;
  const outer: Frame[] = [];
  for (;;) {
    if (frame.index === frame.length) {
      bytes += BRACKETS;
      const parent = outer.pop();
      if (parent === undefined) return bytes;
      path?.leave(bytes - frame.before);
      frame = parent;
      continue;
    }
    const { container, keys } = frame;
    const key = keys === undefined ? frame.index : (keys[frame.index] ?? '');
    frame.index++;
    const member = resolve(container[key], key);
    let leaf = isContainer(member) ? 0 : leafBytes(member);
    if (leaf === ABSENT) {
      if (keys !== undefined) continue;
      leaf = NULL_BYTES;
    }
    if (frame.started) bytes++;
    frame.started = true;
    if (typeof key === 'string') bytes += jsonStringBytes(key) + 1;
    bytes += leaf;
    if (!isContainer(member)) continue;
    if (bytes > MAX_JSON_BYTES) throw new RangeError('no string can hold this JSON');
    if (path === undefined) {
      path = new Path();
      path.enter(root, frame.length);
    }
    const known = path.sizeOf(member);
    if (known !== undefined) {
      bytes += known;
      continue;
    }
    outer.push(frame);
    frame = frameOf(member, bytes);
    path.enter(member, frame.length);
  }
}

/** A container that is being measured; the member at `index` comes next. */
interface Frame {
  readonly container: Container;
  /** The keys of an object; undefined for an array. */
  readonly keys: readonly string[] | undefined;
  readonly length: number;
  /** The bytes of everything before the container. */
  readonly before: number;
  index: number;
  /** Whether a member was written, so that the next one needs a comma. */
  started: boolean;
}

function frameOf(container: Container, before: number): Frame {
  const keys = Array.isArray(container) ? undefined : Object.keys(container);
  const length = Array.isArray(container) ? container.length : (keys?.length ?? 0);
  if (length > MAX_JSON_ITEMS) throw new RangeError('no string can hold this JSON');
  return { container, keys, length, before, index: 0, started: false };
}

/** `{}` or `[]`. */
const BRACKETS = 2;

/** Marks a value that JSON leaves out of objects and writes as `null` in arrays. */
const ABSENT = -1;

const NULL_BYTES = 4;

/** @throws TypeError for a BigInt, as `JSON.stringify` does */
function leafBytes(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return jsonStringBytes(value);
    case 'number':
      return numberBytes(value);
    case 'boolean':
      return value ? 4 : 5;
    case 'object':
      return NULL_BYTES;
    case 'bigint':
      throw new TypeError('a BigInt has no JSON');
    default:
      return ABSENT;
  }
}

function numberBytes(value: number): number {
  if (Number.isSafeInteger(value)) return integerBytes(value);
  return Number.isFinite(value) ? String(value).length : NULL_BYTES;
}

/** Counts digits, which is faster than writing the number: most numbers are token identifiers. */
function integerBytes(value: number): number {
  let bytes = value < 0 ? 2 : 1;
  for (let bound = 10; bound <= Math.abs(value); bound *= 10) bytes += 1;
  return bytes;
}

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null;
}

/**
 * The value that JSON writes instead: the result of `toJSON`, or the primitive in a wrapper object.
 */
function resolve(value: unknown, key: string | number): unknown {
  if (!mayConvert(value)) return value;
  const { toJSON } = value;
  const result: unknown = typeof toJSON === 'function' ? toJSON.call(value, String(key)) : value;
  return isContainer(result) && !isPlain(result) ? unbox(result) : result;
}

function mayConvert(value: unknown): value is { readonly toJSON?: unknown } {
  return isContainer(value) || typeof value === 'function' || typeof value === 'bigint';
}

/**
 * Whether an object is an array or an object literal, which need no `unbox`. This check is faster.
 */
function isPlain(value: object): boolean {
  return Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
}

function unbox(value: object): unknown {
  if (types.isNumberObject(value)) return Number(value);
  if (types.isStringObject(value)) return String(value);
  if (types.isBooleanObject(value)) return Boolean.prototype.valueOf.call(value);
  return types.isBigIntObject(value) ? BigInt.prototype.valueOf.call(value) : value;
}
