import { expect, it } from 'vitest';
import { createLimiter } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { fate } from '../../limiter/harness.ts';

type Answer = (now: number) => Response;
type Server = (clock: ManualClock) => { readonly arrive: Answer; readonly leave: () => void };

/** The seconds until all requests are answered, and the number of rejections. */
async function measured(server: Server, requests: number, latencyMs: number) {
  const clock = new ManualClock();
  const limiter = createLimiter({ clock, telemetry: false });
  const { arrive, leave } = server(clock);
  let rejected = 0;
  let answered = 0;
  let endedAt = 0;
  const send = async () => {
    const answer = arrive(clock.now());
    if (answer.ok) await new Promise<void>((resolve) => clock.setTimer(resolve, latencyMs));
    else await new Promise<void>((resolve) => clock.setTimer(resolve, 3));
    if (!answer.ok) rejected += 1;
    else {
      answered += 1;
      endedAt = clock.now();
      leave();
    }
    return answer;
  };
  const calls = Array.from({ length: requests }, () => fate(limiter.run(send)));
  for (let s = 0; s < 120 && answered < requests; s += 1) await clock.advanceAsync(1_000);
  expect(new Set(calls.map(({ state }) => state))).toEqual(new Set(['ok']));
  return { seconds: endedAt / 1_000, rejected };
}

/**
 * Traefik's `rateLimit`: a bucket of one request. A request waits for at most half an interval.
 * `Retry-After` is rounded up to whole seconds, `X-Retry-In` is exact.
 */
function spaced(perSecond: number): Server {
  return () => {
    const gapMs = 1_000 / perSecond;
    let nextAt = 0;
    const arrive = (now: number) => {
      const waitMs = Math.max(0, nextAt - now);
      if (waitMs > gapMs / 2) {
        const headers = { 'retry-after': '1', 'x-retry-in': `${waitMs.toFixed(3)}ms` };
        return new Response(null, { status: 429, headers });
      }
      nextAt = Math.max(nextAt, now) + gapMs;
      return new Response('{}');
    };
    return { arrive, leave: () => undefined };
  };
}

/** Serves so many requests at once, and rejects the others in this way. */
function capped(most: number, refuse: () => Response): Server {
  return () => {
    let inFlight = 0;
    const arrive = () => {
      if (inFlight >= most) return refuse();
      inFlight += 1;
      return new Response('{}');
    };
    const leave = () => {
      inFlight -= 1;
    };
    return { arrive, leave };
  };
}

it('an exact wait beside a rounded one keeps the rate of a limit on distances', async () => {
  // Ideal: 30 s. By `Retry-After` alone: 45 s.
  const { seconds, rejected } = await measured(spaced(10), 300, 30);
  expect(seconds).toBeLessThan(34);
  expect(rejected).toBeLessThan(40);
});

/** Kubernetes' API Priority and Fairness: its waits would look like those of a rate. */
it('a cap on requests in flight is known by the header of Kubernetes', async () => {
  const refuse = () => {
    const headers = { 'retry-after': '1', 'x-kubernetes-pf-flowschema-uid': 'f' };
    return new Response('Too many requests, please try again later.', { status: 429, headers });
  };
  // Ideal: 12 s. As a rate: 23 s.
  const { seconds, rejected } = await measured(capped(5, refuse), 300, 200);
  expect(seconds).toBeLessThan(14);
  expect(rejected).toBeLessThan(40);
});
