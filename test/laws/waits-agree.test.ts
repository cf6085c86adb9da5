import fc from 'fast-check';
import { from } from 'rxjs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createLimiter, type Outcome, throttle } from '../../src/index.ts';
import type { Instrumentation } from '../../src/model/instrumentation.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { ApiError, tooMany } from '../request/harness.ts';
import { runs } from '../support/runs.ts';
import { lengthOf, type Sdk, startSdk } from '../telemetry/sdk.ts';

let sdk: Sdk;
beforeEach(() => {
  sdk = startSdk();
});
afterEach(() => sdk.stop());

const strategies = [
  'rate' as const,
  false as const,
  { strategy: 'failures' as const, failureThreshold: 2, coolingMs: 500 },
  { strategy: 'latency' as const },
];

const script = fc.record({
  form: fc.constantFrom('throttle', 'limiter.throttle', 'run'),
  adaptive: fc.constantFrom(...strategies),
  concurrency: fc.integer({ min: 1, max: 4 }),
  maxBytes: fc.constantFrom(0, 30, 1e9),
  requests: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
  tokens: fc.option(fc.integer({ min: 40, max: 80 }), { nil: undefined }),
  paceMs: fc.option(fc.constantFrom(10, 70), { nil: undefined }),
  circuit: fc.boolean(),
  jobs: fc.array(
    fc.record({
      ms: fc.integer({ min: 2, max: 120 }),
      size: fc.integer({ min: 0, max: 40 }),
      answers: fc.array(fc.constantFrom('ok', 'busy', 'overloaded', 'failed'), { maxLength: 2 }),
    }),
    { minLength: 1, maxLength: 12 },
  ),
});

const ERRORS = {
  ok: undefined,
  busy: tooMany(100),
  overloaded: new ApiError(529),
  failed: new ApiError(500),
};

/** What each request has waited for, by its index: in ms, and the first of it. */
class Told implements Instrumentation {
  readonly queuedFor = new Map<number, string[]>();
  readonly sums = new Map<number, Record<string, number>>();

  queued(ticket: { index: number }, gate: string): void {
    this.queuedFor.set(ticket.index, [...(this.queuedFor.get(ticket.index) ?? []), gate]);
  }

  admitted(ticket: { index: number }, gate: string, waitMs: number, rounds: number): void {
    if (rounds === 0) return;
    const sums = this.sums.get(ticket.index) ?? {};
    sums[gate] = (sums[gate] ?? 0) + waitMs;
    this.sums.set(ticket.index, sums);
  }
}

type Script = typeof script extends fc.Arbitrary<infer S> ? S : never;

/** Plays a script; @returns what came out, and what was told on the way. */
async function play({ form, jobs, ...setup }: Script, name: string) {
  const clock = new ManualClock();
  const instrumentation = new Told();
  const { requests, tokens, paceMs } = setup;
  const options = {
    name,
    clock,
    instrumentation,
    random: () => 0.5,
    adaptive: setup.adaptive,
    concurrency: setup.concurrency,
    maxBytes: setup.maxBytes,
    ...(setup.circuit && {
      circuitBreaker: { consecutiveFailures: 2, openMs: 200, onOpen: 'wait' as const },
    }),
    ...(paceMs && { pace: { intervalMs: paceMs, jitter: 0 } }),
    ...((requests ?? tokens) !== undefined && {
      limits: {
        ...(requests && { requests: { limit: requests, windowMs: 150 } }),
        ...(tokens && { tokens: { limit: tokens, windowMs: 300 } }),
      },
    }),
  };
  type Job = (typeof jobs)[number];
  const project = async (job: Job, { attempt }: { attempt: number }) => {
    await new Promise((resolve) => clock.setTimer(() => resolve(1), job.ms));
    const error = ERRORS[job.answers[attempt - 1] ?? 'ok'];
    if (error !== undefined) throw error;
  };
  const streamed = { outcomes: true, estimate: ({ size }: Job) => ({ bytes: size, tokens: size }) };
  const outcomes: Outcome<Job, unknown>[] = [];
  const events: Record<string, number> = {};
  if (form === 'throttle') {
    from(jobs)
      .pipe(throttle(project, { ...options, ...streamed, outcomes: true }))
      .subscribe((outcome) => outcomes.push(outcome));
  } else {
    const limiter = createLimiter(options);
    limiter.events$.subscribe((event) => {
      if (event.kind === 'waited') events[event.gate] = (events[event.gate] ?? 0) + event.waitMs;
    });
    if (form === 'run') {
      for (const job of jobs) {
        const said = { bytes: job.size, tokens: job.size };
        limiter.run((context) => project(job, context), said).catch(() => undefined);
      }
    } else {
      from(jobs)
        .pipe(limiter.throttle(project, { ...streamed, outcomes: true }))
        .subscribe((outcome) => outcomes.push(outcome));
    }
  }
  await clock.runAllAsync({ maxMs: 600_000 });
  return { instrumentation, outcomes, events, form };
}

const total = (all: Iterable<Record<string, number>>): Record<string, number> => {
  const sums: Record<string, number> = {};
  for (const one of all) {
    for (const [gate, ms] of Object.entries(one)) sums[gate] = (sums[gate] ?? 0) + ms;
  }
  return Object.fromEntries(Object.entries(sums).filter(([, ms]) => ms > 1e-6));
};

const near = (sums: Record<string, number>) =>
  Object.fromEntries(Object.entries(sums).map(([gate, ms]) => [gate, expect.closeTo(ms, 3)]));

it('stats, hooks, events, spans and metrics tell of the same waits', async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(script, async (played) => {
      run += 1;
      // An SDK keeps a bounded number of series of a metric, and each run has its own.
      if (run % 50 === 0) {
        await sdk.stop();
        sdk = startSdk();
      }
      const name = `run ${run}`;
      sdk.forget();
      const { instrumentation, outcomes, events, form } = await play(played, name);
      const told = total(instrumentation.sums.values());

      // Each wait that was told to begin has ended, and begun with what it began with.
      for (const [index, gates] of instrumentation.queuedFor) {
        expect(
          Object.keys(instrumentation.sums.get(index) ?? {}),
          `${index}: ${gates}`,
        ).not.toEqual([]);
      }
      if (form !== 'run') {
        const stats = outcomes.map(({ stats: { waits } }) =>
          Object.fromEntries(Object.entries(waits).map(([gate, { waitMs }]) => [gate, waitMs])),
        );
        expect(total(stats)).toEqual(near(told));
        for (const { stats } of outcomes) {
          const { limits, waitMs = 0 } = stats.waits.rateLimit ?? {};
          const named = Object.values(limits ?? {}).reduce((sum, ms) => sum + ms, 0);
          expect(named).toBeCloseTo(waitMs, 3);
        }
      }
      if (form !== 'throttle') {
        const { retry: _, ...atGate } = told;
        expect(total([events])).toEqual(near(atGate));
      }
      const metrics = await sdk.collect();
      const measured: Record<string, number> = {};
      for (const { attributes, value } of metrics.points('headgate.gate.wait.duration')) {
        if (attributes['headgate.name'] !== name) continue;
        const gate = String(attributes['headgate.gate']);
        measured[gate] = (measured[gate] ?? 0) + (value as { sum: number }).sum * 1_000;
      }
      expect(total([measured])).toEqual(near(told));
      const traced = sdk
        .finished('headgate.wait')
        .map((span) => ({ [String(span.attributes['headgate.gate'])]: lengthOf(span) }));
      for (const [gate, ms] of Object.entries(total(traced))) {
        // Waits of up to 1 ms are events; spans are as long as their whole milliseconds.
        expect(Math.abs(ms - (told[gate] ?? 0)), gate).toBeLessThanOrEqual(60);
      }
    }),
    { numRuns: runs(60) },
  );
});

it('a request never waits for longer than it is there', async () => {
  await fc.assert(
    fc.asyncProperty(script, async (played) => {
      const { outcomes } = await play({ ...played, form: 'throttle' }, 'sums');
      expect(outcomes).toHaveLength(played.jobs.length);
      for (const { stats, request } of outcomes) {
        const waited = Object.values(stats.waits).reduce((sum, { waitMs }) => sum + waitMs, 0);
        // All else is spent in attempts: each takes as long as the job says.
        expect(waited + stats.attempts * request.ms).toBeCloseTo(stats.durationMs, 3);
      }
    }),
    { numRuns: runs(100) },
  );
});
