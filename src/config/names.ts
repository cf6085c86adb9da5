import { nearest } from '../model/nearest.ts';
import { NAME, ROWS, type Row } from './rows.ts';

/** The prefix of variables unless one says another. */
export const DEFAULT_PREFIX = 'HEADGATE';

/** A path in the words of the environment: `backoff.backoffMs` is `BACKOFF_BACKOFF_MS`. */
export function variableOf(path: string): string {
  return path
    .replaceAll('.', '_')
    .replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '_')
    .toUpperCase();
}

const UPPER_NAME = /^[A-Z0-9]+(_[A-Z0-9]+)*$/;

/** The rows that one variable stands for, and those that have a name in the middle. */
const PLAIN = new Map<string, Row>();
const NAMED: { readonly row: Row; readonly start: string; readonly end: string }[] = [];

for (const row of ROWS) {
  const [start = '', end] = variableOf(row.path).split(NAME.toUpperCase());
  if (end === undefined) PLAIN.set(start, row);
  else NAMED.push({ row, start, end });
}

/**
 * The option that a variable stands for; in its path the name of a limit is in lower case. A name may
 * have `_` in it, since no field ends as another does.
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

/** All variables without the prefix, with `<NAME>` where the name of a limit belongs. */
export const VARIABLES: readonly string[] = ROWS.map(({ path }) => variableOf(path));

/**
 * The variable that a wrong one was probably meant to be: a misspelt one, or one without its group.
 * @returns undefined if none is near
 */
export function nearestVariable(variable: string): string | undefined {
  const known = [...PLAIN.keys()];
  const names = namesIn(variable);
  const named = NAMED.flatMap(({ start, end }) => names.map((name) => start + name + end));
  return (
    nearest(variable, [...known, ...named]) ?? known.find((name) => name.endsWith(`_${variable}`))
  );
}

/** What may be meant as the name of a limit: all between the first word and the last, or last two. */
function namesIn(variable: string): string[] {
  const words = variable.toUpperCase().split('_').slice(1);
  return [words.slice(0, -1), words.slice(0, -2)]
    .map((name) => name.join('_'))
    .filter((name) => UPPER_NAME.test(name));
}
