import type { ServerResponse } from 'node:http';

/** A frame above this is not sent; the page says so. */
const MOST_BYTES = 1024 * 1024;

/** A reader that has not taken a frame for so many looks is cut off: 10 s. */
const PATIENCE = 40;

/** One page that reads server-sent events. What it does not take in time is left out. */
export class EventStream {
  readonly #response: ServerResponse;
  #isBlocked = false;
  #skipped = 0;
  #isFirst = true;

  constructor(response: ServerResponse) {
    this.#response = response;
    response.on('drain', () => {
      this.#isBlocked = false;
      this.#skipped = 0;
    });
  }

  /** Whether it has seen nothing yet. */
  get isFirst(): boolean {
    return this.#isFirst;
  }

  /** Whether the next frame would be taken. Counts those that are not. */
  get isReady(): boolean {
    if (!this.#isBlocked) return true;
    this.#skipped += 1;
    if (this.#skipped >= PATIENCE) this.#response.destroy();
    return false;
  }

  /** Ends it after what was sent before has been taken, if that is not blocked. */
  end(): void {
    if (this.#isBlocked) this.#response.destroy();
    else this.#response.end();
  }

  send(event: string, data: string): void {
    if (Buffer.byteLength(data) > MOST_BYTES) {
      this.send('tooLarge', '{}');
      return;
    }
    this.#isFirst = false;
    this.#isBlocked = !this.#response.write(`event: ${event}\ndata: ${data}\n\n`);
  }
}
