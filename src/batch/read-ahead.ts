import type { Sized } from 'headgate';
import type { BatchRequest } from './request.ts';

/** Bytes of requests that are read and unfinished. Lines of 1 kB are then about 16,000. */
const MOST_BYTES = 32 * 1_024 * 1_024;

/** What a request takes in memory beside its text. */
const REQUEST_BYTES = 1_024;

/**
 * Reads requests until the unfinished ones take 32 MiB. A bound on their number would be reached by
 * the lines of one model if the lines are sorted by model, and the other models would wait.
 */
export class ReadAhead {
  readonly #sizes = new Map<BatchRequest, number>();
  #bytes = 0;
  #isClosed = false;
  #wake = () => {};

  async *from(source: AsyncIterable<Sized<BatchRequest>>): AsyncGenerator<Sized<BatchRequest>> {
    for await (const request of source) {
      while (this.#bytes >= MOST_BYTES && !this.#isClosed) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
      const bytes = request.bytes + REQUEST_BYTES;
      this.#sizes.set(request.value, bytes);
      this.#bytes += bytes;
      yield request;
    }
  }

  /** The request has its outcome. */
  ended(request: BatchRequest): void {
    this.#bytes -= this.#sizes.get(request) ?? 0;
    this.#sizes.delete(request);
    this.#wake();
  }

  /** Nothing is read any more: the source can be closed. */
  close(): void {
    this.#isClosed = true;
    this.#wake();
  }
}
