import { closestMatch } from './closest-match.ts';

/** Checks of options. Each error names the option, the bound and the value it got. */

/** Prints a wrong value for an error message: `NaN`, `"12"`, `undefined`, `{}`. */
export function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'object' && value !== null) return showObject(value);
  if (typeof value === 'function') return 'a function';
  return String(value);
}

function showObject(value: object): string {
  try {
    if (value instanceof Promise) return 'a promise';
    return Array.isArray(value) ? `an array of ${value.length}` : 'an object';
  } catch {
    // A revoked Proxy.
    return 'an object';
  }
}

/** @throws TypeError that names an option, its bound and the value */
export function wrongType(name: string, bound: string, value: unknown): never {
  throw new TypeError(wrongText(name, bound, value));
}

/** @throws RangeError for a number, else TypeError: names an option, its bound and the value */
export function wrongValue(name: string, bound: string, value: unknown): never {
  const ErrorType = typeof value === 'number' ? RangeError : TypeError;
  throw new ErrorType(wrongText(name, bound, value));
}

function wrongText(name: string, bound: string, value: unknown): string {
  return `\`${name}\` must be ${bound}, got ${show(value)}`;
}

/** A whole number of at least `least`. */
export function checkInteger(name: string, value: unknown, least: number): number {
  if (!Number.isSafeInteger(value) || (value as number) < least) {
    const bound = least === Number.MIN_SAFE_INTEGER ? '' : ` >= ${least}`;
    wrongValue(name, `an integer${bound}`, value);
  }
  return value as number;
}

/** A finite number of at least `least`. */
export function checkNumber(name: string, value: unknown, least: number): number {
  if (!Number.isFinite(value) || (value as number) < least) {
    wrongValue(name, `a finite number >= ${least}`, value);
  }
  return value as number;
}

/** The requirement for a number of at least `least`, or Infinity. */
export function leastOrInfinity(type: 'integer' | 'number', least: number): string {
  return `${type === 'integer' ? 'an integer' : 'a number'} >= ${least} or Infinity`;
}

/** A whole or any finite number of at least `least`, or Infinity. */
export function checkOrInfinity(
  name: string,
  value: unknown,
  least: number,
  type: 'integer' | 'number' = 'number',
): void {
  if (value === Number.POSITIVE_INFINITY) return;
  const isNumber = type === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value);
  if (!isNumber || (value as number) < least) wrongValue(name, leastOrInfinity(type, least), value);
}

/** A size: a number from 0 to 2 ** 53, rounded up, so that sums of sizes stay exact. */
export function checkAmount(name: string, value: unknown): number {
  const amount = Math.ceil(checkNumber(name, value, 0));
  return amount <= 2 ** 53 ? amount : wrongValue(name, `a number from 0 to ${2 ** 53}`, value);
}

/** A function. */
export function checkFunction(name: string, value: unknown): void {
  if (typeof value !== 'function') wrongType(name, 'a function', value);
}

/** Options that are functions, if they are given. */
export function checkFunctions<K extends string>(
  options: { readonly [name in K]?: unknown },
  names: readonly K[],
): void {
  for (const name of names) if (options[name] !== undefined) checkFunction(name, options[name]);
}

/**
 * Checks that a method is called on its object, which `const { run } = limiter` takes from it.
 * @param method with the name of such an object: `limiter.run`
 */
export function checkOwner(
  owner: unknown,
  type: new (...parameters: never[]) => object,
  method: string,
): void {
  if (owner instanceof type) return;
  const [object, name] = method.split('.');
  throw new TypeError(
    `\`${method}\` was called without its ${object}, as after \`const { ${name} } = ${object}\`: call it as \`${method}(…)\``,
  );
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

/** For options that are read before their keys are checked. */
export function checkObject(name: string, options: unknown): asserts options is object {
  if (typeof options === 'object' && options !== null && !Array.isArray(options)) return;
  throw new TypeError(`the options of ${name} must be an object, got ${show(options)}`);
}

/**
 * Checks that an options object has known keys only, so that a misspelt option is an error. The
 * error names the known key that was probably meant.
 */
export function checkKeys(
  name: string,
  options: unknown,
  known: readonly string[],
): asserts options is object {
  checkObject(name, options);
  if ('then' in options) {
    throw new TypeError(`the options of ${name} must be an object, got a promise: await it first`);
  }
  checkFields(name, options, known, 'option');
}

/** The same for an object whose keys are not options, such as the result of a function. */
export function checkFields(
  name: string,
  value: object,
  known: readonly string[],
  what = 'field',
): void {
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue;
    const meant = closestMatch(key, known);
    const advice = meant === undefined ? 'it takes' : `did you mean \`${meant}\`? It takes`;
    throw new TypeError(`\`${key}\` is no ${what} of ${name}; ${advice} ${known.join(', ')}`);
  }
}

/** A name that a user gives to one of several things, such as a limit. */
export function checkName(owner: string, name: string): void {
  if (name === '') wrongName(owner, name, 'a name is not empty');
}

/** The names and values of an object of named limits, of which there must be one at least. */
export function checkNamed(path: string, limits: unknown): [name: string, value: unknown][] {
  if (typeof limits !== 'object' || limits === null || Array.isArray(limits)) {
    wrongType(path, 'an object of named limits', limits);
  }
  const entries = Object.entries(limits);
  if (entries.length === 0) throw new TypeError(`\`${path}\` must name at least 1 limit, got none`);
  for (const [name] of entries) checkName(path, name);
  return entries;
}

export function wrongName(owner: string, name: string, why: string): never {
  throw new TypeError(`\`${owner}\` cannot have the name ${show(name)}: ${why}`);
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
    wrongValue(name, `a number from ${least} to ${most}`, value);
  }
  return checkNumber(name, value, least);
}
