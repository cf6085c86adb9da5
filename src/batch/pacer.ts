import {
  createLimiter,
  createLimiterGroup,
  type LimiterOptions,
  type LimiterSnapshot,
  type Outcome,
  type PullSource,
  type Sized,
} from 'headgate';
import type { Observable } from 'rxjs';
import type { Attempts } from './attempts.ts';
import type { BatchRequest, BatchResponse } from './request.ts';

/** Limits by model; `*` is for all others. They outweigh those of the batch. */
export type ModelLimits = Readonly<Record<string, LimiterOptions>>;

/** What paces a batch: one limiter, or one for each model. */
export interface Pacer {
  send(
    source: PullSource<Sized<BatchRequest>>,
    attempt: Attempts['attempt'],
  ): Observable<Outcome<BatchRequest, BatchResponse>>;
  /** The state of each limiter. */
  snapshots(): readonly LimiterSnapshot[];
  close(): void;
}

const OTHERS = '*';

/** @throws RangeError or TypeError that names a wrong option */
export function createPacer(options: LimiterOptions, byModel: ModelLimits | undefined): Pacer {
  if (byModel === undefined) {
    const limiter = createLimiter(options);
    return {
      send: (source, attempt) => limiter.throttleFrom(source, attempt, { outcomes: true }),
      snapshots: () => [limiter.snapshot()],
      close: () => limiter.close(),
    };
  }
  const { name, telemetry, classify, ...limits } = options;
  const own = (model: string) => (Object.hasOwn(byModel, model) ? byModel[model] : byModel[OTHERS]);
  // A wrong limit is found here, and not when the first request of its model comes.
  for (const model of Object.keys(byModel)) createLimiter({ ...limits, ...own(model) }).close();
  const group = createLimiterGroup<BatchRequest>(({ body }) => String(body.model), {
    ...(name !== undefined && { name }),
    ...(telemetry !== undefined && { telemetry }),
    ...(classify && { classify }),
    each: (model) => ({ ...limits, ...own(model) }),
  });
  return {
    send: (source, attempt) => group.throttleFrom(source, attempt, { outcomes: true }),
    snapshots: () => Object.values(group.snapshot().keys),
    close: () => group.close(),
  };
}
