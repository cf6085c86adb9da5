import type { Outcome } from 'headgate';
import { BatchState } from './batch-state.ts';
import { checkBatchOptions } from './check-options.ts';
import { drain, onAbort } from './drain.ts';
import { BatchError, InterruptedError } from './errors.ts';
import { checkTemplate, type InputOptions } from './input/read-input.ts';
import { findSources, type Source } from './input/sources.ts';
import type { Ledger } from './ledger/ledger.ts';
import { OutputLock } from './ledger/lock.ts';
import { checkOutputKind, inspectOutput } from './ledger/open-output.ts';
import { OutputChangedError, ResultFile } from './ledger/result-file.ts';
import { pricesOf } from './money.ts';
import type { BatchOptions, BatchSettings } from './options.ts';
import { type BatchProgress, type BatchReport, reportOf, type Stop } from './progress.ts';
import type { RunQueue } from './queue/run-queue.ts';
import { SavedOutcomes } from './queue/saved-outcomes.ts';
import { allSized, type BatchRequest, type BatchResponse } from './request.ts';
import { ResultKeeper } from './result-keeper.ts';
import { checkInput, noRequests, pendingRequests } from './source.ts';

/** How often the output is synced and the state of the server is checked. */
const TICK_MS = 250;

/** One run of a batch. Messages name options of the command; `runBatch` names its own in them. */
export class BatchRun {
  readonly #settings: BatchSettings;
  readonly #sources: readonly Source[];
  readonly #state: BatchState;
  readonly #queue: RunQueue | undefined;

  /**
   * @param queue the queue of the workers to which `send` passes requests
   * @throws BatchError, RangeError or TypeError that names a wrong option
   */
  constructor(options: BatchOptions, queue?: RunQueue) {
    this.#queue = queue;
    this.#settings = checkBatchOptions(options);
    const { input } = this.#settings.batch;
    this.#sources = findSources(typeof input === 'string' ? [input] : input);
    checkTemplate(this.#sources, this.#input);
    this.#state = new BatchState(this.#settings, queue);
  }

  /** The state now. */
  progress(): BatchProgress {
    return this.#state.progress();
  }

  /** Sends no more requests; those in flight may end. If called again, the first reason is kept. */
  stop(stop: Stop): void {
    this.#state.stop(stop);
  }

  /**
   * Runs to the end.
   * @throws BatchError for a problem that is found before any request was sent
   */
  async run(): Promise<BatchReport> {
    const { output } = this.#settings.batch;
    checkOutputKind(output);
    const lock = new OutputLock(output);
    try {
      return await this.#runLocked(lock);
    } finally {
      lock.release();
      for (const { close } of this.#sources) close?.();
      this.#state.pacer.close();
    }
  }

  async #runLocked(lock: OutputLock): Promise<BatchReport> {
    const { output, existing } = this.#settings.batch;
    const paths = this.#sources.map(({ path }) => path).filter((path) => path !== undefined);
    const inspected = await inspectOutput(output, existing, paths);
    const { ledger, length, needsNewline, tornBytes, spent } = inspected;
    this.#state.budget.resume(spent);
    const isChecked = paths.length === this.#sources.length;
    if (isChecked) await this.#check(ledger);
    const file = await ResultFile.open(output, length, needsNewline);
    file.onError = (error) => {
      const advice = '; make room and run the same command again: it goes on where it stopped';
      const isKnown = error instanceof OutputChangedError;
      this.stop({ reason: 'output', message: error.message + (isKnown ? '' : advice) });
    };
    const saved = this.#queue && new SavedOutcomes(this.#queue, file);
    const ticks = setInterval(() => {
      if (!lock.touch()) this.stop({ reason: 'output', message: lostLock(output) });
      void file.tick().then(() => saved?.tell());
      this.#state.watchServer();
      this.#state.rememberInTime();
    }, TICK_MS);
    try {
      const { cache } = this.#settings.batch;
      const keeper = new ResultKeeper(this.#state, file, cache, ledger.hasGood);
      const source = this.#pending(ledger, isChecked, file, keeper);
      const hasCompleted = await this.#send(source, (outcome) => {
        keeper.keepAll(outcome);
        saved?.add(outcome.request);
      });
      keeper.end(hasCompleted);
      await this.#save(file);
    } finally {
      clearInterval(ticks);
      saved?.tell();
      this.#state.remember();
      await file.close();
    }
    const report = reportOf(this.progress(), output, tornBytes, file.unwrittenLines);
    if (ledger.listed > 0 || report.stop !== undefined) return report;
    await file.removeIfEmpty();
    throw noRequests(this.#sources);
  }

  /** Checks all lines, and reads which of them have a result in the output. */
  async #check(ledger: Ledger): Promise<void> {
    const { output, existing, changed, signal, abortSignal } = this.#settings.batch;
    const hadResults = ledger.results > 0;
    const onLine = (request: BatchRequest) => {
      this.#state.checked += 1;
      if (signal?.aborted || abortSignal?.aborted) throw new InterruptedError();
      this.#checkPrice(request);
    };
    this.#state.total = await checkInput(this.#sources, this.#input, ledger, changed, onLine);
    if (!hadResults || ledger.shared > 0 || existing === 'append') return;
    throw new BatchError(
      `${output} has results, but none of this input. It is left as it is: give another --out, ` +
        '--append to add to it, or --overwrite to replace it',
    );
  }

  #checkPrice({ body, place }: BatchRequest): void {
    const { prices } = this.#settings.batch;
    if (prices === undefined || pricesOf(prices, body.model) !== undefined) return;
    throw new BatchError(
      `${place}: there is no price for the model "${String(body.model)}": add it to the prices, ` +
        'or "*" for all others',
    );
  }

  get #input(): InputOptions {
    const { api, model, format, template, limit } = this.#settings.batch;
    return { api, model, format, template, limit };
  }

  #pending(ledger: Ledger, isChecked: boolean, file: ResultFile, keeper: ResultKeeper) {
    const { changed, retryFailed, existing, cache } = this.#settings.batch;
    const { tally, stopSignal, groups } = this.#state;
    const pending = pendingRequests({
      sources: this.#sources,
      input: this.#input,
      ledger,
      isChecked,
      changed,
      retryFailed,
      mayAppend: existing === 'append',
      file,
      tally,
      cache,
      onCached: (request, response) => keeper.keepCached(request, response),
      isStopped: () => stopSignal.aborted,
      onInputError: (stop) => this.#state.endAs(stop),
    });
    return allSized(groups.from(pending, stopSignal));
  }

  /**
   * Sends all requests, or those up to a stop, and then waits for those in flight.
   * @returns whether every request has its outcome
   */
  async #send(
    source: ReturnType<typeof allSized>,
    keep: (outcome: Outcome<BatchRequest, BatchResponse>) => void,
  ): Promise<boolean> {
    const { signal, abortSignal, drainMs } = this.#settings.batch;
    const { pacer, attempts, stopSignal } = this.#state;
    this.#state.phase = 'running';
    const interrupt = () => this.stop({ reason: 'interrupted', message: 'stopped' });
    const listening = new AbortController();
    const ended = listening.signal;
    void Promise.race([onAbort(signal, ended), onAbort(abortSignal, ended)]).then(interrupt);
    let end = () => {};
    const completed = new Promise<void>((resolve, reject) => {
      const sending = pacer.send(source, attempts.attempt).subscribe({
        next: keep,
        error: reject,
        complete: resolve,
      });
      end = () => sending.unsubscribe();
    });
    const isCompleted = completed.then(() => true);
    try {
      const hasCompleted = (await Promise.race([isCompleted, onAbort(stopSignal, ended)])) === true;
      if (!hasCompleted) {
        this.#state.phase = 'draining';
        await drain({ attempts, queue: this.#queue, drainMs, abortSignal, ended });
      }
      return hasCompleted;
    } finally {
      end();
      listening.abort();
    }
  }

  /** A result is reported only once it is on disk. */
  async #save(file: ResultFile): Promise<void> {
    try {
      await file.sync();
      this.#state.end();
    } catch (error) {
      if (!(error instanceof BatchError)) throw error;
      const lost = file.unwritten;
      const words = lost === 0 ? '' : `; ${lost} answers are lost and will be asked for again`;
      this.#state.end({ reason: 'output', message: `${error.message}${words}` });
    }
  }
}

function lostLock(output: string): string {
  return `${output} is being written by another run, which took this one for dead`;
}
