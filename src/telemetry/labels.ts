import { isError } from '../model/print.ts';
import type { Ticket } from '../model/ticket.ts';

/** Stands for all values beyond those that are told apart. */
const OTHER = '_OTHER';

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

/** Names that errors of JavaScript, of the web and of SDKs have without a class of that name. */
const KNOWN_NAMES = ['AbortError', 'TimeoutError', 'NetworkError', 'APIConnectionError'];

const CLASS_NAME = /^[A-Za-z_$][\w$]{0,63}$/;

/**
 * What an attempt or request failed with: the HTTP status if there was one, else the error's class.
 * A `name` that was set on an error may hold anything, a prompt or a key: it is told only if it is
 * known.
 */
export function errorTypeOf({ verdict }: Ticket, error: unknown): string {
  if (verdict?.status !== undefined) return String(verdict.status);
  if (isError(error)) return classOf(error);
  return error === undefined || error === null ? 'unknown' : typeof error;
}

function classOf(error: Error): string {
  try {
    if (KNOWN_NAMES.includes(error.name)) return error.name;
    const className = error.constructor.name;
    return CLASS_NAME.test(className) ? className : 'Error';
  } catch {
    return 'Error';
  }
}
