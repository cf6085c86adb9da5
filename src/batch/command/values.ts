import { BatchError } from '../errors.ts';

const DAY_MS = 86_400_000;

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: DAY_MS,
};

/** The values of options as the user has given them. */
export type GivenOptions = Readonly<Record<string, unknown>>;

/** Reads options by their names, without the dashes. @throws BatchError that names the option */
export class OptionValues {
  readonly #given: GivenOptions;

  /** @param given by name in camel case, as the parser has them */
  constructor(given: GivenOptions) {
    this.#given = given;
  }

  isGiven(name: string): boolean {
    return this.#given[camelCase(name)] !== undefined;
  }

  text(name: string): string | undefined {
    const text = this.#textOf(name);
    if (text === '') throw new BatchError(`--${name} must not be empty`);
    return text;
  }

  texts(name: string): readonly string[] {
    const value = this.#given[camelCase(name)];
    return Array.isArray(value) ? value.map(String) : [];
  }

  flag(name: string): boolean {
    return this.#given[camelCase(name)] === true;
  }

  integer(name: string): number | undefined {
    const text = this.#textOf(name);
    if (text === undefined) return undefined;
    const value = Number(text);
    if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < 1) {
      throw wrong(name, 'a whole number >= 1', text);
    }
    return value;
  }

  amount(name: string): number | undefined {
    const text = this.#textOf(name);
    if (text === undefined) return undefined;
    const value = Number(text);
    if (!/^[\d.]+$/.test(text) || !Number.isFinite(value)) {
      throw wrong(name, 'a number >= 0', text);
    }
    return value;
  }

  /** A time with its unit, in ms; a number alone is seconds. */
  time(name: string, maxDays = Number.POSITIVE_INFINITY): number | undefined {
    const text = this.#textOf(name);
    if (text === undefined) return undefined;
    const [, digits, unit = 's'] = text.match(/^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/) ?? [];
    const unitMs = UNIT_MS[unit];
    if (digits === undefined || unitMs === undefined || Number(digits) === 0) {
      throw wrong(name, 'a time such as 90s, 10m or 2h', text);
    }
    const ms = Number(digits) * unitMs;
    if (ms > maxDays * DAY_MS) throw wrong(name, `at most ${maxDays}d`, text);
    return ms;
  }

  choice<C extends string>(name: string, choices: readonly C[]): C | undefined {
    const text = this.#textOf(name);
    if (text === undefined) return undefined;
    const found = choices.find((choice) => choice === text);
    if (found === undefined) throw wrong(name, `one of ${choices.join(', ')}`, text);
    return found;
  }

  #textOf(name: string): string | undefined {
    const value = this.#given[camelCase(name)];
    return value === undefined ? undefined : String(value);
  }
}

function wrong(name: string, bound: string, value: unknown): BatchError {
  return new BatchError(`--${name} must be ${bound}, got ${JSON.stringify(value)}`);
}

function camelCase(name: string): string {
  return name.replace(/-([a-z])/g, (_dash, letter: string) => letter.toUpperCase());
}
