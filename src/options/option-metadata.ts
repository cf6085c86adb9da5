import type { Option, OptionGroup } from '../policies/option.ts';
import { TABLE } from './table.ts';

/** The placeholder for the name of a limit in a path. */
export const NAME = '<name>';

/** An option and its path: `concurrency`, `backoff.backoffMs`, `limits.<name>.limit`. */
export interface Row {
  readonly path: string;
  readonly option: Option;
}

/** The table by its keys. */
export const ENTRIES: readonly (readonly [key: string, entry: Option | OptionGroup])[] =
  Object.entries(TABLE);

/** The keys of a limiter's plain options. */
export const KEYS: readonly string[] = Object.keys(TABLE);

/** Every option. */
export const ROWS: readonly Row[] = ENTRIES.flatMap(([key, entry]) =>
  isGroup(entry) ? rowsOf(key, entry) : [{ path: key, option: entry }],
);

export function isGroup(entry: Option | OptionGroup): entry is OptionGroup {
  return 'fields' in entry;
}

function rowsOf(key: string, { fields, alone, isNamed }: OptionGroup): Row[] {
  const start = isNamed ? `${key}.${NAME}` : key;
  const rows = Object.entries(fields).map(([field, option]) => ({
    path: `${start}.${field}`,
    option,
  }));
  return alone === undefined ? rows : [{ path: key, option: alone }, ...rows];
}
