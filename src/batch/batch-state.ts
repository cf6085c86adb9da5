import type { LimiterOptions } from 'headgate';
import { systemClock } from 'headgate/advanced';
import { Attempts } from './attempts.ts';
import { RequestGroups } from './groups/request-groups.ts';
import { OutageWatch } from './http/failures.ts';
import { RateMemory } from './ledger/rate-memory.ts';
import { Budget } from './money.ts';
import type { BatchSettings } from './options.ts';
import { paceOf } from './pace-view.ts';
import { createPacer, type ModelLimits, type Pacer } from './pacer.ts';
import type { BatchPhase, BatchProgress, Stop } from './progress.ts';
import type { RunQueue } from './queue/run-queue.ts';
import { Tally } from './tally.ts';

/** Default limit of requests in flight. */
const CONCURRENCY = 256;

/** How often the learned rates of the provider are saved. */
const REMEMBER_MS = 10_000;

/** Estimated tokens of a group at the most, well below what providers take in one request. */
const GROUP_TOKENS = 100_000;
/** Part of a minute's tokens that one group may take. */
const GROUP_PART = 0.25;

/** The state that the parts of a run share: its counts, its limits, and whether it must stop. */
export class BatchState {
  readonly tally = new Tally();
  readonly budget: Budget;
  readonly pacer: Pacer;
  readonly #memory: RateMemory;
  readonly attempts: Attempts;
  readonly groups: RequestGroups;
  phase: BatchPhase = 'starting';
  /** Lines that were checked before any request was sent. */
  checked = 0;
  /** Lines of the input; undefined while that is not known. */
  total: number | undefined = undefined;
  readonly #settings: BatchSettings;
  readonly #queue: RunQueue | undefined;
  readonly #outage = new OutageWatch(() => systemClock.now());
  readonly #stopping = new AbortController();
  readonly #startedAt = systemClock.now();
  #endedAt: number | undefined = undefined;
  #rememberedAt = Number.NEGATIVE_INFINITY;
  #stop: Stop | undefined = undefined;
  #inputStop: Stop | undefined = undefined;

  /**
   * @param queue of the workers that send the requests; undefined: this process sends them
   * @throws RangeError or TypeError that names a wrong option of the limiter
   */
  constructor(settings: BatchSettings, queue: RunQueue | undefined) {
    this.#settings = settings;
    this.#queue = queue;
    const { batch, limiter } = settings;
    const classify = (error: unknown) => this.#outage.failed(error);
    // The run ends after `--outage`: the limiter must not fail lines for an outage.
    const outageMs = Number.POSITIVE_INFINITY;
    const limits = { concurrency: CONCURRENCY, name: 'batch', ...limiter, outageMs, classify };
    this.budget = new Budget(batch.prices, batch.maxCost ?? Number.POSITIVE_INFINITY);
    this.#memory = new RateMemory(batch.output, batch.provider);
    this.pacer = createPacer(limits, batch.limitsByModel, this.#memory.read(Date.now()));
    this.groups = new RequestGroups({
      maxItems: batch.groupSize,
      maxTokens: groupTokens(limiter, batch.limitsByModel),
    });
    this.attempts = new Attempts({
      send: batch.send,
      isRemote: queue !== undefined,
      tally: this.tally,
      outage: this.#outage,
      budget: this.budget,
      onBudgetSpent: () => this.stop({ reason: 'budget', message: this.#budgetWords() }),
    });
  }

  /** Fires when the run is to stop. */
  get stopSignal(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Sends no more requests; those in flight may end. If called again, the first reason is kept. */
  stop(stop: Stop): void {
    if (this.#stop !== undefined || this.phase === 'ended') return;
    this.#stop = stop;
    this.attempts.stop();
    this.#stopping.abort();
  }

  /**
   * The input has ended early for this reason: the run ends with it after sending the requests that
   * were read, unless another stop comes first.
   */
  endAs(stop: Stop): void {
    this.#inputStop = stop;
  }

  /** @param stop why the run ended early, if that is known only now */
  end(stop = this.#stop ?? this.#inputStop ?? this.#shortStop()): void {
    this.#stop = stop;
    this.phase = 'ended';
    this.#endedAt = systemClock.now();
  }

  /** Saves the learned rates for a run that continues this one; removes them once all is done. */
  remember(): void {
    const isDone = this.phase === 'ended' && this.#stop === undefined;
    if (isDone) {
      this.#memory.remove();
      return;
    }
    const rates = this.pacer.learned();
    this.#memory.write(rates, Date.now());
    if (rates.size > 0) this.#rememberedAt = systemClock.now();
  }

  /** Saves the rates as soon as one is learned, and then every ten seconds. */
  rememberInTime(): void {
    if (systemClock.now() - this.#rememberedAt >= REMEMBER_MS) this.remember();
  }

  /** Stops the run if the server has been down for too long. */
  watchServer(): void {
    const { downForMs, wasReached, tried, culprit } = this.#outage;
    const { outageMs, unreachableMs } = this.#settings.batch;
    if (!wasReached && downForMs >= unreachableMs) {
      const address = culprit === 'proxy' ? 'address' : 'address (--base-url)';
      const message = `the ${culprit} does not answer (${tried}). Is it running, and is its ${address} right?`;
      this.stop({ reason: 'unreachable', message });
    } else if (wasReached && downForMs >= outageMs) {
      const message = `the ${culprit} has not answered for ${Math.round(downForMs / 1_000)} s (${tried})`;
      this.stop({ reason: 'outage', message });
    }
  }

  /** The state of the run as plain data. */
  progress(): BatchProgress {
    const { tally, total, phase } = this;
    const { outageMs, unreachableMs } = this.#settings.batch;
    const now = systemClock.now();
    const snapshots = phase === 'running' || phase === 'draining' ? this.pacer.snapshots() : [];
    const remaining = total === undefined ? undefined : total - this.#done;
    const workers = this.#queue?.counts;
    const atLimiter = snapshots.reduce((sum, { waiting }) => sum + waiting, 0);
    const rate = tally.finished.longPerSecond(now);
    return {
      phase,
      elapsedMs: (this.#endedAt ?? now) - this.#startedAt,
      checked: this.checked,
      total,
      doneBefore: tally.doneBefore,
      failedBefore: tally.failedBefore,
      ok: tally.ok,
      cached: tally.cached,
      failed: tally.failed,
      inFlight: workers?.active ?? this.attempts.active,
      waiting: atLimiter + (workers?.queued ?? 0),
      workers,
      attempts: tally.attempts,
      rejected: tally.rejected,
      retried: tally.retried,
      ratePerSecond: tally.finished.perSecond(now),
      // No one knows when a server that is down comes back.
      etaMs:
        remaining === undefined || !rate || this.#outage.isDown
          ? undefined
          : (remaining / rate) * 1_000,
      // The limits of workers are not those of this process.
      pace: workers ? undefined : paceOf(snapshots, this.#settings.limiter),
      inputTokens: tally.inputTokens,
      cachedTokens: tally.cachedTokens,
      outputTokens: tally.outputTokens,
      cost: this.#cost(remaining),
      errors: tally.errors,
      downForMs: this.#outage.isDown ? this.#outage.downForMs : 0,
      outageMs: this.#outage.wasReached ? outageMs : unreachableMs,
      stop: this.#stop,
    };
  }

  /** Why the run ends if the input has fewer lines than when it was checked. */
  #shortStop(): Stop | undefined {
    const missing = (this.total ?? 0) - this.#done;
    if (missing <= 0) return undefined;
    const lines = missing === 1 ? '1 line is' : `${missing} lines are`;
    const message = `the input has changed since the run began: ${lines} missing. Run it again`;
    return { reason: 'input', message };
  }

  /** Lines that have a result. */
  get #done(): number {
    const { doneBefore, failedBefore, ok, failed } = this.tally;
    return doneBefore + failedBefore + ok + failed;
  }

  #cost(remaining: number | undefined): BatchProgress['cost'] {
    const { hasPrices, spent, max } = this.budget;
    if (!hasPrices) return undefined;
    const bound = Number.isFinite(max) ? max : undefined;
    return { spent, forecast: this.budget.forecast(remaining), max: bound };
  }

  #budgetWords(): string {
    const { max } = this.budget;
    return `the next request might cost more than is left of --max-cost ${max}: raise it to go on`;
  }
}

/** A group that is larger than a limit allows could never be sent. */
function groupTokens(limiter: LimiterOptions, byModel: ModelLimits | undefined): number {
  const limits = [limiter, ...Object.values(byModel ?? {})];
  const minutes = limits.map(({ tokensPerMinute = Number.POSITIVE_INFINITY }) => tokensPerMinute);
  return Math.max(1, Math.floor(Math.min(GROUP_TOKENS, GROUP_PART * Math.min(...minutes))));
}
