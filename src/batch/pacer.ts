import {
  createLimiter,
  createLimiterGroup,
  type LimiterOptions,
  type LimiterSnapshot,
  type Outcome,
  type Sized,
} from 'headgate';
import { finalize, type Observable, tap } from 'rxjs';
import type { Attempts } from './attempts.ts';
import type { LearnedRates } from './ledger/rate-memory.ts';
import { ReadAhead } from './read-ahead.ts';
import type { BatchRequest, BatchResponse } from './request.ts';

/** Limits by model; `*` is for all others. They take precedence over those of the batch. */
export type ModelLimits = Readonly<Record<string, LimiterOptions>>;

/** What paces a batch: one limiter, or one for each model. */
export interface Pacer {
  send(
    source: AsyncIterable<Sized<BatchRequest>>,
    attempt: Attempts['attempt'],
  ): Observable<Outcome<BatchRequest, BatchResponse>>;
  /** The state of each limiter. */
  snapshots(): readonly LimiterSnapshot[];
  /** The rates that were learned from 429s and are reliable. */
  learned(): LearnedRates;
  close(): void;
}

/** The name of the limits of all models that have none of their own. */
export const OTHERS = '*';

/**
 * Requests a second at the start, if nothing is known. A provider that allows less rejects half as
 * many requests as it would reject of a burst. If it allows more, its rate is reached in about two
 * seconds.
 */
const START_PER_SECOND = 50;

/** A rate is reliable after this number of accepted requests. */
const SURE_EVIDENCE = 20;

/**
 * @param known rates that were learned before, by model
 * @throws RangeError or TypeError that names a wrong option
 */
export function createPacer(
  options: LimiterOptions,
  byModel: ModelLimits | undefined,
  known: LearnedRates,
): Pacer {
  if (byModel === undefined) {
    const limiter = createLimiter(startingAt(options, known.get(OTHERS)));
    return {
      send: (source, attempt) => limiter.throttleFrom(source, attempt, { outcomes: true }),
      snapshots: () => [limiter.snapshot()],
      learned: () => learnedOf({ [OTHERS]: limiter.snapshot() }),
      close: () => limiter.close(),
    };
  }
  const { name, telemetry, classify, ...limits } = options;
  const own = (model: string) => ownLimits(byModel, model);
  // This finds a wrong limit before the first request of its model comes.
  for (const model of Object.keys(byModel)) createLimiter({ ...limits, ...own(model) }).close();
  // Requests that may not wait for long, or in any number, are not read far ahead.
  const isWaitBounded = [limits, ...Object.values(byModel)].some(
    ({ maxQueue, waitTimeoutMs, deadlineMs }) =>
      (maxQueue ?? waitTimeoutMs ?? deadlineMs) !== undefined,
  );
  const group = createLimiterGroup<BatchRequest>(({ body }) => String(body.model), {
    ...(name !== undefined && { name }),
    ...(telemetry !== undefined && { telemetry }),
    ...(classify && { classify }),
    each: (model) => startingAt({ ...limits, ...own(model) }, known.get(model)),
  });
  return {
    send: (source, attempt) => {
      if (isWaitBounded) return group.throttleFrom(source, attempt, { outcomes: true });
      const ahead = new ReadAhead();
      const rules = { outcomes: true, readAhead: Number.MAX_SAFE_INTEGER } as const;
      return group.throttleFrom(ahead.from(source), attempt, rules).pipe(
        tap(({ request }) => ahead.ended(request)),
        finalize(() => ahead.close()),
      );
    },
    snapshots: () => Object.values(group.snapshot().keys),
    learned: () => learnedOf(group.snapshot().keys),
    close: () => group.close(),
  };
}

/** The limits of a model; undefined: it has no limits besides those of the batch. */
export function ownLimits(
  byModel: ModelLimits | undefined,
  model: string,
): LimiterOptions | undefined {
  return byModel && (Object.hasOwn(byModel, model) ? byModel[model] : byModel[OTHERS]);
}

/** Adds an adaptive rate with its initial value, unless the options set how rates adapt. */
export function startingAt(
  options: LimiterOptions,
  initialPerSecond = START_PER_SECOND,
): LimiterOptions {
  const { adaptive, backoff, throttledConcurrency, throttledByteFactor } = options;
  const rules = [adaptive, backoff, throttledConcurrency, throttledByteFactor];
  if (rules.some((rule) => rule !== undefined)) return options;
  return { ...options, adaptive: { strategy: 'rate', initialPerSecond } };
}

/** Makes requests wait while a circuit is open, unless the options set `onOpen`. */
export function waitingAtCircuit(options: LimiterOptions): LimiterOptions {
  const { circuitBreaker } = options;
  if (circuitBreaker === undefined || circuitBreaker === false) return options;
  const breaker = { onOpen: 'wait' as const, ...(circuitBreaker === true ? {} : circuitBreaker) };
  return { ...options, circuitBreaker: breaker };
}

function learnedOf(snapshots: Readonly<Record<string, LimiterSnapshot>>): LearnedRates {
  const rates = Object.entries(snapshots).flatMap(([name, { adaptive }]) => {
    if (adaptive === undefined || !('origin' in adaptive)) return [];
    const { origin, ceilingPerSecond, evidence = 0, isOut, sinceCutMs } = adaptive;
    const isSure = sinceCutMs !== undefined && evidence >= SURE_EVIDENCE && !isOut;
    return isSure && origin === 'learned' && ceilingPerSecond !== undefined
      ? [[name, ceilingPerSecond] as const]
      : [];
  });
  return new Map(rates);
}
