import fc from 'fast-check';
import { concatMap, from, type OperatorFunction, of } from 'rxjs';
import { expect, it } from 'vitest';
import {
  byteBudget,
  concurrencyLimit,
  dispatch,
  pace,
  rateLimit,
  Sized,
  throttle,
} from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { ApiError } from '../request/harness.ts';
import { runs } from '../support/runs.ts';

/** What every attempt waits for beside its slot and bytes: one policy at the most. */
const policy = fc.oneof(
  fc.constant(undefined),
  fc.record({
    kind: fc.constant('rateLimit' as const),
    requests: fc.integer({ min: 1, max: 4 }),
    bytes: fc.integer({ min: 40, max: 90 }),
    algorithm: fc.constantFrom(
      'sliding-window' as const,
      'token-bucket' as const,
      'fixed-window' as const,
    ),
  }),
  fc.record({ kind: fc.constant('pace' as const), intervalMs: fc.integer({ min: 1, max: 60 }) }),
);

const script = fc.record({
  concurrency: fc.integer({ min: 1, max: 5 }),
  maxBytes: fc.integer({ min: 0, max: 100 }),
  policy,
  jobs: fc.array(
    fc.record({
      afterMs: fc.constantFrom(0, 0, 0, 7, 40, 300),
      ms: fc.integer({ min: 0, max: 150 }),
      bytes: fc.integer({ min: 0, max: 40 }),
      fails: fc.boolean(),
    }),
    { minLength: 1, maxLength: 25 },
  ),
});

interface Job {
  readonly afterMs: number;
  readonly ms: number;
  readonly bytes: number;
  readonly fails: boolean;
}

type Send = (job: Job) => Promise<void>;

/** Sends the jobs as they come; @returns which were sent when, and which ended when. */
async function play(
  jobs: readonly Job[],
  sending: (send: Send, clock: ManualClock) => OperatorFunction<Sized<Job>, { request: Job }>,
) {
  const clock = new ManualClock();
  const log: [what: string, index: number, at: number][] = [];
  const send = async (job: Job) => {
    log.push(['sent', jobs.indexOf(job), clock.now()]);
    await new Promise((resolve) => clock.setTimer(() => resolve(1), job.ms));
    if (job.fails) throw new ApiError(400);
  };
  const scheduled = from(jobs).pipe(
    concatMap((job) => {
      const sized = new Sized(job, job.bytes);
      if (job.afterMs === 0) return of(sized);
      return new Promise<Sized<Job>>((resolve) => {
        clock.setTimer(() => resolve(sized), job.afterMs);
      });
    }),
  );
  scheduled.pipe(sending(send, clock)).subscribe(({ request }) => {
    log.push(['ended', jobs.indexOf(request), clock.now()]);
  });
  await clock.runAllAsync({ maxMs: 1e6 });
  expect(clock.pendingTimers).toBe(0);
  return log;
}

const byTime = (log: readonly [what: string, index: number, at: number][]) =>
  log.toSorted(([, one, at], [, other, then]) => at - then || one - other);

it('the operators, slots and bytes first, send the same requests at the same times as throttle', async () => {
  await fc.assert(
    fc.asyncProperty(script, async ({ concurrency, maxBytes, policy, jobs }) => {
      const rates =
        policy?.kind === 'rateLimit'
          ? {
              limits: {
                requests: { limit: policy.requests, windowMs: 200, algorithm: policy.algorithm },
                bytes: { limit: policy.bytes, windowMs: 300, algorithm: policy.algorithm },
              },
            }
          : undefined;
      const paced =
        policy?.kind === 'pace' ? { intervalMs: policy.intervalMs, jitter: 0 } : undefined;
      const whole = await play(jobs, (send, clock) =>
        throttle(send, {
          clock,
          concurrency,
          maxBytes,
          adaptive: false,
          outcomes: true,
          ...rates,
          ...(paced && { pace: paced }),
        }),
      );
      const piped = await play(jobs, (send, clock) => (source) => {
        const held = source.pipe(
          concurrencyLimit({ concurrency, clock }),
          byteBudget({ maxBytes, clock }),
        );
        const sent = dispatch(send, { clock, outcomes: true });
        if (rates !== undefined) return held.pipe(rateLimit({ ...rates, clock }), sent);
        if (paced !== undefined) return held.pipe(pace({ ...paced, clock }), sent);
        return held.pipe(sent);
      });
      const sends = (log: typeof whole) => log.filter(([what]) => what === 'sent');
      expect(sends(piped)).toEqual(sends(whole));
      // What falls into one millisecond is told in the order of its timers.
      expect(byTime(piped)).toEqual(byTime(whole));
      expect(whole).toHaveLength(2 * jobs.length);
    }),
    { numRuns: runs(300) },
  );
});
