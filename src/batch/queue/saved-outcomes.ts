import type { ResultFile } from '../ledger/result-file.ts';
import type { BatchRequest } from '../request.ts';
import type { RunQueue } from './run-queue.ts';

/** Tells the queue which answers it need not keep any more, because their results are on disk. */
export class SavedOutcomes {
  readonly #queue: RunQueue;
  readonly #file: Pick<ResultFile, 'appended' | 'saved'>;
  /** Requests, each with the number of lines that the file has on disk when its own are there. */
  #kept: { readonly request: BatchRequest; readonly lines: number }[] = [];

  constructor(queue: RunQueue, file: Pick<ResultFile, 'appended' | 'saved'>) {
    this.#queue = queue;
    this.#file = file;
  }

  /** The outcome of a request was appended to the file, or needs no line there. */
  add(request: BatchRequest): void {
    this.#kept.push({ request, lines: this.#file.appended });
  }

  /** Tells of the requests whose lines are on disk since the last call. */
  tell(): void {
    const { saved } = this.#file;
    const next = this.#kept.findIndex(({ lines }) => lines > saved);
    const count = next === -1 ? this.#kept.length : next;
    if (count > 0) this.#queue.forget(this.#kept.splice(0, count).map(({ request }) => request));
  }
}
