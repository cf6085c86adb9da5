import {
  createLimiter,
  type Limiter,
  type LimiterOptions,
  type LimiterProgress,
  type Outcome,
  ProviderUnreachableError,
} from 'headgate';
import { seededRandom } from 'headgate/simulator';
import { concernsAll, sendAll } from './batch.ts';
import { createClient } from './client.ts';
import { openTarget } from './open-target.ts';
import type { Options } from './options.ts';
import { Progress } from './progress.ts';
import type { Prompt } from './prompts.ts';
import { buildReport, type Report } from './report.ts';
import { limitsOf } from './report-limits.ts';
import { ResultsFile, resultOf } from './results.ts';
import { Sender } from './sender.ts';
import { Interrupted, onSignals } from './signals.ts';
import { Tally } from './tally.ts';
import type { Target } from './target.ts';

/** The result of a run. */
export interface Ended {
  readonly report: Report;
  /** The limiter, whose state metrics report as long as it is referenced. */
  readonly limiter: Limiter;
}

/** Sends the prompts, shows the progress on standard error, and returns the result. */
export async function run(
  prompts: readonly Prompt[],
  options: Options,
  chosen: LimiterOptions,
): Promise<Ended> {
  const results = options.out === undefined ? undefined : new ResultsFile(options.out);
  try {
    const target = await openTarget(options);
    try {
      return await send(prompts, options, target, target.limitsOf(chosen), results);
    } finally {
      await target.close();
    }
  } finally {
    results?.close();
  }
}

/** How long the run waits for an unreachable server. */
const OUTAGE_MS = 5_000;

/** The error to report: that of the last attempt if the server was unreachable for that long. */
function reasonOf(error: unknown): unknown {
  return error instanceof ProviderUnreachableError ? error.cause : error;
}

async function send(
  prompts: readonly Prompt[],
  { model, seed }: Options,
  { baseUrl, apiKey, about, capacity }: Target,
  limits: LimiterOptions,
  results: ResultsFile | undefined,
): Promise<Ended> {
  const limiter = createLimiter({
    ...limits,
    name: 'batch',
    outageMs: OUTAGE_MS,
    total: prompts.length,
    random: seededRandom(seed),
  });
  const sender = new Sender(createClient({ baseUrl, model, apiKey }));
  const tally = new Tally();
  const stop = new AbortController();
  const startedAt = performance.now();
  let reported: LimiterProgress | undefined;
  limiter.progress$.subscribe((report) => {
    reported = report;
  });
  const look = () => ({
    done: tally.succeeded + tally.failed,
    prompts: prompts.length,
    active: sender.active,
    rejected: sender.rejected,
    reported,
    gates: limiter.snapshot(),
  });

  const progress = new Progress(process.stderr, look);
  progress.note(`${prompts.length} prompts to ${baseUrl}`);
  if (about !== undefined) progress.note(about);
  progress.note('waiting: how many do, and for what those of them that have got furthest');
  const release = onSignals(
    (signal) => {
      const { active } = sender;
      progress.note(
        active === 0
          ? `${signal}: nothing is in flight`
          : `${signal}: waiting up to 5 s for ${active} in flight; again to end at once`,
      );
      stop.abort(new Interrupted(signal));
    },
    () => progress.stop(),
  );
  const keep = (outcome: Outcome<Prompt, string>) => {
    tally.add(outcome);
    try {
      results?.write(resultOf(outcome));
    } catch (error) {
      stop.abort(error);
    }
    if (outcome.status !== 'failed') return;
    const error = reasonOf(outcome.error);
    if (concernsAll(error, tally.succeeded > 0)) stop.abort(error);
  };
  try {
    await sendAll(prompts, limiter, sender, keep, stop.signal);
  } finally {
    release();
    progress.stop();
  }
  const { attempts, rejected, tokens } = sender;
  const report = buildReport(tally, {
    ...endingOf(stop.signal),
    prompts: prompts.length,
    attempts,
    rejected,
    tokens,
    elapsedMs: performance.now() - startedAt,
    limits: limitsOf(limits, limiter.snapshot()),
    capacity: capacity(),
  });
  return { report, limiter };
}

function endingOf({ aborted, reason }: AbortSignal): Pick<Report, 'ended' | 'error'> {
  if (!aborted) return { ended: 'complete', error: null };
  if (reason instanceof Interrupted) return { ended: reason.signal, error: null };
  return { ended: 'error', error: reason instanceof Error ? reason.message : String(reason) };
}
