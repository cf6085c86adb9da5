/**
 * Knows the true limit: paces at its rate, and retries after random waits that grow with each 429.
 */
import { fullJitter } from '../../clients/helpers.ts';
import { WHOLE } from '../change.ts';
import type { ClientContext, Request, RunningClient } from '../client.ts';
import { BucketLimit } from '../limits.ts';
import { inFlightOf, perMsOf } from './documented.ts';
import { type Pace, PacedQueue } from './paced-queue.ts';

const BASE_MS = 500;
const MOST_MS = 8_000;

export function known(context: ClientContext): RunningClient {
  const { scenario, clock, random, send } = context;
  const failures = new Map<Request, number>();
  const queue = new PacedQueue<Request>(clock, paceOf(context), inFlightOf(context), (request) => {
    send(request, ({ status }) => {
      if (status === 200) failures.delete(request);
      else {
        const count = (failures.get(request) ?? 0) + 1;
        failures.set(request, count);
        clock.setTimer(() => queue.pushAgain(request), fullJitter(random, count, BASE_MS, MOST_MS));
      }
      queue.ended();
    });
  });
  const perSecond = 1_000 * perMsOf(scenario);
  return { handOver: (request) => queue.push(request), snapshot: () => ({ perSecond }) };
}

/** The burst of its own bucket: that of the provider's bucket; none if the provider has windows. */
function paceOf({ scenario }: ClientContext): Pace {
  const perMs = perMsOf(scenario);
  if (perMs === Number.POSITIVE_INFINITY) return { waitMs: () => 0, sent: () => undefined };
  const savesBurst = scenario.kind === 'token-bucket' || scenario.kind === 'gcra';
  const bucket = new BucketLimit(perMs, savesBurst ? scenario.burst : 1, WHOLE);
  return { waitMs: (now) => bucket.waitMs(now, 1), sent: (now) => bucket.charge(now, 1) };
}
