import type { ServerResponse } from 'node:http';
import { SECURITY_HEADERS } from './guards.ts';

/** A message above this is not sent; the page says so. */
const MOST_BYTES = 1024 * 1024;

/** A reader that has not taken a message for so many looks is cut off: 10 s. */
const PATIENCE = 40;

/** How soon an event source comes back that was cut off, in ms. */
const RETRY_MS = 1_000;

/** One event as it is sent: encoded once, however many read it. */
export function messageOf(event: string, json: string): Buffer {
  const message = Buffer.from(`event: ${event}\ndata: ${json}\n\n`);
  return message.length <= MOST_BYTES ? message : messageOf('tooLarge', '{}');
}

/** One page that reads server-sent events. What it does not take in time is left out. */
export class EventStream {
  readonly #response: ServerResponse;
  #isBlocked = false;
  #skipped = 0;

  constructor(response: ServerResponse) {
    this.#response = response;
    response.on('drain', () => {
      this.#isBlocked = false;
      this.#skipped = 0;
    });
  }

  /** Begins the answer. */
  open(): void {
    // The end of the connection is the end of the answer: each message is then one write, not three.
    this.#response.removeHeader('transfer-encoding');
    this.#response.writeHead(200, { ...SECURITY_HEADERS, 'content-type': 'text/event-stream' });
    this.#response.write(`retry: ${RETRY_MS}\n\n`);
  }

  /** Whether the next message would be taken. Counts those that are not. */
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

  send(message: Buffer): void {
    this.#isBlocked = !this.#response.write(message);
  }
}
