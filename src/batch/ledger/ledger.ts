import { hash } from 'node:crypto';
import { IdTable } from './id-table.ts';

/** Hexadecimal digits of the hash of a request. */
const HASH_DIGITS = 32;

/**
 * Names the content of a request: two requests of one hash are the same.
 * @param json the body
 */
export function hashRequest(url: string, json: string): string {
  return hash('sha256', `${url}\n${json}`).slice(0, HASH_DIGITS);
}

/** The part of a hash that the ledger keeps in memory: 28 bits. */
function shortHash(requestHash: string): number {
  return Number.parseInt(requestHash.slice(0, 7), 16);
}

/** The 32 bits of an id: two for its result, two marks, and 28 bits of a hash. */
const OK = 1;
const FAILED = 2;
const HAS_RESULT = OK | FAILED;
const LISTED = 4;
const TAKEN = 8;
const HASH_SHIFT = 4;

/**
 * - `new`: the line has no result;
 * - `done`: it has a good result; `failed`: it has failed;
 * - `changed`: it has a good result, but its content was different then.
 */
export type LineState = 'new' | 'done' | 'failed' | 'changed';

/** Keeps which ids have a result in the output, and which are in the input. */
export class Ledger {
  readonly #table = new IdTable();
  /** Lines of the input that were listed, and how many of them have a result. */
  listed = 0;
  shared = 0;
  /** Whether the output has a good result. */
  hasGood = false;
  #hasResults = false;

  /** Adds a result of the output. It replaces an earlier one of the same id. */
  addResult(id: string, hash: string, isOk: boolean): void {
    this.hasGood ||= isOk;
    this.#hasResults = true;
    this.#table.set(id, ((shortHash(hash) << HASH_SHIFT) | (isOk ? OK : FAILED)) >>> 0);
  }

  /** The number of ids that are known. */
  get results(): number {
    return this.#table.size;
  }

  /**
   * The id of a line in the output. A line without an id of its own is named by its number, and by
   * its file too if there are several. The run that wrote its result may have had fewer or more.
   * @param isListed whether `list` was called for the line
   */
  idOf(line: NumberedLine, isListed: boolean): string {
    const other = this.#hasResults ? otherIdOf(line) : undefined;
    if (other === undefined || this.#isOf(line.id, line.hash, isListed)) return line.id;
    return this.#isOf(other, line.hash, isListed) ? other : line.id;
  }

  /** Whether an id has this hash: as a listed line, or as a result that no listed line has. */
  #isOf(id: string, hash: string, isListed: boolean): boolean {
    const known = this.#table.get(id) ?? 0;
    if (known >>> HASH_SHIFT !== shortHash(hash)) return false;
    const isFound = (known & LISTED) !== 0;
    return isListed ? isFound : !isFound && (known & HAS_RESULT) !== 0;
  }

  /**
   * Adds a line of the input.
   * @param keepsChanged whether a line that has changed counts as done
   * @returns undefined: its id was listed before
   */
  list(id: string, hash: string, keepsChanged: boolean): LineState | undefined {
    const known = this.#table.get(id) ?? 0;
    if ((known & LISTED) !== 0) return undefined;
    this.listed += 1;
    if ((known & HAS_RESULT) !== 0) this.shared += 1;
    const state = stateOf(known, hash);
    // From now on the hash is that of the line, so that `take` finds a line that changes later.
    const isAnew = state === 'new' || (state === 'changed' && !keepsChanged);
    const result = isAnew ? 0 : known & HAS_RESULT;
    this.#table.set(id, ((shortHash(hash) << HASH_SHIFT) | result | LISTED) >>> 0);
    return state;
  }

  /**
   * Called before a line of the input is sent.
   * @returns undefined: it was not listed with this content, or was taken before
   */
  take(id: string, hash: string): Exclude<LineState, 'changed'> | undefined {
    const known = this.#table.get(id) ?? 0;
    if ((known & LISTED) === 0 || (known & TAKEN) !== 0) return undefined;
    if (known >>> HASH_SHIFT !== shortHash(hash)) return undefined;
    this.#table.set(id, (known | TAKEN) >>> 0);
    if ((known & HAS_RESULT) === 0) return 'new';
    return (known & OK) === 0 ? 'failed' : 'done';
  }
}

/** A line of an input. */
interface NumberedLine {
  readonly id: string;
  readonly hash: string;
  /** Such as `prompts.jsonl:12`. */
  readonly place: string;
}

/** @returns undefined: the line has an id of its own */
function otherIdOf({ id, place }: NumberedLine): string | undefined {
  const numbered = `line-${place.slice(place.lastIndexOf(':') + 1)}`;
  if (id === place) return numbered;
  return id === numbered ? place : undefined;
}

function stateOf(known: number, hash: string): LineState {
  if ((known & HAS_RESULT) === 0) return 'new';
  const isSame = known >>> HASH_SHIFT === shortHash(hash);
  if ((known & OK) !== 0) return isSame ? 'done' : 'changed';
  // A failed line that has changed since is sent again, whatever the options are.
  return isSame ? 'failed' : 'new';
}
