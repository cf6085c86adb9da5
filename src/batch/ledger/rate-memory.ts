import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { at, countAt, isObject, parseJson, textAt } from '../json.ts';

/** Older rates are forgotten: providers change their limits. */
const FORGET_MS = 3_600_000;

/** Rates by the name of their limiter, requests a second. */
export type LearnedRates = ReadonlyMap<string, number>;

/**
 * Keeps the rates that were learned of a provider in a small file beside the output, so that a run
 * that goes on does not learn them again. Nothing depends on it: a run without it learns anew.
 */
export class RateMemory {
  readonly #file: string;
  readonly #provider: string;

  /** @param provider where requests go: what was learned elsewhere is of no use */
  constructor(output: string, provider: string) {
    this.#file = `${output}.rates`;
    this.#provider = provider;
  }

  /** What an earlier run has learned in the last hour. @param now ms since 1970 */
  read(now: number): LearnedRates {
    const memory = this.#load();
    const age = now - Date.parse(textAt(memory, 'at') ?? '');
    const rates = at(memory, 'perSecond');
    const isOfUse = age >= 0 && age < FORGET_MS && textAt(memory, 'provider') === this.#provider;
    if (!isOfUse || !isObject(rates)) return new Map();
    const entries = Object.keys(rates).map((name) => [name, countAt(rates, name) ?? 0] as const);
    return new Map(entries.filter(([, rate]) => rate > 0));
  }

  /** Puts what is known now into the place of what was. A file that cannot be written is no matter. */
  write(rates: LearnedRates, now: number): void {
    if (rates.size === 0 || this.#isOther()) return;
    const perSecond = Object.fromEntries(rates);
    const memory = { provider: this.#provider, at: new Date(now).toISOString(), perSecond };
    const made = `${this.#file}.new`;
    try {
      // In a folder that others write to it may be a link to a file of the user.
      rmSync(made, { force: true });
      writeFileSync(made, `${JSON.stringify(memory)}\n`, { flag: 'wx' });
      renameSync(made, this.#file);
    } catch {
      // It is learned anew.
    }
  }

  /** There is nothing left that it could be of use for. */
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

  /** Whether a file of that name is something else, and must be left alone. */
  #isOther(): boolean {
    try {
      return at(parseJson(readFileSync(this.#file, 'utf8')), 'perSecond') === undefined;
    } catch {
      return false;
    }
  }
}
