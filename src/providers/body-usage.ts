/** A longer JSON value, or line of events, is not read. Nearly all are shorter. */
const MOST_CHARACTERS = 1024 * 1024;

/**
 * Finds the usage in the body of a response while its user reads it: in a JSON value, or in the
 * events of a stream.
 */
export class BodyUsage {
  readonly #isStream: boolean;
  readonly #found: (value: unknown) => void;
  #decoder: InstanceType<typeof TextDecoder> | undefined = undefined;
  /** What has arrived of the JSON value, or of the present line of events. */
  #text = '';

  /** @param found is called with each value that may have a usage */
  private constructor(isStream: boolean, found: (value: unknown) => void) {
    this.#isStream = isStream;
    this.#found = found;
  }

  /** @returns undefined for a body that is neither JSON nor a stream of events */
  static of(response: Response, found: (value: unknown) => void): BodyUsage | undefined {
    const type = response.headers.get('content-type') ?? '';
    if (type.startsWith('text/event-stream')) return new BodyUsage(true, found);
    return JSON_TYPE.test(type) ? new BodyUsage(false, found) : undefined;
  }

  /** @param body as a method of the response gave it: the value of JSON, a text, or bytes */
  whole(body: unknown): void {
    if (isText(body)) {
      this.part(body);
      this.ended();
    } else if (!this.#isStream) this.#found(body);
  }

  /** @param part bytes, or a text */
  part(part: unknown): void {
    if (!isText(part)) return;
    if (this.#isStream) this.#readLines(this.#decoded(part));
    // One character more, so that `ended` sees that it is too long.
    else if (this.#text.length <= MOST_CHARACTERS) this.#text += this.#decoded(part);
  }

  /** No part follows. */
  ended(): void {
    if (this.#isStream) this.#readLine(this.#text);
    else this.#parse(this.#text);
    this.#text = '';
  }

  #readLines(text: string): void {
    const [rest = '', ...lines] = text.split('\n');
    // A line that is too long stays so, and is not kept.
    if (this.#text.length <= MOST_CHARACTERS) this.#text += rest;
    for (const line of lines) {
      this.#readLine(this.#text);
      this.#text = line;
    }
  }

  #readLine(line: string): void {
    if (line.startsWith('data:')) this.#parse(line.slice('data:'.length));
  }

  #parse(text: string): void {
    if (text.length > MOST_CHARACTERS || !USAGE.test(text)) return;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return;
    }
    this.#found(value);
  }

  #decoded(part: Text): string {
    if (typeof part === 'string') return part;
    this.#decoder ??= new TextDecoder();
    return this.#decoder.decode(part, { stream: true });
  }
}

const JSON_TYPE = /^application\/([\w.-]+\+)?json\s*(;|$)/;

/** All fields that hold a usage are named so. */
const USAGE = /usage/i;

/** All views of bytes are decoded alike. */
type Text = string | ArrayBuffer | Uint8Array;

function isText(value: unknown): value is Text {
  return typeof value === 'string' || value instanceof ArrayBuffer || ArrayBuffer.isView(value);
}
