import fc from 'fast-check';
import { from } from 'rxjs';
import { expect, vi } from 'vitest';
import {
  createLimiter,
  createLimiterGroup,
  type Limiter,
  type LimiterOptions,
  type Outcome,
  throttle,
} from '../../src/index.ts';
import type { Instrumentation, WaitDetail } from '../../src/model/instrumentation.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { ApiError, tooMany } from '../request/harness.ts';

/** Plays scripts of waiting requests, in all forms, and records all reports of their waits. */

const strategies = [
  'rate' as const,
  false as const,
  { strategy: 'failures' as const, failureThreshold: 2, coolingMs: 500 },
  { strategy: 'latency' as const },
];

/** Options, jobs, and the times from one look at them to the next. */
export const script = fc.record({
  form: fc.constantFrom('throttle', 'limiter.throttle', 'run', 'wrap', 'acquire', 'fetch', 'group'),
  adaptive: fc.constantFrom(...strategies),
  concurrency: fc.integer({ min: 1, max: 4 }),
  maxBytes: fc.constantFrom(0, 30, 1e9),
  requests: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
  tokens: fc.option(fc.integer({ min: 40, max: 80 }), { nil: undefined }),
  paceMs: fc.option(fc.constantFrom(10, 70), { nil: undefined }),
  circuit: fc.boolean(),
  looks: fc.array(fc.integer({ min: 0, max: 120 }), { minLength: 3, maxLength: 3 }),
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

/** A part of a wait, as it was booked. */
interface Part {
  readonly gate: string;
  readonly from: number;
  readonly to: number;
}

/** What requests have waited for: as each wait began, and as it was booked when it had ended. */
class Told implements Instrumentation {
  readonly parts: Part[] = [];
  /** For each wait that has ended: what it was told to begin with, and its parts. */
  readonly waits: { readonly began: string; readonly parts: readonly Part[] }[] = [];
  /** The present waits, and their booked parts. */
  readonly open = new Map<object, { readonly began: string; readonly parts: Part[] }>();
  readonly #clock: ManualClock;

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  queued(ticket: object, gate: string): void {
    expect(this.open.has(ticket)).toBe(false);
    this.open.set(ticket, { began: gate, parts: [] });
  }

  admitted(
    ticket: object,
    gate: string,
    waitMs: number,
    rounds: number,
    detail?: WaitDetail,
  ): void {
    if (rounds === 0) return;
    const { endedMsAgo = 0 } = detail ?? {};
    const to = this.#clock.now() - endedMsAgo;
    const part = { gate, from: to - waitMs, to };
    this.parts.push(part);
    const wait = this.open.get(ticket);
    wait?.parts.push(part);
    if (wait === undefined || endedMsAgo > 0) return;
    this.open.delete(ticket);
    this.waits.push(wait);
  }

  /** How long requests have waited for each, in ms. */
  get sums(): Record<string, number> {
    return total(this.parts.map(({ gate, from, to }) => ({ [gate]: to - from })));
  }

  /** What a wait may have begun with: what bound first, or what ceased to bind in that instant. */
  firstOf([first]: readonly Part[]): readonly (string | undefined)[] {
    const ceased = this.parts.filter(({ to }) => Math.abs(to - (first?.from ?? to)) < 1e-6);
    return [first, ...ceased].map((part) => part?.gate);
  }

  /** The number of waiting requests by gate at a time. */
  waitingAt(at: number): Record<string, number> {
    return total(
      this.parts.map(({ gate, from, to }) => ({ [gate]: from < at && at < to ? 1 : 0 })),
    );
  }
}

/** What was shown at a time: how many wait by the gauge, and what binds by the snapshot. */
interface Look {
  readonly at: number;
  readonly queued: Record<string, number>;
  readonly binding: string | undefined;
}

type Script = typeof script extends fc.Arbitrary<infer S> ? S : never;
type Job = Script['jobs'][number];

/** The forms that take one request after the other: each sends all jobs. */
const FORMS: Record<string, (limiter: Limiter, jobs: readonly Job[], work: Work) => void> = {
  run(limiter, jobs, work) {
    for (const job of jobs) limiter.run(work.of(job), costOf(job)).catch(() => undefined);
  },
  wrap(limiter, jobs, work) {
    const wrapped = limiter.wrap((job: Job) => work.attempt(job), costOf);
    for (const job of jobs) wrapped(job).catch(() => undefined);
  },
  acquire(limiter, jobs, work) {
    for (const job of jobs) {
      limiter
        .acquire(costOf(job))
        .then((lease) =>
          work.attempt(job).then(
            () => lease.release(),
            (error) => lease.release('failed', error),
          ),
        )
        .catch(() => undefined);
    }
  },
  fetch(limiter, jobs, work) {
    vi.stubGlobal('fetch', async (url: string) => {
      const error = await work
        .attempt(jobs[Number(new URL(url).port) - 1_000] as Job)
        .catch((thrown: ApiError) => thrown);
      return new Response(null, { status: error?.status ?? 200, headers: error?.headers ?? {} });
    });
    for (const [index, { size }] of jobs.entries()) {
      limiter
        .fetch(`http://api:${1_000 + index}`, { method: 'POST', body: 'x'.repeat(size) })
        .catch(() => undefined);
    }
  },
};

const costOf = ({ size }: Job) => ({ bytes: size, tokens: size });

/** Does jobs: each attempt takes some time, and ends as the script says. */
class Work {
  readonly #clock: ManualClock;
  readonly #attempts = new Map<Job, number>();

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  of(job: Job) {
    return () => this.attempt(job);
  }

  async attempt(job: Job): Promise<void> {
    const attempt = this.#attempts.get(job) ?? 0;
    this.#attempts.set(job, attempt + 1);
    await new Promise((resolve) => this.#clock.setTimer(() => resolve(1), job.ms));
    const error = ERRORS[job.answers[attempt] ?? 'ok'];
    if (error !== undefined) throw error;
  }
}

/**
 * Plays a script.
 * @param queued how many wait for each, as the gauge shows it now
 * @returns what came out, and what was told on the way
 */
export async function play(
  { form, jobs, looks: pauses, ...setup }: Script,
  name: string,
  queued: () => Promise<Record<string, number>>,
) {
  const clock = new ManualClock();
  const told = new Told(clock);
  const work = new Work(clock);
  const { requests, tokens, paceMs } = setup;
  const options = {
    name,
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
  } satisfies LimiterOptions;
  const around = { clock, instrumentation: told };
  const project = (job: Job) => work.attempt(job);
  const streamed = { outcomes: true, estimate: costOf } as const;
  const outcomes: Outcome<Job, unknown>[] = [];
  const events: Record<string, number> = {};
  let limiter: Limiter | undefined;
  if (form === 'throttle') {
    from(jobs)
      .pipe(throttle(project, { ...options, ...around, ...streamed }))
      .subscribe((outcome) => outcomes.push(outcome));
  } else if (form === 'group') {
    const { name: _, ...each } = options;
    const group = createLimiterGroup((key: string) => key, { name, ...around, each });
    for (const [index, job] of jobs.entries()) {
      group.run(index % 2 === 0 ? 'even' : 'odd', work.of(job), costOf(job)).catch(() => undefined);
    }
  } else {
    limiter = createLimiter({ ...options, ...around });
    limiter.events$.subscribe((event) => {
      if (event.kind === 'waited') events[event.gate] = (events[event.gate] ?? 0) + event.waitMs;
    });
    if (form === 'limiter.throttle') {
      from(jobs)
        .pipe(limiter.throttle(project, streamed))
        .subscribe((outcome) => outcomes.push(outcome));
    } else FORMS[form]?.(limiter, jobs, work);
  }
  const looks: Look[] = [];
  for (const ms of pauses) {
    // Nothing else happens at such a time.
    await clock.advanceToAsync(Math.floor(clock.now()) + ms + 0.377);
    looks.push({
      at: clock.now(),
      queued: await queued(),
      binding: limiter?.snapshot().binding,
    });
  }
  // A group looks for idle keys as long as it is open.
  if (form === 'group') await clock.advanceAsync(600_000);
  else await clock.runAllAsync({ maxMs: 600_000 });
  return { told, outcomes, events, looks, form };
}

/** The sums of numbers by their keys, without those that are 0. */
export function total(all: Iterable<Record<string, number>>): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const one of all) {
    for (const [gate, ms] of Object.entries(one)) sums[gate] = (sums[gate] ?? 0) + ms;
  }
  return Object.fromEntries(Object.entries(sums).filter(([, ms]) => ms > 1e-6));
}
