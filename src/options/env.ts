import { boundOf, isAccepted, type Kind, type Option } from '../policies/option.ts';
import { show, wrongType } from '../util/check.ts';
import { closestMatch } from '../util/closest-match.ts';
import { checkLayer } from './check-config.ts';
import { ENTRIES, isGroup, type LimiterConfig, NAME, ROWS, type Row } from './limiter-config.ts';

/** The default prefix of variables. */
export const DEFAULT_PREFIX = 'HEADGATE';

/** A path as the name of a variable: `backoff.backoffMs` is `BACKOFF_BACKOFF_MS`. */
export function variableOf(path: string): string {
  return path
    .replaceAll('.', '_')
    .replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '_')
    .toUpperCase();
}

const UPPER_NAME = /^[A-Z0-9]+(_[A-Z0-9]+)*$/;

/** The options with one variable each, and those with the name of a limit in the middle. */
const PLAIN = new Map<string, Row>();
const NAMED: { readonly row: Row; readonly start: string; readonly end: string }[] = [];

for (const row of ROWS) {
  const [start = '', end] = variableOf(row.path).split(NAME.toUpperCase());
  if (end === undefined) PLAIN.set(start, row);
  else NAMED.push({ row, start, end });
}

/**
 * The option of a variable; in its path the name of a limit is in lower case. A name may contain
 * `_`, since no field name is the end of another.
 * @param variable without the prefix
 */
function rowOf(variable: string): Row | undefined {
  const plain = PLAIN.get(variable);
  if (plain !== undefined) return plain;
  for (const { row, start, end } of NAMED) {
    if (!variable.startsWith(start) || !variable.endsWith(end)) continue;
    const name = variable.slice(start.length, -end.length);
    if (!UPPER_NAME.test(name)) continue;
    return { path: row.path.replace(NAME, name.toLowerCase()), option: row.option };
  }
  return undefined;
}

/** All variables without the prefix, with `<NAME>` for the name of a limit. */
export const VARIABLES: readonly string[] = ROWS.map(({ path }) => variableOf(path));

/**
 * The closest known variable to a wrong one: a misspelt one, or one without its group.
 * @returns undefined if none is close
 */
function nearestVariable(variable: string): string | undefined {
  const known = [...PLAIN.keys()];
  const names = namesIn(variable);
  const named = NAMED.flatMap(({ start, end }) => names.map((name) => start + name + end));
  return (
    closestMatch(variable, [...known, ...named]) ??
    known.find((name) => name.endsWith(`_${variable}`))
  );
}

/** Possible names of a limit: the part between the first word and the last one or two. */
function namesIn(variable: string): string[] {
  const words = variable.toUpperCase().split('_').slice(1);
  return [words.slice(0, -1), words.slice(0, -2)]
    .map((name) => name.join('_'))
    .filter((name) => UPPER_NAME.test(name));
}

/** Digits, optionally with a fraction: no sign, exponent, separator or hexadecimal number. */
const PLAIN_NUMBER = /^(0|[1-9]\d*)(\.\d+)?$/;

const PREFIX = /^[A-Za-z]\w*(?<!_)$/;

type Value = number | boolean | string;

interface Tree {
  [key: string]: Tree | Value;
}

/**
 * Reads the options of a limiter from environment variables. A variable is called by the path of
 * its option in upper snake case: `concurrency` is `HEADGATE_CONCURRENCY`, `backoff.backoffMs` is
 * `HEADGATE_BACKOFF_BACKOFF_MS`, `limits.input_tokens.windowMs` is
 * `HEADGATE_LIMITS_INPUT_TOKENS_WINDOW_MS` (names of limits become lower case), and
 * `HEADGATE_CIRCUIT_BREAKER=true` and `HEADGATE_ADAPTIVE=failures` turn these on with defaults;
 * `HEADGATE_ADAPTIVE=false` turns it off, even if its other variables are set.
 *
 * Numbers are plain decimals: `1000` or `0.5`, but not `1e3`, `1_000`, `0x10`, `+1` or ` 1`. An
 * empty variable counts as not set. Options that another source may complete, such as a limit
 * without its window, are checked when the limiter is created.
 *
 * @param prefix without the `_` that follows it. Default `HEADGATE`.
 * @param env default: `process.env`
 * @throws TypeError for a variable with the prefix that is no option, RangeError or TypeError for a
 * wrong value; each names the variable, the bound and the text
 * @example
 * const limiter = createLimiter(limiterOptionsFromEnv());
 */
export function limiterOptionsFromEnv(
  prefix: string = DEFAULT_PREFIX,
  env: Readonly<Record<string, string | undefined>> = process.env,
): LimiterConfig {
  checkPrefix(prefix);
  checkEnv(env);
  const start = `${prefix}_`;
  const nameOf = (path: string) => start + variableOf(path);
  const values = new Map<string, Value>();
  for (const [variable, text] of Object.entries(env)) {
    if (!variable.startsWith(start) || text === undefined || text === '') continue;
    const row = rowOf(variable.slice(start.length)) ?? refuse(variable, start);
    values.set(row.path, readValue(variable, row.option, text));
  }
  expandAlone(values, nameOf);
  const config = treeOf(values);
  checkLayer('limiterOptionsFromEnv', config, nameOf);
  return config;
}

function checkPrefix(prefix: unknown): void {
  if (typeof prefix === 'string' && PREFIX.test(prefix)) return;
  const bound = 'letters, digits and `_`, with a letter at the start and no `_` at the end';
  wrongType('prefix', bound, prefix);
}

function checkEnv(env: unknown): void {
  if (typeof env === 'object' && env !== null && !Array.isArray(env)) return;
  wrongType('env', 'an object of variables', env);
}

function refuse(variable: string, start: string): never {
  const meant = nearestVariable(variable.slice(start.length));
  const advice =
    meant === undefined
      ? `there are ${VARIABLES.map((name) => start + name).join(', ')}`
      : `did you mean \`${start}${meant}\`?`;
  throw new TypeError(`\`${variable}\` is no option; ${advice}`);
}

/** @throws RangeError for a number that is out of bounds, TypeError for any other wrong text */
function readValue(variable: string, option: Option, text: string): Value {
  const value = parse(option.kind, text);
  if (isAccepted(option, value)) return value;
  const message = `\`${variable}\` must be ${boundOf(option.kind)}, got ${show(text)}`;
  throw typeof value === 'number' ? new RangeError(message) : new TypeError(message);
}

/** The value, or the text itself if it is not a valid value of the option. */
function parse(kind: Kind, text: string): Value {
  const { type } = kind;
  if (type === 'word') return text === 'false' && kind.words.includes(false) ? false : text;
  if (type === 'integer' || type === 'number') {
    if (text === 'Infinity') return kind.orInfinity === true ? Number.POSITIVE_INFINITY : text;
    if (!PLAIN_NUMBER.test(text)) return text;
    // Too many digits become Infinity.
    return Number.isFinite(Number(text)) ? Number(text) : Number.NaN;
  }
  return text === 'true' || text === 'false' ? text === 'true' : text;
}

/**
 * A group that one variable turns on becomes an object if other variables set its options; `false`
 * stays `false`.
 */
function expandAlone(values: Map<string, Value>, nameOf: (path: string) => string): void {
  for (const [key, entry] of ENTRIES) {
    const alone = values.get(key);
    if (!isGroup(entry) || alone === undefined) continue;
    const options = [...values.keys()].filter((path) => path.startsWith(`${key}.`));
    if (options.length === 0) continue;
    if (alone === false) {
      for (const path of options) values.delete(path);
      continue;
    }
    values.delete(key);
    if (entry.aloneIs === undefined) continue;
    const path = `${key}.${entry.aloneIs}`;
    const other = values.get(path) ?? alone;
    if (other !== alone) {
      throw new TypeError(
        `\`${nameOf(key)}\` and \`${nameOf(path)}\` must be the same, got ${show(alone)} and ${show(other)}`,
      );
    }
    values.set(path, alone);
  }
}

function treeOf(values: ReadonlyMap<string, Value>): Tree {
  const tree: Tree = {};
  for (const [path, value] of values) put(tree, path.split('.'), value);
  return tree;
}

function put(tree: Tree, [key = '', ...rest]: readonly string[], value: Value): void {
  if (rest.length === 0) {
    tree[key] = value;
    return;
  }
  // Properties that every object inherits, such as `constructor`, are no branches.
  const branch = Object.hasOwn(tree, key) ? tree[key] : undefined;
  const next = typeof branch === 'object' ? branch : {};
  tree[key] = next;
  put(next, rest, value);
}
