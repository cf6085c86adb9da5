import { closestMatch } from '../util/closest-match.ts';
import { NAME, ROWS, type Row } from './option-metadata.ts';

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
export function rowOf(variable: string): Row | undefined {
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
export function nearestVariable(variable: string): string | undefined {
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
