import type { BatchProgress } from '../progress.ts';
import { statusOf } from './status.ts';
import { count, duration, money, percent, rate } from './words.ts';

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
