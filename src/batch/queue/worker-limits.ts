import {
  createLimiter,
  type Limiter,
  type LimiterOptions,
  mergeLimiterOptions,
  type RateLimit,
} from 'headgate';
import { joinFleet } from 'headgate/advanced';
import type { SharedStore } from 'headgate/redis';
import { type ModelLimits, OTHERS, ownLimits, startingAt, waitingAtCircuit } from '../pacer.ts';
import { type JobData, limitsOf, type RunLimits, runLimitsIn } from './queue-job.ts';

/**
 * Default limit of requests in flight, over all workers: a run has no more requests in the queue.
 */
const CONCURRENCY = 1_000;
const MINUTE_MS = 60_000;

export interface WorkerLimitsSettings {
  /** The options of this worker. */
  readonly limits: LimiterOptions;
  readonly byModel: ModelLimits | undefined;
  /** Options of every limiter that are not limits. */
  readonly around: Pick<LimiterOptions, 'name' | 'classify'>;
  /** The store that workers share for the limits of a model, or of all models. */
  readonly storeOf: (model: string) => SharedStore;
  /** Called with a sentence when the limits of another worker have come into force. */
  readonly onOthers: (sentence: string) => void;
}

/**
 * The limits that the workers of a queue share. The limits of the last run apply. For limits that
 * the run leaves out, the workers' own options apply.
 */
export class WorkerLimits {
  readonly #settings: WorkerLimitsSettings;
  /** By model. A single one if all models have the same limits. */
  readonly #limiters = new Map<string, { readonly limiter: Limiter; options: LimiterOptions }>();
  #run: RunLimits | undefined = undefined;

  constructor(settings: WorkerLimitsSettings) {
    this.#settings = settings;
    if (settings.byModel === undefined) this.#open(OTHERS);
  }

  /** The limiter for a job. If the run of the job is newer, its limits come into force first. */
  limiterOf({ limits, body }: JobData): Limiter {
    const run = runLimitsIn(limits);
    if (run !== undefined && run.at > (this.#run?.at ?? Number.NEGATIVE_INFINITY)) {
      this.#run = run;
      for (const [model, entry] of this.#limiters) {
        const options = this.#optionsOf(model);
        entry.limiter.configure(changesOf(entry.options, options));
        entry.options = options;
      }
    }
    const model = this.#settings.byModel === undefined ? OTHERS : String(body.model);
    return this.#limiters.get(model)?.limiter ?? this.#open(model);
  }

  close(): void {
    for (const { limiter } of this.#limiters.values()) limiter.close();
  }

  #open(model: string): Limiter {
    const { around, storeOf, onOthers } = this.#settings;
    const options = this.#optionsOf(model);
    const shared = storeOf(model);
    const limiter = createLimiter({ ...startingAt(options), ...around, shared });
    limiter.events$.subscribe((event) => {
      if (event.kind !== 'sharedLimitsChanged') return;
      const names = event.limits.length === 0 ? 'of requests in flight' : event.limits.join(', ');
      onOthers(`another worker has other limits, which are in force for all now: ${names}`);
    });
    this.#limiters.set(model, { limiter, options });
    return limiter;
  }

  #optionsOf(model: string): LimiterOptions {
    const { limits, byModel } = this.#settings;
    return optionsOf(limits, ownLimits(byModel, model), this.#run);
  }
}

/**
 * Checks the limits before a store is connected or a request comes.
 * @throws RangeError or TypeError that names a wrong limit
 */
export function checkWorkerLimits(limits: LimiterOptions, byModel: ModelLimits | undefined): void {
  for (const own of [undefined, ...Object.values(byModel ?? {})]) {
    createLimiter({ ...optionsOf(limits, own, undefined), shared: NO_STORE }).close();
  }
}

const NO_STORE: SharedStore = {
  join: joinFleet,
  exchange: () => {
    throw new Error('this limiter sends nothing');
  },
};

/** Limits of a model take precedence over those of the run, and these over the worker's options. */
function optionsOf(
  limits: LimiterOptions,
  own: LimiterOptions | undefined,
  run: RunLimits | undefined,
): LimiterOptions {
  const merged = mergeLimiterOptions(own ?? {}, run === undefined ? {} : limitsOf(run), limits);
  return waitingAtCircuit({ concurrency: CONCURRENCY, ...merged });
}

/** The argument of `configure` that changes a limiter from some options to others. */
function changesOf(
  before: LimiterOptions,
  after: LimiterOptions,
): Parameters<Limiter['configure']>[0] {
  const limits: Record<string, RateLimit | null> = {};
  for (const [name, short] of SHORT_FORMS) {
    const [was, is] = [before, after].map((options) => limitIn(options, name, options[short]));
    if (JSON.stringify(was) !== JSON.stringify(is)) limits[name] = is ?? null;
  }
  const { concurrency = CONCURRENCY } = after;
  return { concurrency, ...(Object.keys(limits).length > 0 && { limits }) };
}

const SHORT_FORMS = [
  ['requests', 'requestsPerMinute'],
  ['tokens', 'tokensPerMinute'],
] as const;

function limitIn(
  { limits }: LimiterOptions,
  name: string,
  perMinute: number | undefined,
): RateLimit | undefined {
  if (perMinute !== undefined) return { limit: perMinute, windowMs: MINUTE_MS };
  return limits?.[name];
}
