/** Checks of options. Each error names the option, the bound and the value it got. */

import { closestMatch } from './closest-match.ts';

/** Prints a wrong value for an error message: `NaN`, `"12"`, `undefined`, `{}`. */
export function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'object' && value !== null) {
    return isArray(value) ? `an array of ${value.length}` : 'an object';
  }
  if (typeof value === 'function') return 'a function';
  return String(value);
}

/** As `Array.isArray`, which throws for a revoked Proxy. */
function isArray(value: object): value is readonly unknown[] {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}

function wrong(name: string, bound: string, value: unknown): never {
  const message = `\`${name}\` must be ${bound}, got ${show(value)}`;
  throw typeof value === 'number' ? new RangeError(message) : new TypeError(message);
}

function wrongType(name: string, bound: string, value: unknown): never {
  throw new TypeError(`\`${name}\` must be ${bound}, got ${show(value)}`);
}

/** A whole number of at least `least`. */
export function checkInteger(name: string, value: unknown, least: number): number {
  if (!Number.isSafeInteger(value) || (value as number) < least) {
    wrong(name, `an integer >= ${least}`, value);
  }
  return value as number;
}

/** A finite number of at least `least`. */
export function checkNumber(name: string, value: unknown, least: number): number {
  if (!Number.isFinite(value) || (value as number) < least) {
    wrong(name, `a finite number >= ${least}`, value);
  }
  return value as number;
}

/** A size: a finite number >= 0, rounded up, so that sums of sizes stay exact. */
export function checkAmount(name: string, value: unknown): number {
  return Number.isInteger(value) && (value as number) >= 0
    ? (value as number)
    : Math.ceil(checkNumber(name, value, 0));
}

/** A function. */
export function checkFunction(name: string, value: unknown): void {
  if (typeof value !== 'function') wrongType(name, 'a function', value);
}

/** true or false. */
export function checkBoolean(name: string, value: unknown): void {
  if (typeof value !== 'boolean') wrongType(name, 'true or false', value);
}

/** One of a few words. */
export function checkChoice<C extends string | boolean>(
  name: string,
  value: unknown,
  choices: readonly C[],
): C {
  const found = choices.find((choice) => choice === value);
  return found ?? wrongType(name, `one of ${choices.map(show).join(', ')}`, value);
}

/**
 * Checks that an options object has known keys only, so that a misspelt option is an error. The
 * error names the known key that was probably meant.
 */
export function checkKeys(name: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new TypeError(`the options of ${name} must be an object, got ${show(options)}`);
  }
  for (const key of Object.keys(options)) {
    if (known.includes(key)) continue;
    const meant = closestMatch(key, known);
    const advice = meant === undefined ? 'it takes' : `did you mean \`${meant}\`? It takes`;
    throw new TypeError(`\`${key}\` is no option of ${name}; ${advice} ${known.join(', ')}`);
  }
}

/** An object that has some methods. */
export function checkMethods(name: string, value: unknown, methods: readonly string[]): void {
  if (typeof value !== 'object' || value === null) wrongType(name, 'an object', value);
  for (const method of methods) {
    checkFunction(`${name}.${method}`, (value as Record<string, unknown>)[method]);
  }
}

/** A number from `least` to `most`, both included. */
export function checkBetween(name: string, value: unknown, least: number, most: number): number {
  if (typeof value === 'number' && (!(value >= least) || value > most)) {
    throw new RangeError(`\`${name}\` must be a number from ${least} to ${most}, got ${value}`);
  }
  return checkNumber(name, value, least);
}
