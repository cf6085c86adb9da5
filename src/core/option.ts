import { checkBoolean, checkChoice, checkInteger, checkNumber, show } from '../model/check.ts';
import { checkBetween } from './check-between.ts';

/** What values an option takes. `true`: that one value. */
export type Kind =
  | {
      readonly type: 'integer' | 'number';
      readonly least: number;
      readonly most?: number;
      /** Whether Infinity is a value, too: it says that there is no bound. */
      readonly orInfinity?: true;
    }
  | { readonly type: 'word'; readonly words: readonly (string | false)[] }
  | { readonly type: 'boolean' }
  | { readonly type: 'true' };

/** One option: what it takes, and what is told of it. */
export interface Option {
  readonly kind: Kind;
  /** A value, or in words what holds without one: `off`. */
  readonly default: number | boolean | string;
  /** What a number counts; empty where it is no number. */
  readonly unit: string;
  /** What it does, in one line. */
  readonly what: string;
}

/** Options that belong together, each by its key. */
export interface OptionGroup {
  readonly fields: Readonly<Record<string, Option>>;
  /** What may be given in place of them. */
  readonly alone?: Option;
  /** The key that this stands for, if it does for one. */
  readonly aloneIs?: string;
  /** Keys that cannot be left out. */
  readonly required?: readonly string[];
  /** Whether there are any number of such groups, each by a name. */
  readonly isNamed?: boolean;
}

/** Options by their keys. */
export type OptionTable = Readonly<Record<string, Option | OptionGroup>>;

/** A whole number >= `least`. */
export function integer(
  least: number,
  fallback: number | string,
  unit: string,
  what: string,
): Option {
  return { kind: { type: 'integer', least }, default: fallback, unit, what };
}

/** A finite number >= `least`. */
export function number(
  least: number,
  fallback: number | string,
  unit: string,
  what: string,
): Option {
  return { kind: { type: 'number', least }, default: fallback, unit, what };
}

/** The same option with an upper bound, which is allowed itself. */
export function upTo(most: number, option: Option): Option {
  const { kind } = option;
  return 'least' in kind ? { ...option, kind: { ...kind, most } } : option;
}

/** The same option for a bound that `Infinity` takes away. */
export function orInfinity(option: Option): Option {
  const { kind } = option;
  return 'least' in kind ? { ...option, kind: { ...kind, orInfinity: true } } : option;
}

/** One of a few words, or `false`; another word as the default says what holds without one. */
export function word(words: readonly (string | false)[], fallback: string, what: string): Option {
  return { kind: { type: 'word', words }, default: fallback, unit: '', what };
}

/** true or false. */
export function flag(fallback: boolean, what: string): Option {
  return { kind: { type: 'boolean' }, default: fallback, unit: '', what };
}

/** `true`, or left out. */
export function turnOn(what: string): Option {
  return { kind: { type: 'true' }, default: 'off', unit: '', what };
}

/** What a value must be, in the words of the checks. */
export function boundOf(kind: Kind): string {
  if (kind.type === 'boolean') return 'true or false';
  if (kind.type === 'true') return 'true';
  if (kind.type === 'word') return `one of ${kind.words.map(show).join(', ')}`;
  const { type, least, most, orInfinity } = kind;
  if (most !== undefined) {
    return `${type === 'integer' ? 'an integer' : 'a number'} from ${least} to ${most}`;
  }
  const bound = `${type === 'integer' ? 'an integer' : 'a finite number'} >= ${least}`;
  return orInfinity === undefined ? bound : `${bound}, or Infinity`;
}

/** @throws RangeError or TypeError that names the option, its bound and the value */
export function checkValue(name: string, { kind }: Option, value: unknown): void {
  if (kind.type === 'boolean') checkBoolean(name, value);
  else if (kind.type === 'true') checkTrue(name, value);
  else if (kind.type === 'word') checkChoice(name, value, kind.words);
  else if (kind.orInfinity === undefined || value !== Number.POSITIVE_INFINITY) {
    if (kind.type === 'integer') checkInteger(name, value, kind.least);
    else if (kind.most === undefined) checkNumber(name, value, kind.least);
    if (kind.most !== undefined) checkBetween(name, value, kind.least, kind.most);
  }
}

/** Whether `checkValue` lets a value pass. */
export function isAccepted(option: Option, value: unknown): boolean {
  try {
    checkValue('', option, value);
    return true;
  } catch {
    return false;
  }
}

function checkTrue(name: string, value: unknown): void {
  if (value !== true) throw new TypeError(`\`${name}\` must be true, got ${show(value)}`);
}
