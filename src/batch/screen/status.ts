import { printable } from '../printable.ts';
import type { BatchProgress } from '../progress.ts';
import type { QueueCounts } from '../queue/run-queue.ts';
import { count, duration, money, percent, plural, rate } from './text.ts';

/** The severity of a status. */
export type Mood = 'calm' | 'held' | 'trouble';

export interface Status {
  readonly mood: Mood;
  readonly text: string;
}

/** The present activity of a run, in a sentence. */
export function statusOf(progress: BatchProgress): Status {
  const { phase, checked, stop, inFlight, downForMs } = progress;
  if (phase === 'starting') {
    return {
      mood: 'calm',
      text: `Checking the input before anything is sent: ${plural(checked, 'line')}`,
    };
  }
  if (phase === 'draining') {
    const isAsked = stop === undefined || stop.reason === 'interrupted';
    const why = isAsked ? 'Stopping' : `Stopping: ${printable(stop.message)}`;
    const left = inFlight === 0 ? 'saving results' : `${plural(inFlight, 'answer')} still to come`;
    return { mood: 'held', text: `${why}. Now ${left}; Ctrl-C again ends at once` };
  }
  if (downForMs > 0) return outageStatus(progress);
  return runningStatus(progress);
}

function outageStatus({ downForMs, outageMs }: BatchProgress): Status {
  const left = Math.max(0, outageMs - downForMs);
  return {
    mood: 'trouble',
    text:
      `The server has not answered for ${duration(downForMs)}. It is tried with single requests for ` +
      `${duration(left)} more; nothing is lost`,
  };
}

function runningStatus(progress: BatchProgress): Status {
  const { pace, waiting, inFlight, attempts, rejected, doneBefore, failedBefore } = progress;
  const { workers } = progress;
  if (workers !== undefined && workers.queued + workers.active > 0) return workersStatus(workers);
  if (attempts === 0) {
    const isPassing = waiting === 0 && doneBefore + failedBefore > 0;
    const text = isPassing ? 'Passing over lines that have a result' : 'Sending the first requests';
    return { mood: 'calm', text };
  }
  if (pace === undefined || waiting === 0 || pace.heldBy === undefined) {
    return { mood: 'calm', text: `Nothing holds requests back: ${count(inFlight)} in flight` };
  }
  if (pace.slowedTo === undefined) {
    return { mood: 'held', text: `Requests are held by ${pace.heldBy}` };
  }
  // A 503 or 529 slows the run down too.
  const does = rejected > 0 ? 'answers 429' : 'rejects requests';
  return { mood: 'trouble', text: `The provider ${does}: the run sends ${pace.slowedTo}` };
}

function workersStatus({ queued, active, hasWorker }: QueueCounts): Status {
  const text = `Waiting for workers: ${count(queued)} in the queue, ${count(active)} at work`;
  if (hasWorker !== false) return { mood: 'calm', text };
  return { mood: 'held', text: `${text}. There is no worker: start headgate work` };
}

/** The state of a run in one line. */
export function plainLine(progress: BatchProgress): string {
  const { total, doneBefore, failedBefore, ok, failed, rejected, etaMs, ratePerSecond } = progress;
  const { cost, phase } = progress;
  if (phase === 'starting') return statusOf(progress).text;
  const done = doneBefore + failedBefore + ok + failed;
  const parts = [
    total === undefined
      ? `${count(done)} done`
      : `${count(done)} of ${count(total)} (${percent(done, total)})`,
    ratePerSecond === undefined ? undefined : rate(ratePerSecond),
    etaMs === undefined ? undefined : `about ${duration(etaMs)} left`,
    `${count(failed + failedBefore)} failed`,
    `${count(rejected)} x 429`,
    cost && `cost ${money(cost.spent)}`,
    statusOf(progress).text,
  ];
  return parts.filter((part) => part !== undefined).join(' | ');
}
