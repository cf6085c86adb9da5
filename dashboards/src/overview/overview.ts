import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { frame } from '../frame.ts';
import { layOut } from '../layout.ts';
import { latency, queues } from '../shared-panels.ts';
import { OVERVIEW, WHY_SLOW } from '../uids.ts';
import { fleetEvents, fleetShares, storeCalls, storeLatency, storeTimeline } from './fleet.ts';
import { bindingTimeline, inFlight, modeTimeline, throttledRate, throughput } from './flow.ts';
import { endedByInstance, throttledByInstance, waitingByInstance } from './instances.ts';
import { adaptivePace, breakerTimeline, byteBudget, otherPolicies, rateLimits } from './limits.ts';
import { bindingNow, breakerNow, fullness, modeNow, progressNow, throttledShare } from './now.ts';
import { backoffTime, medianWait, p95Wait, p99Wait, progressOverTime } from './waits.ts';

/** All limiters of a job at a glance. What is above the first heading needs no scrolling. */
export function overview(): Dashboard {
  const dashboard = frame({
    ...OVERVIEW,
    description: 'Which limit binds, how much of it is used, how long requests wait, and where.',
    other: WHY_SLOW,
    isForMany: true,
  });
  return layOut(dashboard, [
    {
      height: 4,
      panels: [
        [5, bindingNow()],
        [3, modeNow()],
        [3, breakerNow()],
        [4, throttledShare()],
        [5, fullness()],
        [4, progressNow()],
      ],
    },
    {
      height: 7,
      panels: [
        [8, throughput()],
        [8, queues()],
        [8, inFlight()],
      ],
    },
    {
      height: 6,
      panels: [
        [8, bindingTimeline()],
        [8, modeTimeline()],
        [8, throttledRate()],
      ],
    },
    {
      heading: 'Limits',
      height: 8,
      panels: [
        [12, byteBudget()],
        [12, rateLimits()],
      ],
    },
    {
      height: 8,
      panels: [
        [17, adaptivePace()],
        [7, otherPolicies()],
      ],
    },
    {
      heading: 'Waits',
      height: 8,
      panels: [
        [8, medianWait()],
        [8, p95Wait()],
        [8, p99Wait()],
      ],
    },
    {
      heading: 'Losses and progress',
      height: 8,
      panels: [
        [6, latency()],
        [6, backoffTime()],
        [6, breakerTimeline()],
        [6, progressOverTime()],
      ],
    },
    {
      heading: 'Instances',
      height: 8,
      panels: [
        [8, endedByInstance()],
        [8, waitingByInstance()],
        [8, throttledByInstance()],
      ],
    },
    {
      heading: 'Fleet',
      height: 8,
      panels: [
        [8, storeTimeline()],
        [16, fleetShares()],
      ],
    },
    {
      height: 8,
      panels: [
        [8, storeLatency()],
        [8, storeCalls()],
        [8, fleetEvents()],
      ],
    },
  ]);
}
