import { DEFAULT_PREFIX, variableOf } from '../../src/options/env.ts';
import { ROWS } from '../../src/options/limiter-config.ts';
import type { Kind, Option } from '../../src/policies/option.ts';
import { show } from '../../src/util/check.ts';
import { code, tableOf } from './markdown.ts';

/** The documentation of one option; every field is Markdown. */
export interface OptionRow {
  /** Its path, the same in code and in JSON: `backoff.backoffMs`. */
  readonly option: string;
  /** Its environment variable: `HEADGATE_BACKOFF_BACKOFF_MS`. */
  readonly env: string;
  /** The default value, or a word such as `off`. */
  readonly default: string;
  /** The unit of a number, or the possible values. */
  readonly unit: string;
  readonly what: string;
}

/** Formats numbers for readers: 1000, 60,000. */
const FORMAT = new Intl.NumberFormat('en-US', { useGrouping: 'min2' });

/** All plain-data options of a limiter, in the order of the documentation. */
export function optionRows(prefix: string = DEFAULT_PREFIX): readonly OptionRow[] {
  return ROWS.map(({ path, option }) => ({
    option: code(path),
    env: code(`${prefix}_${variableOf(path)}`),
    default: defaultOf(option),
    unit: unitOf(option),
    what: option.what,
  }));
}

/** Prints rows as a table in Markdown, without a line break at the end. */
export function optionTable(prefix: string = DEFAULT_PREFIX): string {
  return tableOf(
    ['option', 'default', 'unit or values', 'what it does', 'environment'],
    optionRows(prefix).map(({ option, env, default: fallback, unit, what }) => [
      option,
      fallback,
      unit,
      what,
      env,
    ]),
  );
}

function defaultOf({ kind, default: value }: Option): string {
  if (typeof value === 'number') return FORMAT.format(value);
  const isValue = typeof value === 'boolean' || wordsOf(kind).includes(show(value));
  return isValue ? code(show(value)) : value;
}

function unitOf({ kind, unit }: Option): string {
  return unit === '' ? wordsOf(kind).map(code).join(', ') : unit;
}

/** The values in JSON notation; none for numbers. */
function wordsOf(kind: Kind): readonly string[] {
  if (kind.type === 'boolean') return ['true', 'false'];
  return kind.type === 'word' ? kind.words.map(show) : [];
}
