import {
  checkBetween,
  checkBoolean,
  checkChoice,
  checkInteger,
  checkNumber,
  checkOrInfinity,
  leastOrInfinity,
  show,
} from '../util/check.ts';

/** The bounds of a number. */
interface Bounds {
  readonly type: 'integer' | 'number';
  readonly least: number;
  readonly most?: number;
  /** Whether Infinity is allowed, which means no bound. */
  readonly orInfinity?: true;
}

/** The type of an option's values. */
export type Kind =
  | Bounds
  | { readonly type: 'word'; readonly words: readonly (string | false)[] }
  | { readonly type: 'boolean' };

/** One option: its values, and its documentation. */
export interface Option {
  readonly kind: Kind;
  /** The default value, or a word such as `off`. */
  readonly default: number | boolean | string;
  /** The unit of a number; empty for other types. */
  readonly unit: string;
  /** The effect of the option, in one line. */
  readonly what: string;
}

/** An option that is a number. */
export interface NumberOption extends Option {
  readonly kind: Bounds;
}

/** A group of options by key. */
export interface OptionGroup {
  readonly fields: Readonly<Record<string, Option>>;
  /** A value that may be given instead of the group. */
  readonly alone?: Option;
  /** The key that this value stands for, if any. */
  readonly aloneIs?: string;
  /** Required keys. */
  readonly required?: readonly string[];
  /** Whether there may be any number of such groups, by name. */
  readonly isNamed?: boolean;
}

/** Options by key. */
export type OptionTable = Readonly<Record<string, Option | OptionGroup>>;

/** @returns a function that describes a number >= `least` */
function numeric(type: Bounds['type']) {
  return (least: number, fallback: number | string, unit: string, what: string): NumberOption => ({
    kind: { type, least },
    default: fallback,
    unit,
    what,
  });
}

/** A whole number >= `least`. */
export const integer = numeric('integer');

/** A finite number >= `least`. */
export const number = numeric('number');

/** The same option with an upper bound, inclusive. */
export function upTo(most: number, option: NumberOption): NumberOption {
  return bounded(option, { most });
}

/** The same option, where `Infinity` means no bound. */
export function orInfinity(option: NumberOption): NumberOption {
  return bounded(option, { orInfinity: true });
}

function bounded(option: NumberOption, bounds: Partial<Bounds>): NumberOption {
  return { ...option, kind: { ...option.kind, ...bounds } };
}

/**
 * One of these words, or `false`. A default that is not among them describes the behaviour without
 * the option.
 */
export function word(words: readonly (string | false)[], fallback: string, what: string): Option {
  return { kind: { type: 'word', words }, default: fallback, unit: '', what };
}

/** true or false. */
export function flag(fallback: boolean, what: string): Option {
  return { kind: { type: 'boolean' }, default: fallback, unit: '', what };
}

/** The requirement for a value, in the words of the error messages. */
export function boundOf(kind: Kind): string {
  if (kind.type === 'boolean') return 'true or false';
  if (kind.type === 'word') return `one of ${kind.words.map(show).join(', ')}`;
  const { type, least, most, orInfinity } = kind;
  if (most !== undefined) {
    return `${type === 'integer' ? 'an integer' : 'a number'} from ${least} to ${most}`;
  }
  if (orInfinity === true) return leastOrInfinity(type, least);
  return `${type === 'integer' ? 'an integer' : 'a finite number'} >= ${least}`;
}

/** @throws RangeError or TypeError that names the option, its bound and the value */
export function checkValue(name: string, { kind }: Option, value: unknown): void {
  if (kind.type === 'boolean') checkBoolean(name, value);
  else if (kind.type === 'word') checkChoice(name, value, kind.words);
  else if (kind.orInfinity === true) checkOrInfinity(name, value, kind.least, kind.type);
  else {
    if (kind.type === 'integer') checkInteger(name, value, kind.least);
    else if (kind.most === undefined) checkNumber(name, value, kind.least);
    if (kind.most !== undefined) checkBetween(name, value, kind.least, kind.most);
  }
}

/**
 * Checks each option that is given or required.
 * @param within the start of each path in messages: `backoff.`
 * @throws RangeError or TypeError that names the option, its bound and the value
 */
export function checkOptions(
  options: Readonly<Record<string, Option>>,
  given: object,
  required: readonly string[] = [],
  within = '',
): void {
  const values: Readonly<Record<string, unknown>> = { ...given };
  for (const [name, option] of Object.entries(options)) {
    const value = values[name];
    if (value !== undefined || required.includes(name)) checkValue(within + name, option, value);
  }
}

/** Whether `checkValue` accepts a value. */
export function isAccepted(option: Option, value: unknown): boolean {
  try {
    checkValue('', option, value);
    return true;
  } catch {
    return false;
  }
}
