import type { Ticket } from '../model/ticket.ts';

/** Stands for all values beyond those that are told apart. */
export const OTHER = '_OTHER';

/** Keeps the number of values of an attribute bounded: later ones are `_OTHER`. */
export class Labels {
  readonly #most: number;
  readonly #known: Set<string>;

  /** @param reserved values that have their places from the start */
  constructor(most: number, reserved: readonly string[] = []) {
    this.#most = most;
    this.#known = new Set(reserved);
  }

  of(value: string): string {
    if (this.#known.has(value)) return value;
    if (this.#known.size >= this.#most) return OTHER;
    this.#known.add(value);
    return value;
  }
}

/** What an attempt or request failed with: the HTTP status if there was one, else the error's name. */
export function errorTypeOf({ verdict }: Ticket, error: unknown): string {
  if (verdict?.status !== undefined) return String(verdict.status);
  if (error instanceof Error) return error.name === '' ? 'Error' : String(error.name);
  return error === undefined || error === null ? 'unknown' : typeof error;
}
