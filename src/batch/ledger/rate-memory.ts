import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { at, countAt, isObject, parseJson, textAt } from '../json.ts';

/** Older rates are ignored: providers change their limits. */
const FORGET_MS = 3_600_000;

/** Rates by the name of their limiter, requests a second. */
export type LearnedRates = ReadonlyMap<string, number>;

/**
 * Keeps the rates that were learned of a provider in a small file beside the output, so that the
 * next run need not learn them again. The file is optional: a run without it learns the rates.
 */
export class RateMemory {
  readonly #file: string;
  readonly #provider: string;

  /** @param provider where requests are sent: rates of another provider are ignored */
  constructor(output: string, provider: string) {
    this.#file = `${output}.rates`;
    this.#provider = provider;
  }

  /** The rates that an earlier run has saved in the last hour. @param now ms since 1970 */
  read(now: number): LearnedRates {
    const memory = this.#load();
    const age = now - Date.parse(textAt(memory, 'at') ?? '');
    const rates = at(memory, 'perSecond');
    const isOfUse = age >= 0 && age < FORGET_MS && textAt(memory, 'provider') === this.#provider;
    if (!isOfUse || !isObject(rates)) return new Map();
    const entries = Object.keys(rates).map((name) => [name, countAt(rates, name) ?? 0] as const);
    return new Map(entries.filter(([, rate]) => rate > 0));
  }

  /** Replaces the saved rates. A file that cannot be written is ignored. */
  write(rates: LearnedRates, now: number): void {
    if (rates.size === 0 || this.#isOther()) return;
    const perSecond = Object.fromEntries(rates);
    const memory = { provider: this.#provider, at: new Date(now).toISOString(), perSecond };
    const made = `${this.#file}.new`;
    try {
      // In a folder that others can write to, this name may be a link to a file of the user.
      rmSync(made, { force: true });
      writeFileSync(made, `${JSON.stringify(memory)}\n`, { flag: 'wx' });
      renameSync(made, this.#file);
    } catch {
      // The next run learns the rates again.
    }
  }

  /** Removes the file, which is of no use once all is done. */
  remove(): void {
    if (!this.#isOther()) rmSync(this.#file, { force: true });
  }

  #load(): unknown {
    try {
      return parseJson(readFileSync(this.#file, 'utf8'));
    } catch {
      return undefined;
    }
  }

  /** Whether a file of this name is something else, which must not be changed. */
  #isOther(): boolean {
    try {
      return at(parseJson(readFileSync(this.#file, 'utf8')), 'perSecond') === undefined;
    } catch {
      return false;
    }
  }
}
