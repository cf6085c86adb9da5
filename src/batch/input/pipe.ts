import { closeSync, constants, open, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { promisify } from 'node:util';

const RETRY_MS = 20;

/**
 * A named pipe, or that of a shell's `<(command)`. It is read as sockets are: where a read of a file
 * waits for what never comes, the process cannot end.
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
      // A socket that is closed while it is read says that its end is missing.
      if (!this.#isClosed) throw error;
    }
  }

  /** Ends a read that waits, for a writer or for more. */
  close(): void {
    this.#isClosed = true;
    this.#socket?.destroy();
    if (!this.#isOpening) return;
    // Until its thread waits for a writer, there is nobody who could be let go on.
    const timer = setInterval(() => {
      if (this.#isOpening) comeAndGo(this.#path);
      else clearInterval(timer);
    }, RETRY_MS);
  }
}

/** Lets a reader go on that waits for a writer. */
function comeAndGo(path: string): void {
  try {
    closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK));
  } catch {
    // Nobody waits, or the pipe is gone.
  }
}
