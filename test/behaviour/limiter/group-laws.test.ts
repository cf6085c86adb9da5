import fc from 'fast-check';
import { Subject, type Subscription } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createLimiterGroup, type Lease, Sized } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { expectAllIdle } from '../../limiter/group-rig.ts';
import { fate } from '../../limiter/harness.ts';
import { ApiError, type Pending, pending, tooMany } from '../../request/harness.ts';
import { runs } from '../../support/runs.ts';

const KEYS = ['a', 'b', 'c', 'd'];
const OWN = 2;
const SHARED = 3;
const TOKENS = 40;
const OWN_REQUESTS = 4;
const WINDOW_MS = 500;

const step = fc.record({
  do: fc.constantFrom(
    ...['run', 'run', 'run', 'stream', 'stream', 'stream', 'acquire', 'tryAcquire', 'end', 'end'],
    ...['end', 'fail', 'throttle', 'release', 'abort', 'unsubscribe', 'wait', 'wait', 'sleep'],
  ),
  key: fc.constantFrom(...KEYS),
  tokens: fc.oneof(fc.nat(15), fc.constantFrom(TOKENS, TOKENS + 1)),
  priority: fc.integer({ min: 0, max: 2 }),
  inside: fc.constantFrom('nothing', 'nothing', 'run', 'throw', 'unsubscribe', 'abort'),
  pick: fc.nat(),
  ms: fc.constantFrom(0, 1, 50, 500),
});
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

interface Req {
  readonly key: string;
  readonly step: Step;
}

const setup = fc.record({
  pace: fc.option(fc.constantFrom(0, 20), { nil: undefined }),
  maxQueue: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
  waitTimeoutMs: fc.option(fc.constant(400), { nil: undefined }),
  ordered: fc.boolean(),
  hasPriority: fc.boolean(),
  isHeard: fc.boolean(),
});
type Setup = typeof setup extends fc.Arbitrary<infer S> ? S : never;

/** A group with its users. */
class World {
  readonly clock = new ManualClock();
  readonly group;
  readonly calls: { key: string; call: Pending<string> }[] = [];
  readonly leases: Lease[] = [];
  readonly aborts: AbortController[] = [];
  readonly sent: { key: string; at: number; tokens: number }[] = [];
  readonly fates: ReturnType<typeof fate>[] = [];
  source = new Subject<Sized<Req>>();
  subscription: Subscription | undefined;
  isEnding = false;
  readonly #setup: Setup;

  constructor(said: Setup) {
    this.#setup = said;
    const { clock } = this;
    const { pace, maxQueue, waitTimeoutMs } = said;
    this.group = createLimiterGroup(({ key }: Req) => key, {
      ...{ clock, random: () => 0, idleMs: 100 },
      each: (key) => ({
        concurrency: key === 'a' ? 1 : OWN,
        limits: { requests: { limit: OWN_REQUESTS, windowMs: WINDOW_MS } },
        ...{ backoff: { backoffMs: 200, throttledForMs: 100 }, maxAttempts: 3 },
        ...(maxQueue !== undefined && { maxQueue }),
        ...(waitTimeoutMs !== undefined && { waitTimeoutMs }),
      }),
      shared: {
        concurrency: SHARED,
        limits: { tokens: { limit: TOKENS, windowMs: WINDOW_MS } },
        ...(pace !== undefined && { pace: { intervalMs: pace } }),
      },
    });
    if (said.isHeard) this.group.events$.subscribe();
    this.#subscribe();
  }

  /** What an attempt does in the turn in which it is sent. */
  readonly #send = ({ key, step }: Req): Promise<string> => {
    this.#passed(key, step.tokens);
    const inside = this.isEnding ? 'nothing' : step.inside;
    if (inside === 'throw') throw new ApiError(400);
    if (inside === 'unsubscribe') this.subscription?.unsubscribe();
    if (inside === 'abort') this.#abort(step.pick);
    const other = KEYS[step.pick % KEYS.length] ?? key;
    if (inside === 'run') {
      this.#run({ key: other, step: { ...step, key: other, inside: 'nothing', tokens: 1 } });
    }
    const call = pending<string>();
    if (this.isEnding) call.resolve('end');
    else this.calls.push({ key, call });
    return call.promise;
  };

  async play(step: Step): Promise<void> {
    const { key, tokens, pick, priority } = step;
    if (step.do === 'run') this.#run({ key, step });
    else if (step.do === 'stream') {
      if (this.subscription?.closed) this.#subscribe();
      this.source.next(new Sized({ key, step }, 0, tokens));
    } else if (step.do === 'acquire') {
      const { signal } = this.#controller();
      const acquired = this.group.acquire(key, { tokens, priority, signal });
      const kept = acquired.then((lease) => {
        this.#keep(key, tokens, lease);
      });
      this.fates.push(fate(kept));
    } else if (step.do === 'tryAcquire') this.#tryAcquire(step);
    else if (step.do === 'end') this.#taken(pick)?.resolve('ok');
    else if (step.do === 'fail') this.#taken(pick)?.reject(new ApiError(500));
    else if (step.do === 'throttle') this.#taken(pick)?.reject(tooMany(step.ms));
    else if (step.do === 'release') this.#release(pick);
    else if (step.do === 'abort') this.#abort(pick);
    else if (step.do === 'unsubscribe') this.subscription?.unsubscribe();
    else if (step.do === 'sleep') await this.clock.advanceAsync(step.ms * 10);
    else await this.clock.advanceAsync(step.ms);
    this.check();
  }

  check(): void {
    const { shared, keys } = this.group.snapshot();
    expect(shared?.concurrency?.inFlight).toBeLessThanOrEqual(SHARED);
    for (const [key, { concurrency, rateLimit }] of Object.entries(keys)) {
      expect(concurrency.inFlight).toBeLessThanOrEqual(key === 'a' ? 1 : OWN);
      expect(rateLimit?.requests?.used).toBeLessThanOrEqual(OWN_REQUESTS);
    }
  }

  /** All answers come, all leases go back, and everyone gets through. */
  async finish(): Promise<void> {
    this.isEnding = true;
    this.source.complete();
    for (let round = 0; round < 5; round += 1) {
      while (this.calls.length > 0) this.#taken(0)?.resolve('end');
      while (this.leases.length > 0) this.#release(0);
      await this.clock.advanceAsync(20_000);
    }
    expect(this.fates.filter(({ state }) => state === 'open')).toEqual([]);
    expect(this.subscription?.closed).toBe(true);
    expectAllIdle(this.group);
    const drained = fate(this.group.drain());
    await this.clock.advanceAsync(1_000);
    expect(drained.state).toBe('ok');
    expect(this.group.keys).toEqual([]);
    expect(this.clock.pendingTimers).toBe(0);
  }

  #subscribe(): void {
    this.source = new Subject();
    const { ordered, hasPriority } = this.#setup;
    const priority = ({ step }: Req) => step.priority;
    const options = { ordered, outcomes: true, ...(hasPriority && { priority }) };
    this.subscription = this.source.pipe(this.group.throttle(this.#send, options)).subscribe();
  }

  #run(req: Req): void {
    const { tokens, priority } = req.step;
    const { signal } = this.#controller();
    const options = { tokens, priority, signal };
    this.fates.push(fate(this.group.run(req.key, () => this.#send(req), options)));
  }

  #tryAcquire({ key, tokens }: Step): void {
    try {
      const lease = this.group.tryAcquire(key, { tokens });
      if (lease !== undefined) this.#keep(key, tokens, lease);
    } catch (error) {
      expect(error).toMatchObject({ name: 'CostAboveLimitError' });
    }
  }

  #keep(key: string, tokens: number, lease: Lease): void {
    this.#passed(key, tokens);
    this.leases.push(lease);
  }

  /** No window holds more than its limit, whether the key was dropped meanwhile or not. */
  #passed(key: string, tokens: number): void {
    const at = this.clock.now();
    this.sent.push({ key, at, tokens });
    const recent = this.sent.filter((one) => at - one.at < WINDOW_MS);
    expect(recent.filter((one) => one.key === key).length).toBeLessThanOrEqual(OWN_REQUESTS);
    const sum = recent.reduce((total, one) => total + one.tokens, 0);
    expect(sum).toBeLessThanOrEqual(TOKENS);
  }

  #controller(): AbortController {
    const controller = new AbortController();
    this.aborts.push(controller);
    return controller;
  }

  #abort(pick: number): void {
    this.aborts.splice(pick % (this.aborts.length || 1), 1)[0]?.abort();
  }

  #release(pick: number): void {
    this.leases.splice(pick % (this.leases.length || 1), 1)[0]?.release();
  }

  #taken(pick: number): Pending<string> | undefined {
    return this.calls.splice(pick % (this.calls.length || 1), 1)[0]?.call;
  }
}

describe('a group, for generated events in any order', () => {
  it('keeps its limits, ends every request, and holds nothing at the end', async () => {
    const law = fc.asyncProperty(setup, fc.array(step, { maxLength: 50 }), async (said, steps) => {
      const world = new World(said);
      for (const each of steps) await world.play(each);
      await world.finish();
    });
    await fc.assert(law, { numRuns: runs(150) });
  });
});
