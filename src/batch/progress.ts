import { at } from './json.ts';
import type { PaceView } from './pace-view.ts';
import type { Stop } from './stop.ts';
import type { ErrorCount } from './tally.ts';

/**
 * - `starting`: the output and the input are being read;
 * - `running`; `draining`: nothing more is sent, and what is in flight ends; `ended`.
 */
export type BatchPhase = 'starting' | 'running' | 'draining' | 'ended';

/** The state of a run at one moment. */
export interface BatchProgress {
  readonly phase: BatchPhase;
  readonly elapsedMs: number;
  /** Lines that were looked at while starting. */
  readonly checked: number;
  /** Requests of the input; undefined while that is not known. */
  readonly total: number | undefined;
  /** Requests with a good result from earlier runs, and failed ones that are not sent again. */
  readonly doneBefore: number;
  readonly failedBefore: number;
  readonly ok: number;
  /** Of the good ones, those that the cache has answered. */
  readonly cached: number;
  readonly failed: number;
  readonly inFlight: number;
  readonly waiting: number;
  readonly attempts: number;
  /** Answers with status 429. */
  readonly rejected: number;
  /** Calls after the first of a request. */
  readonly retried: number;
  readonly ratePerSecond: number | undefined;
  readonly etaMs: number | undefined;
  readonly pace: PaceView | undefined;
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  /** Undefined: no prices are known. */
  readonly cost:
    | {
        readonly spent: number;
        /** What all will have cost; undefined: too early to say. */
        readonly forecast: number | undefined;
        /** Undefined: no bound. */
        readonly max: number | undefined;
      }
    | undefined;
  readonly errors: readonly ErrorCount[];
  /** How long the server has not answered, in ms; 0: it does. */
  readonly downForMs: number;
  /** How long it is waited for. */
  readonly outageMs: number;
  readonly stop: Stop | undefined;
}

/** What came of a run. */
export interface BatchReport extends BatchProgress {
  readonly output: string;
  /** Requests that have no result. */
  readonly left: number | undefined;
  /** Bytes of half a line, left by a crash, that were cut off. */
  readonly tornBytes: number;
}

/** @param lost results that are not in the file: their requests are left to be sent again */
export function reportOf(
  progress: BatchProgress,
  output: string,
  tornBytes: number,
  lost: readonly string[],
): BatchReport {
  const { total, doneBefore, failedBefore } = progress;
  const lostOk = lost.filter((line) => at(JSON.parse(line), 'error') === null).length;
  const ok = progress.ok - lostOk;
  const failed = progress.failed - (lost.length - lostOk);
  const left = total === undefined ? undefined : total - doneBefore - failedBefore - ok - failed;
  return { ...progress, ok, failed, output, left, tornBytes };
}
