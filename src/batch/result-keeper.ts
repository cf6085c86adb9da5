import type { Outcome } from 'headgate';
import { systemClock } from 'headgate/advanced';
import { NotSentError } from './attempts.ts';
import type { BatchState } from './batch-state.ts';
import type { AnswerCache } from './cache/answer-cache.ts';
import { messageOf } from './errors.ts';
import { FirstFailures } from './first-failures.ts';
import type { ResultFile } from './ledger/result-file.ts';
import { usageIn } from './ledger/result-line.ts';
import { stopFor } from './progress.ts';
import type { BatchRequest, BatchResponse } from './request.ts';
import { cachedResultOf, resultOf, writtenOf } from './result.ts';

/** Writes the outcomes of lines, and stops the run for failures that concern all lines. */
export class ResultKeeper {
  readonly #state: BatchState;
  readonly #file: ResultFile;
  readonly #cache: AnswerCache | undefined;
  /** Whether the output has a good result of an earlier run. */
  readonly #hadGood: boolean;
  readonly #first = new FirstFailures();

  constructor(
    state: BatchState,
    file: ResultFile,
    cache: AnswerCache | undefined,
    hadGood: boolean,
  ) {
    this.#state = state;
    this.#file = file;
    this.#cache = cache;
    this.#hadGood = hadGood;
  }

  /** Writes the outcome of a request for its line, or for each of its lines. */
  keepAll(outcome: Outcome<BatchRequest, BatchResponse>): void {
    const { groups, budget } = this.#state;
    if (outcome.request.members !== undefined) {
      budget.release(outcome.request, outcome.status === 'ok' ? usageIn(outcome.value.body) : null);
    }
    for (const each of groups.settled(outcome)) {
      if (this.#isOfLine(each)) this.#keep(each);
      if (each.status === 'ok') for (const held of this.#first.release()) this.#keep(held);
    }
  }

  /** Writes an answer from the cache to the output. */
  keepCached(request: BatchRequest, response: BatchResponse): void {
    this.#state.tally.addCached();
    this.#file.append(JSON.stringify(cachedResultOf(request, response)));
  }

  /**
   * No more outcomes come. If an earlier run had good results, the few lines left may all be wrong:
   * their failures are written.
   * @param isCompleted whether every line has its outcome
   */
  end(isCompleted: boolean): void {
    const { stop, stopAtEnd } = this.#first;
    if (isCompleted && this.#hadGood && stop === undefined) {
      for (const held of this.#first.release()) this.#keep(held);
    } else if (stopAtEnd !== undefined) {
      this.#state.stop(stopAtEnd);
    }
  }

  /** Whether an outcome surely concerns its line alone, and not the whole run. */
  #isOfLine(outcome: Outcome<BatchRequest, BatchResponse>): boolean {
    if (outcome.status === 'ok') return true;
    if (outcome.error instanceof NotSentError) return false;
    const stop = stopFor(outcome.error);
    if (stop === undefined && !this.#first.holds(outcome)) return true;
    this.#state.budget.settle(outcome.request, null);
    const reason = stop ?? this.#first.stop;
    if (reason !== undefined) this.#state.stop(reason);
    return false;
  }

  #keep(outcome: Outcome<BatchRequest, BatchResponse>): void {
    const { tally, budget } = this.#state;
    const { result, text } = writtenOf(resultOf(outcome, budget));
    tally.add(result, systemClock.now());
    this.#file.append(text);
    if (outcome.status === 'ok' && result.error === null) {
      void this.#putIntoCache(outcome.request, outcome.value);
    }
  }

  /** The caller does not wait: an answer that a killed process did not put is requested again. */
  async #putIntoCache(request: BatchRequest, response: BatchResponse): Promise<void> {
    try {
      await this.#cache?.put(request, response);
    } catch (error) {
      const message = `cannot write to the cache: ${messageOf(error)}`;
      this.#state.stop({ reason: 'output', message });
    }
  }
}
