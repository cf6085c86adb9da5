import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { frame, waitedAt } from '../frame.ts';
import { layOut } from '../layout.ts';
import { latency, queues } from '../shared-panels.ts';
import { OVERVIEW, WHY_SLOW } from '../uids.ts';
import {
  adaptations,
  adaptiveRate,
  attemptDurations,
  attemptsByError,
  backoffLengths,
  deniedByLimit,
  errorDurations,
  givenUp,
  limitUse,
  retries,
  tokens,
} from './attempts.ts';
import { chunkReasons, chunkSizes, estimatedSizes, estimateRatio } from './sizes.ts';
import {
  binding,
  closedShare,
  estimateNow,
  retriesNow,
  slowestRequests,
  waitingShare,
} from './summary.ts';
import { waitHeatMap, waitingByGate } from './time.ts';

/** One limiter in depth. What is above the first heading needs no scrolling. */
export function whySlow(): Dashboard {
  const dashboard = frame({
    ...WHY_SLOW,
    description: 'Where the time of one limiter’s requests goes, and what would make them faster.',
    other: OVERVIEW,
    isForMany: false,
  }).withVariable(waitedAt());
  return layOut(dashboard, [
    {
      height: 4,
      panels: [
        [4, binding()],
        [4, slowestRequests()],
        [4, waitingShare()],
        [4, retriesNow()],
        [4, closedShare()],
        [4, estimateNow()],
      ],
    },
    {
      height: 9,
      panels: [
        [8, waitingByGate()],
        [8, queues()],
        [8, latency()],
      ],
    },
    {
      heading: 'Attempts',
      height: 8,
      panels: [
        [8, attemptsByError()],
        [8, retries()],
        [8, errorDurations()],
      ],
    },
    {
      height: 8,
      panels: [
        [16, attemptDurations()],
        [8, tokens()],
      ],
    },
    {
      height: 8,
      panels: [
        [12, givenUp()],
        [12, adaptations()],
      ],
    },
    {
      heading: 'What held them back',
      height: 8,
      panels: [
        [16, adaptiveRate()],
        [8, backoffLengths()],
      ],
    },
    {
      height: 8,
      panels: [
        [12, deniedByLimit()],
        [12, limitUse()],
      ],
    },
    {
      heading: 'Sizes and chunks',
      height: 8,
      panels: [
        [6, estimateRatio()],
        [6, estimatedSizes()],
        [6, chunkSizes()],
        [6, chunkReasons()],
      ],
    },
    // Last: the more gates there are, the longer it gets.
    { heading: 'Waits, gate by gate', height: 9, panels: [[24, waitHeatMap()]] },
  ]);
}
