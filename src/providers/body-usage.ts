import { isShape } from './shape.ts';

/** Of a longer JSON value, only its start and its end are read: usages are there. */
const MOST_CHARACTERS = 1024 * 1024;
const START_OR_END = 64 * 1024;

/** The body is one JSON value, or lines of JSON values, or Server-Sent Events. */
type Format = 'value' | 'lines' | 'events';

/**
 * Finds the usage in the body of a response while its user reads it: in a JSON value, or in those of
 * a stream.
 */
export class BodyUsage {
  readonly #format: Format;
  readonly #found: (value: unknown) => void;
  /** Has begun a character of which the last part may have only some bytes. */
  #decoder: InstanceType<typeof TextDecoder> | undefined = undefined;
  /** What has arrived of the JSON value, or of the present line. */
  #text = '';
  /** The data of the present event. */
  #data = '';

  /** @param found is called with each value that may have a usage */
  private constructor(format: Format, found: (value: unknown) => void) {
    this.#format = format;
    this.#found = found;
  }

  /** @returns undefined for a body that holds no JSON */
  static of(response: Response, found: (value: unknown) => void): BodyUsage | undefined {
    const format = formatOf(response.headers.get('content-type') ?? '');
    return format && new BodyUsage(format, found);
  }

  /** @param body as a method of the response gave it: the value of JSON, a text, or bytes */
  whole(body: unknown): void {
    if (isText(body)) {
      this.part(body);
      this.ended();
    } else this.#found(body);
  }

  /** @param part bytes, or a text */
  part(part: unknown): void {
    const text = isText(part) ? this.#decoded(part) : undefined;
    if (text === undefined) return;
    if (this.#format === 'value') this.#text = shortened(this.#text + text);
    else this.#readLines(text);
  }

  /** No part follows. */
  ended(): void {
    this.#endOfLine();
    this.#endOfValue();
  }

  #readLines(text: string): void {
    const [rest = '', ...lines] = text.split('\n');
    this.#text = shortened(this.#text + rest);
    for (const line of lines) {
      this.#endOfLine();
      this.#text = line;
    }
  }

  #endOfLine(): void {
    const line = this.#text;
    this.#text = '';
    if (this.#format !== 'events') this.#data = line;
    // The JSON of one event may have several lines.
    else if (line.startsWith('data:')) this.#data = shortened(`${this.#data}${line.slice(5)}\n`);
    if (this.#format !== 'events' || line === '' || line === '\r') this.#endOfValue();
  }

  #endOfValue(): void {
    const text = this.#data;
    if (text === '') return;
    this.#data = '';
    const value = HAS_USAGE.test(text) ? jsonIn(text) : undefined;
    if (value !== undefined) this.#found(value);
  }

  /** @returns undefined for bytes that no string can hold: those of more than 512 MB */
  #decoded(part: Text): string | undefined {
    if (typeof part === 'string') return part;
    try {
      return this.#textOf(bytesOf(part));
    } catch {
      return undefined;
    }
  }

  #textOf(bytes: Uint8Array): string {
    const isCut = (bytes.at(-1) ?? 0) > LAST_ASCII;
    // Node decodes parts of a stream several times as slowly.
    if (!isCut && this.#decoder === undefined) return DECODER.decode(bytes);
    this.#decoder ??= new TextDecoder();
    const text = this.#decoder.decode(bytes, { stream: isCut });
    if (!isCut) this.#decoder = undefined;
    return text;
  }
}

function formatOf(type: string): Format | undefined {
  if (/^text\/event-stream/i.test(type)) return 'events';
  if (/^application\/(x-ndjson|stream\+json)\s*(;|$)/i.test(type)) return 'lines';
  return /^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type) ? 'value' : undefined;
}

/** The fields in which providers report a usage. Many events say `"usage": null`. */
const HAS_USAGE = /"(?:usage|usageMetadata|totalUsage|meta)"\s*:\s*\{|eval_count"/;

/** A usage, which may hold objects too. */
const USAGE = /"(usage|usageMetadata|meta)"\s*:\s*(\{(?:[^{}]|\{[^{}]*\})*\})/g;

/** The text, or the start and the end of a long one. */
function shortened(text: string): string {
  if (text.length <= MOST_CHARACTERS) return text;
  return `${text.slice(0, START_OR_END)}\n${text.slice(-START_OR_END)}`;
}

/** The value of JSON; of a long one at least an object with its last usage. */
function jsonIn(text: string): unknown {
  const value = parsed(text);
  if (value !== undefined || text.length <= 2 * START_OR_END) return value;
  for (const [, name = '', usage = ''] of [...text.matchAll(USAGE)].reverse()) {
    const last = parsed(usage);
    if (isShape(last)) return { [name]: last };
  }
  return undefined;
}

/** @returns undefined for a text that is not JSON */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const DECODER = /* @__PURE__ */ new TextDecoder();
const LAST_ASCII = 0x7f;

type Text = string | ArrayBuffer | ArrayBufferView;

function bytesOf(part: ArrayBuffer | ArrayBufferView): Uint8Array {
  if (part instanceof ArrayBuffer) return new Uint8Array(part);
  return new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
}

function isText(value: unknown): value is Text {
  return typeof value === 'string' || value instanceof ArrayBuffer || ArrayBuffer.isView(value);
}
