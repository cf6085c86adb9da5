import type { BatchRequest } from '../request.ts';
import { type QueueCalls, someAtOnce } from './queue-calls.ts';

/** The answered jobs of a run, which stay in the queue until their results are on disk. */
export class AnsweredJobs {
  readonly #calls: Pick<QueueCalls, 'remove'>;
  readonly #jobs = new Map<BatchRequest, string>();
  /** Jobs that are to be removed. */
  readonly #forgotten = new Set<string>();

  constructor(calls: Pick<QueueCalls, 'remove'>) {
    this.#calls = calls;
  }

  add(request: BatchRequest, jobId: string): void {
    this.#jobs.set(request, jobId);
  }

  /** The request is sent again. @returns whether it had an answer */
  takeOut(request: BatchRequest): boolean {
    return this.#jobs.delete(request);
  }

  /** The answers to these requests need not be kept. */
  forget(requests: readonly BatchRequest[]): void {
    for (const request of requests) {
      const jobId = this.#jobs.get(request);
      this.#jobs.delete(request);
      if (jobId !== undefined) this.#forgotten.add(jobId);
    }
  }

  async removeForgotten(): Promise<void> {
    await someAtOnce([...this.#forgotten], async (jobId) => {
      await this.#calls.remove(jobId);
      this.#forgotten.delete(jobId);
    });
  }
}
