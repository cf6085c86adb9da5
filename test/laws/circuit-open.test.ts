import fc from 'fast-check';
import { range } from 'rxjs';
import { expect, it } from 'vitest';
import { createLimiter, type Outcome } from '../../src/index.ts';
import type { OnOpen } from '../../src/policies/circuit-types.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { ApiError } from '../request/harness.ts';
import { runs } from '../support/runs.ts';

type Via = 'run' | 'acquire' | 'stream';

/** One request, and what has become of it. */
interface Job {
  readonly via: Via;
  sent: number;
  inFlight: boolean;
  readonly ends: unknown[];
}

const step = fc.record({
  afterMs: fc.constantFrom(0, 1, 20, 100, 700, 5_000),
  what: fc.constantFrom('run', 'acquire', 'stream', 'breaks', 'heals', 'isolate', 'end'),
  count: fc.integer({ min: 1, max: 4 }),
});

const script = fc.record({
  onOpen: fc.constantFrom<OnOpen | undefined>(undefined, 'fail', 'wait'),
  consecutiveFailures: fc.integer({ min: 1, max: 3 }),
  openMs: fc.constantFrom(50, 400, 3_000),
  halfOpenProbes: fc.integer({ min: 1, max: 2 }),
  concurrency: fc.integer({ min: 1, max: 5 }),
  intervalMs: fc.constantFrom(0, 30),
  maxAttempts: fc.constantFrom(1, 3),
  latencyMs: fc.constantFrom(0, 10, 300),
  steps: fc.array(step, { maxLength: 30 }),
});

type Script = typeof script extends fc.Arbitrary<infer S> ? S : never;

/** A limiter with a circuit breaker, a server that breaks and heals, and all that is sent to it. */
class World {
  readonly jobs: Job[] = [];
  readonly clock = new ManualClock();
  readonly limiter;
  isBroken = false;
  /** Attempts that began while the circuit was open. */
  sentWhileOpen = 0;
  private readonly latencyMs: number;

  constructor({ onOpen, intervalMs, latencyMs, maxAttempts, concurrency, ...breaker }: Script) {
    const { consecutiveFailures, openMs, halfOpenProbes } = breaker;
    this.latencyMs = latencyMs;
    this.limiter = createLimiter({
      clock: this.clock,
      random: () => 0.5,
      adaptive: false,
      concurrency,
      maxAttempts,
      pace: { intervalMs, jitter: 0 },
      circuitBreaker: { consecutiveFailures, openMs, halfOpenProbes, ...(onOpen && { onOpen }) },
    });
  }

  get circuit() {
    return this.limiter.snapshot().circuitBreaker?.state;
  }

  send(via: Via, count: number): void {
    if (via === 'stream') this.stream(count);
    for (let n = 0; n < count && via !== 'stream'; n += 1) {
      const job = this.job(via);
      const end = (what: unknown) => job.ends.push(what);
      const task = () => this.attempt(job);
      (via === 'run' ? this.limiter.run(task) : this.lease(task)).then(end, end);
    }
  }

  private stream(count: number): void {
    const jobs = Array.from({ length: count }, () => this.job('stream'));
    const project = (n: number) => this.attempt(jobs[n] as Job);
    const told = ({ request, ...outcome }: Outcome<number, string>) =>
      jobs[request]?.ends.push(outcome.status === 'ok' ? outcome.value : outcome.error);
    range(0, count)
      .pipe(this.limiter.throttle(project, { outcomes: true }))
      .subscribe(told);
  }

  private job(via: Via): Job {
    const job: Job = { via, sent: 0, inFlight: false, ends: [] };
    this.jobs.push(job);
    return job;
  }

  private async lease(task: () => Promise<string>): Promise<string> {
    const lease = await this.limiter.acquire();
    try {
      const answer = await task();
      lease.release('ok');
      return answer;
    } catch (error) {
      lease.release('failed', error);
      throw error;
    }
  }

  private async attempt(job: Job): Promise<string> {
    if (this.circuit === 'open') this.sentWhileOpen += 1;
    job.sent += 1;
    job.inFlight = true;
    await new Promise<void>((done) => this.clock.setTimer(done, this.latencyMs));
    job.inFlight = false;
    if (this.isBroken) throw new ApiError(500);
    return 'ok';
  }
}

const isRefusal = (end: unknown) => (end as { code?: string } | null)?.code === 'CIRCUIT_OPEN';

it('while the circuit is open, each request waits or fails at once, as its kind has it', async () => {
  const play = async (given: Script) => {
    const world = new World(given);
    const { clock, jobs, limiter } = world;
    const fails = ({ via }: Job) =>
      (given.onOpen ?? (via === 'stream' ? 'wait' : 'fail')) === 'fail';
    const ends: { end(): void }[] = [];
    for (const { afterMs, what, count } of given.steps) {
      if (what === 'breaks' || what === 'heals') world.isBroken = what === 'breaks';
      else if (what === 'isolate')
        ends.push(limiter.circuit?.isolate('by hand') as { end(): void });
      else if (what === 'end') ends.pop()?.end();
      else world.send(what, count);
      await clock.advanceAsync(0);
      await clock.advanceAsync(afterMs);
      const waiting = jobs.filter(({ sent, ends: [end] }) => sent === 0 && end === undefined);
      if (world.circuit === 'open') expect(waiting.filter(fails)).toEqual([]);
    }
    world.isBroken = false;
    for (const each of ends) each.end();
    await clock.advanceAsync(600_000);
    // Where nothing waited, the probes are still to come.
    for (let n = 0; n < given.halfOpenProbes; n += 1) {
      if (world.circuit !== 'closed') world.send('run', 1);
      await clock.advanceAsync(10_000);
    }
    expect(world.sentWhileOpen).toBe(0);
    expect(jobs.filter(({ ends: { length } }) => length !== 1)).toEqual([]);
    const refused = jobs.filter(({ ends: [end] }) => isRefusal(end));
    expect(refused.filter((job) => !fails(job))).toEqual([]);
    for (const {
      ends: [end],
    } of refused)
      expect((end as { retryAfterMs: number }).retryAfterMs).toBeGreaterThanOrEqual(0);
    // What waited was sent when the circuit had closed.
    expect(jobs.filter(({ sent, ends: [end] }) => sent === 0 && !isRefusal(end))).toEqual([]);
    expect(world.circuit).toBe('closed');
    expect(limiter.snapshot()).toMatchObject({ waiting: 0, concurrency: { inFlight: 0 } });
    expect(clock.pendingTimers).toBe(0);
  };
  await fc.assert(fc.asyncProperty(script, play), { numRuns: runs(60) });
});
