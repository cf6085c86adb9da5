/**
 * Lists and dictionaries of Structured Fields (RFC 9651, formerly 8941), as far as rate-limit
 * headers need them: items with parameters. Strict, as the RFC demands: one fault makes the whole
 * field unusable. Inner lists and dates do not occur in these headers, and count as faults.
 */

/** The value of an item: string, token, number, byte sequence (as its text) or boolean. */
export type BareItem = string | number | boolean;

export interface Item {
  readonly value: BareItem;
  readonly parameters: ReadonlyMap<string, BareItem>;
}

/** The longest field that is parsed, in characters. No list of policies is longer. */
const LONGEST_FIELD = 2_048;

const SPACES = / */y;
const OPTIONAL_WHITESPACE = /[ \t]*/y;
const KEY = /[a-z*][a-z0-9_.*-]*/y;
const TOKEN = /[A-Za-z*][!#$%&'*+.^_`|~0-9A-Za-z:/-]*/y;
const STRING = /"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"/y;
const DECIMAL = /-?\d{1,12}\.\d{1,3}(?![\d.])/y;
const INTEGER = /-?\d{1,15}(?![\d.])/y;
const BYTES = /:((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?):/y;
const BOOLEAN = /\?([01])/y;

/** @returns the items; none for a field that is missing, empty or malformed */
export function parseList(field: string | undefined): readonly Item[] {
  if (field === undefined || field.length > LONGEST_FIELD) return [];
  return new Parser(field).list() ?? [];
}

/** @returns the members by their keys; none for a field that is missing, empty or malformed */
export function parseDictionary(field: string | undefined): ReadonlyMap<string, Item> {
  if (field === undefined || field.length > LONGEST_FIELD) return new Map();
  return new Map(new Parser(field).dictionary() ?? []);
}

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** @returns undefined for a malformed field */
  list(): Item[] | undefined {
    return this.#members(() => this.#item());
  }

  /** @returns undefined for a malformed field. The last member of a repeated key counts */
  dictionary(): [string, Item][] | undefined {
    return this.#members(() => this.#member());
  }

  #members<M>(next: () => M | undefined): M[] | undefined {
    this.#take(SPACES);
    const members: M[] = [];
    while (this.#at < this.#text.length) {
      const member = next();
      if (member === undefined) return undefined;
      members.push(member);
      this.#take(OPTIONAL_WHITESPACE);
      if (this.#at === this.#text.length) return members;
      if (!this.#skip(',')) return undefined;
      this.#take(OPTIONAL_WHITESPACE);
      // A comma must be followed by an item.
      if (this.#at === this.#text.length) return undefined;
    }
    return members;
  }

  #member(): [string, Item] | undefined {
    const key = this.#take(KEY)?.[0];
    if (key === undefined) return undefined;
    const item = this.#skip('=') ? this.#item() : this.#withParameters(true);
    return item && [key, item];
  }

  #item(): Item | undefined {
    const value = this.#bare();
    return value === undefined ? undefined : this.#withParameters(value);
  }

  #withParameters(value: BareItem): Item | undefined {
    const parameters = new Map<string, BareItem>();
    while (this.#skip(';')) {
      this.#take(SPACES);
      const key = this.#take(KEY)?.[0];
      if (key === undefined) return undefined;
      const parameter = this.#skip('=') ? this.#bare() : true;
      if (parameter === undefined) return undefined;
      parameters.set(key, parameter);
    }
    return { value, parameters };
  }

  #bare(): BareItem | undefined {
    const string = this.#take(STRING)?.[1];
    if (string !== undefined) return string.replace(/\\(["\\])/g, '$1');
    const number = this.#take(DECIMAL)?.[0] ?? this.#take(INTEGER)?.[0];
    if (number !== undefined) return Number(number);
    const token = this.#take(TOKEN)?.[0];
    if (token !== undefined) return token;
    const flag = this.#take(BOOLEAN)?.[1];
    return flag === undefined ? this.#take(BYTES)?.[1] : flag === '1';
  }

  #take(what: RegExp): RegExpExecArray | undefined {
    what.lastIndex = this.#at;
    const match = what.exec(this.#text);
    if (match === null) return undefined;
    this.#at = what.lastIndex;
    return match;
  }

  #skip(mark: string): boolean {
    if (this.#text[this.#at] !== mark) return false;
    this.#at += 1;
    return true;
  }
}
