import fc from 'fast-check';
import {
  type LimiterConfig,
  type LimiterLayer,
  NAME,
  ROWS,
  type Row,
} from '../../src/options/limiter-config.ts';
import { type Strategy, strategyOf } from '../../src/policies/adaptive.ts';
import type { Kind } from '../../src/policies/option.ts';

/** The rows, the limits by a name. */
export const NAMED_ROWS: readonly Row[] = ROWS.map(({ path, option }) => ({
  path: path.replace(NAME, 'input_tokens'),
  option,
}));

export type Tree = { [key: string]: unknown };

/** An object with one value, at a path. */
export function treeOf(path: string, value: unknown): Tree {
  return path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as Tree;
}

/** The values of a tree by their paths. */
export function leavesOf(tree: object, start = ''): Map<string, unknown> {
  return new Map(
    Object.entries(tree).flatMap(([key, value]): [string, unknown][] =>
      typeof value === 'object' && value !== null
        ? [...leavesOf(value, `${start}${key}.`)]
        : [[start + key, value]],
    ),
  );
}

/** A tree of values by their paths. */
export function unflatten(leaves: Iterable<readonly [string, unknown]>): Tree {
  const tree: Tree = {};
  for (const [path, value] of leaves) {
    const keys = path.split('.');
    const last = keys.pop() ?? '';
    let node = tree;
    for (const key of keys) {
      node[key] ??= {};
      node = node[key] as Tree;
    }
    node[last] = value;
  }
  return tree;
}

/** Whatever else has to be there, so that one option alone decides whether all are right. */
function surroundings(path: string): Map<string, unknown> {
  const [group, key = ''] = path.split('.');
  if (group === 'limits') {
    return new Map<string, unknown>([
      ['limits.input_tokens.limit', 100],
      ['limits.input_tokens.windowMs', 60_000],
      ['limits.input_tokens.algorithm', 'token-bucket'],
    ]);
  }
  if (group === 'circuitBreaker' && key !== '') {
    return new Map<string, unknown>([['circuitBreaker.failureRatio', 0.5]]);
  }
  if (group === 'costBudget') {
    return new Map<string, unknown>([
      ['costBudget.maxCost', 5],
      ['costBudget.windowMs', 7],
    ]);
  }
  if (group === 'adaptive' && key !== '') {
    return new Map<string, unknown>([
      ['concurrency', Number.MAX_SAFE_INTEGER],
      ['adaptive.strategy', strategyOf(key) ?? 'failures'],
    ]);
  }
  return new Map(path === 'pace.maxIntervalMs' ? [['pace.intervalMs', 0]] : []);
}

/** A complete configuration with a value at a path. */
export function configWith(path: string, value: unknown): Tree {
  return unflatten(surroundings(path).set(path, value));
}

/** Right values of an option, such that their text is a plain decimal. */
export function valuesOf(kind: Kind): fc.Arbitrary<number | boolean | string> {
  if (kind.type === 'word') return fc.constantFrom(...kind.words);
  if (kind.type === 'boolean') return fc.boolean();
  const { least, most = 1e9 } = kind;
  if (kind.type === 'integer') return fc.integer({ min: least, max: most });
  return fc
    .integer({ min: least * 1000, max: most * 1000 })
    .map((thousandths) => thousandths / 1000);
}

/** The same, and what is no number that a file could hold. */
export function allValuesOf(kind: Kind): fc.Arbitrary<number | boolean | string> {
  const isOpen = 'orInfinity' in kind;
  return isOpen ? fc.oneof(valuesOf(kind), fc.constant(Number.POSITIVE_INFINITY)) : valuesOf(kind);
}

/** Values that an option must not take. */
export function wrongValuesOf(kind: Kind): readonly unknown[] {
  const nonsense = [null, [], [1], {}, { a: 1 }, () => 1, 1n, '', '1', ' ', Symbol('s')];
  if (kind.type === 'word') {
    return [...nonsense, 0, 1, true, ...kind.words.map((known) => String(known).toUpperCase())];
  }
  if (kind.type === 'boolean') return [...nonsense, 0, 1, 'true'];
  const { least, most, orInfinity = false } = kind;
  const outside = most === undefined ? [] : [most + 1, most + 1e-9];
  const fractions = kind.type === 'integer' ? [least + 0.5, 2 ** 53] : [];
  const { NaN: none, POSITIVE_INFINITY: most_, NEGATIVE_INFINITY: least_ } = Number;
  const numbers = [least - 1, least - 1e-9, -1, none, least_, ...(orInfinity ? [] : [most_])];
  return [...nonsense, true, false, ...numbers, ...outside, ...fractions];
}

/** Texts that an option must not take from the environment. */
export function wrongTextsOf(kind: Kind): readonly string[] {
  const nonsense = [' ', 'x', 'null', 'undefined', 'NaN', '[]', '{}', 'TRUE', 'yes'];
  if (kind.type === 'word') return [...nonsense, '1', ...kind.words.map((word) => ` ${word}`)];
  if (kind.type === 'boolean') return [...nonsense, '1', '0', 'true '];
  const { least, most, orInfinity = false } = kind;
  const outside = [`${least - 1}`, most === undefined ? '-0.5' : `${most + 1}`];
  const fractions = kind.type === 'integer' ? [`${least}.5`, '9007199254740993'] : [];
  const notation = ['1e3', '1_000', '1,000', '0x10', '0b1', '1n', '+1', ' 1', '1 ', '1\n', '01'];
  const more = ['1.', '.5', '--1', '-0', '-Infinity', '9'.repeat(400), 'true', '١', 'infinity'];
  const infinite = orInfinity ? [] : ['Infinity'];
  return [...nonsense, ...outside, ...fractions, ...notation, ...more, ...infinite];
}

/** Configurations with any of the options, none of which excludes another. */
export function configs(strategy: Strategy): fc.Arbitrary<LimiterConfig> {
  const names = ['requests', 'input_tokens', 'a1_b'];
  const isAlone = (path: string) => path === 'circuitBreaker' || path === 'adaptive';
  const rows = ROWS.filter(({ path }) => {
    if (isAlone(path) || path.endsWith('PerMinute')) return false;
    const [group, key = ''] = path.split('.');
    return group !== 'adaptive' || (strategyOf(key) ?? strategy) === strategy;
  }).flatMap(({ path, option }) =>
    (path.includes(NAME) ? names : ['']).map((name) => ({
      path: path.replace(NAME, name),
      option,
    })),
  );
  const leaves = fc.record(
    Object.fromEntries(rows.map(({ path, option }) => [path, valuesOf(option.kind)])),
    { requiredKeys: [] },
  );
  return leaves.map((given) => repair(given, strategy));
}

/** Whatever these options need is added; they are left as they are where they can be. */
function repair(given: Readonly<Record<string, unknown>>, strategy: Strategy): LimiterConfig {
  const leaves = new Map(Object.entries(given));
  for (const path of Object.keys(given)) {
    const [group, name] = path.split('.');
    if (group === 'limits') {
      const limit = `limits.${name}`;
      leaves.set(`${limit}.limit`, leaves.get(`${limit}.limit`) ?? 5);
      leaves.set(`${limit}.windowMs`, leaves.get(`${limit}.windowMs`) ?? 7);
      if (leaves.has(`${limit}.burst`)) leaves.set(`${limit}.algorithm`, 'token-bucket');
    }
    if (group === 'costBudget') {
      leaves.set('costBudget.maxCost', leaves.get('costBudget.maxCost') ?? 5);
      leaves.set('costBudget.windowMs', leaves.get('costBudget.windowMs') ?? 7);
    }
    if (group === 'adaptive') {
      leaves.set('adaptive.strategy', strategy);
      leaves.set('concurrency', 2e9);
      leaves.delete('adaptive.minLimit');
    }
    if (path === 'circuitBreaker.windowMs' || path === 'circuitBreaker.leastRequests') {
      const ratio = 'circuitBreaker.failureRatio';
      leaves.set(ratio, leaves.get(ratio) ?? 0.5);
    }
    if (path === 'pace.maxIntervalMs') leaves.set('pace.intervalMs', 0);
  }
  return unflatten(leaves) as LimiterConfig;
}

/** The error of a check that must throw. */
export function errorOf(check: () => unknown): Error {
  try {
    check();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('it passed');
}

/** Makes sure that nobody writes into a tree. */
export function frozen<T extends LimiterLayer>(tree: T): T {
  for (const value of Object.values(tree)) if (typeof value === 'object') frozen(value);
  return Object.freeze(tree);
}
