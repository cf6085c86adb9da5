import { closeSync, constants, open, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { promisify } from 'node:util';

const RETRY_MS = 20;

/**
 * A named pipe, or that of a shell's `<(command)`. It is read as a socket, because a process cannot
 * end while a read of a file waits.
 */
export class Pipe {
  readonly #path: string;
  #socket: Socket | undefined = undefined;
  #isOpening = false;
  #isClosed = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** Waits for a writer, and reads until all have closed the pipe. */
  async *read(): AsyncGenerator<Uint8Array> {
    if (this.#isClosed) return;
    this.#isOpening = true;
    const fd = await promisify(open)(this.#path, 'r').finally(() => {
      this.#isOpening = false;
    });
    this.#socket = new Socket({ fd, readable: true, writable: false });
    if (this.#isClosed) this.#socket.destroy();
    try {
      yield* this.#socket;
    } catch (error) {
      // A socket that `close` has destroyed throws an error, since its end is missing.
      if (!this.#isClosed) throw error;
    }
  }

  /** Ends a read that waits, for a writer or for more data. */
  close(): void {
    this.#isClosed = true;
    this.#socket?.destroy();
    if (!this.#isOpening) return;
    // Repeated, because the thread that opens the pipe may not wait for a writer yet.
    const timer = setInterval(() => {
      if (this.#isOpening) comeAndGo(this.#path);
      else clearInterval(timer);
    }, RETRY_MS);
  }
}

/** Opens and closes the pipe as a writer, so that a reader that waits for a writer goes on. */
function comeAndGo(path: string): void {
  try {
    closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK));
  } catch {
    // No reader waits, or the pipe is gone.
  }
}
