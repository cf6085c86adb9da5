import fc from 'fast-check';
import { from, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Lease } from '../../../src/index.ts';
import { groupRig } from '../../limiter/group-rig.ts';
import { expectIdle } from '../../limiter/harness.ts';
import { rig, script } from '../../limiter/rig.ts';
import { ApiError, tooMany, watch } from '../../request/harness.ts';
import { runs } from '../../support/runs.ts';

const AGING_MS = 50;

const priority = fc.integer({ min: -3, max: 3 });
const which = fc.nat(1_000);
const kind = <const K extends string>(name: K) => fc.constant(name);
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: kind('arrive'), priority, isNamed: fc.boolean() }) },
  { weight: 5, arbitrary: fc.record({ do: kind('move'), which, priority }) },
  { weight: 1, arbitrary: fc.record({ do: kind('abort'), which }) },
  { weight: 2, arbitrary: fc.record({ do: kind('release') }) },
  { weight: 2, arbitrary: fc.record({ do: kind('wait'), ms: fc.integer({ min: 1, max: 90 }) }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** A request of a generated script, as an obvious queue sees it. */
interface Waiter {
  readonly id: number;
  readonly since: number;
  readonly isNamed: boolean;
  priority: number;
  isMoved: boolean;
}

/** By urgency, then by arrival; of those that arrived together, moved ones first. */
function mostUrgent(waiters: readonly Waiter[]): Waiter | undefined {
  const keyOf = ({ since, priority: said }: Waiter) => since - said * AGING_MS;
  return waiters.toSorted(
    (one, other) =>
      keyOf(one) - keyOf(other) ||
      one.since - other.since ||
      Number(other.isMoved) - Number(one.isMoved) ||
      one.id - other.id,
  )[0];
}

/** A limiter with one slot, and the obvious queue beside it. */
class World {
  readonly clock;
  readonly limiter;
  waiters: Waiter[] = [];
  arrivals = 0;
  aborted = 0;
  readonly sent: number[] = [];
  readonly expected: number[] = [];
  readonly #waits = new Map<number, number>();
  readonly #aborts = new Map<number, AbortController>();
  readonly #isHeard: boolean;
  #held: Lease | undefined;

  constructor(isHeard: boolean) {
    this.#isHeard = isHeard;
    const admitted = ({ tokens }: { readonly tokens: number }, _gate: string, waitMs: number) => {
      this.#waits.set(tokens, (this.#waits.get(tokens) ?? 0) + waitMs);
    };
    const instrumentation = isHeard ? { instrumentation: { admitted } } : {};
    const { clock, limiter } = rig({ concurrency: 1, agingMs: AGING_MS, ...instrumentation });
    this.clock = clock;
    this.limiter = limiter;
    this.#held = limiter.tryAcquire({ tokens: 1_000_000 });
  }

  async play(said: Step): Promise<void> {
    if (said.do === 'arrive') this.#arrive(said.priority, said.isNamed);
    else if (said.do === 'wait') await this.clock.advanceAsync(said.ms);
    else if (said.do === 'release') await this.release();
    else {
      const waiter = this.waiters[said.which % (this.waiters.length || 1)];
      if (waiter === undefined) return;
      if (said.do === 'move') this.#move(waiter, said.priority);
      else this.#abort(waiter);
    }
  }

  /**
   * The next one is the most urgent one of the obvious queue, and its wait began at its arrival.
   */
  async release(): Promise<void> {
    const next = mostUrgent(this.waiters);
    if (next !== undefined) {
      this.waiters = this.waiters.filter((waiter) => waiter !== next);
      this.expected.push(next.id);
    }
    const held = this.#held;
    this.#held = undefined;
    held?.release();
    await this.clock.advanceAsync(0);
    expect(this.sent).toEqual(this.expected);
    if (next === undefined || !this.#isHeard) return;
    expect(this.#waits.get(next.id)).toBeCloseTo(this.clock.now() - next.since, 6);
  }

  #arrive(said: number, isNamed: boolean): void {
    const id = this.arrivals;
    this.arrivals += 1;
    const controller = new AbortController();
    this.#aborts.set(id, controller);
    const waiter = { id, since: this.clock.now(), isNamed, priority: said, isMoved: false };
    const passes = this.#held === undefined;
    if (passes) this.expected.push(id);
    else this.waiters.push(waiter);
    const options = { priority: said, tokens: id, ...(isNamed && { id }) };
    const taken = (lease: Lease) => {
      this.sent.push(id);
      this.#held = lease;
    };
    const left = () => {
      this.aborted += 1;
    };
    // Those without a signal wait without a ticket.
    const isPlain = !isNamed && id % 2 === 0;
    const { signal } = controller;
    const acquired = this.limiter.acquire(isPlain ? options : { ...options, signal });
    if (passes) this.#held = {} as Lease;
    acquired.then(taken, left);
  }

  #move(waiter: Waiter, to: number): void {
    expect(this.limiter.setPriority(waiter.id, to)).toBe(waiter.isNamed ? 1 : 0);
    if (!waiter.isNamed) return;
    waiter.isMoved ||= waiter.priority !== to;
    waiter.priority = to;
  }

  #abort(waiter: Waiter): void {
    if (!waiter.isNamed && waiter.id % 2 === 0) return;
    this.waiters = this.waiters.filter((other) => other !== waiter);
    this.#aborts.get(waiter.id)?.abort();
    expect(this.limiter.setPriority(waiter.id, 3)).toBe(0);
  }
}

describe('setPriority', () => {
  it('orders waiting requests as if they had arrived so, and books waits from the arrival', async () => {
    const steps = fc.array(step, { maxLength: 150 });
    const law = fc.asyncProperty(steps, fc.boolean(), async (all, isHeard) => {
      const world = new World(isHeard);
      for (const said of all) {
        await world.play(said);
        await world.clock.advanceAsync(0);
        expect(world.limiter.snapshot().waiting).toBe(world.waiters.length);
      }
      while (world.waiters.length > 0) await world.release();
      await world.release();
      expectIdle(world.limiter);
      expect(world.sent.length + world.aborted).toBe(world.arrivals);
      expect(world.clock.pendingTimers).toBe(0);
    });
    await fc.assert(law, { numRuns: runs(60) });
  });

  it('finds requests of promises and streams, and all with the same id', async () => {
    const { clock, limiter } = rig({ concurrency: 1 });
    const { started, run, task, end } = script(limiter);
    const user = { name: 'one' };
    run('first');
    run('a');
    run('b', { id: 'b' });
    void limiter.wrap(task('c'), { id: user })();
    const send = (name: string) => task(name)();
    watch(
      from(['d', 'e']).pipe(limiter.throttle(send, { id: (name) => (name === 'e' ? user : 0) })),
    );
    void limiter.acquire({ id: 0 }).then((lease) => lease.release());
    expect(limiter.setPriority(user, 5)).toBe(2);
    expect(limiter.setPriority('b', 1)).toBe(1);
    expect(limiter.setPriority('nobody', 1)).toBe(0);
    for (const name of ['first', 'c', 'e', 'b', 'a', 'd']) {
      expect(started.at(-1)).toBe(name);
      end(name);
      await clock.advanceAsync(0);
    }
    expectIdle(limiter);
    expect(limiter.setPriority(user, 1)).toBe(0);
  });

  it('counts for a request that was sent when it waits again', async () => {
    const { clock, limiter } = rig({ concurrency: 3, adaptive: false, backoff: { reopen: 'all' } });
    const order: string[] = [];
    const run = (name: string, id?: string) => {
      let calls = 0;
      const task = async () => {
        calls += 1;
        order.push(name);
        if (calls === 1) throw tooMany(100);
      };
      void limiter.run(task, id === undefined ? {} : { id });
    };
    run('a');
    run('b');
    run('c', 'c');
    expect(limiter.setPriority('c', 1)).toBe(0);
    await clock.advanceAsync(50);
    expect(limiter.snapshot().backoff.waiting).toBe(3);
    expect(order).toEqual(['a', 'b', 'c']);
    await clock.runAllAsync();
    expect(order).toEqual(['a', 'b', 'c', 'c', 'a', 'b']);
    expectIdle(limiter);
  });

  it('moves retries among each other while they wait', async () => {
    const { clock, limiter } = rig({ concurrency: 3, adaptive: false, backoff: { reopen: 'all' } });
    const order: string[] = [];
    const run = (id: string) => {
      let calls = 0;
      const task = async () => {
        calls += 1;
        order.push(id);
        if (calls < 3) throw tooMany(100);
      };
      void limiter.run(task, { id });
    };
    for (const id of ['a', 'b', 'c']) run(id);
    await clock.advanceAsync(50);
    expect(limiter.setPriority('b', 2)).toBe(1);
    expect(limiter.setPriority('c', 1)).toBe(1);
    await clock.advanceAsync(100);
    expect(limiter.setPriority('b', -1)).toBe(1);
    await clock.runAllAsync();
    expect(order).toEqual(['a', 'b', 'c', 'b', 'c', 'a', 'c', 'a', 'b']);
    expectIdle(limiter);
  });

  it('is safe in a callback, while another request is decided on', async () => {
    const moves: (() => void)[] = [];
    const { clock, limiter } = rig({
      limits: { requests: { limit: 1, windowMs: 100 } },
      instrumentation: { admitted: () => moves.shift()?.() },
    });
    const { started, run, end } = script(limiter);
    run('first');
    for (const id of ['a', 'b', 'c']) run(id, { id });
    moves.push(() => expect(limiter.setPriority('c', 1)).toBe(1));
    await clock.advanceAsync(100);
    expect(started).toEqual(['first', 'a']);
    await clock.advanceAsync(100);
    expect(started).toEqual(['first', 'a', 'c']);
    await clock.advanceAsync(100);
    for (const name of started) end(name);
    await clock.advanceAsync(0);
    expectIdle(limiter);
  });

  it('decides which request a full queue drops', async () => {
    const { clock, limiter } = rig({ concurrency: 1, maxQueue: 2, overflow: 'drop-oldest' });
    const { started, run, end } = script(limiter);
    run('first');
    run('a', { id: 'a' });
    const b = run('b', { id: 'b' });
    limiter.setPriority('a', 1);
    run('c');
    await clock.advanceAsync(0);
    expect(b.state).toBe('failed');
    for (const name of ['first', 'a', 'c']) {
      end(name);
      await clock.advanceAsync(0);
    }
    expect(started).toEqual(['first', 'a', 'c']);
    expectIdle(limiter);
  });

  it('lets lighter requests pass when a heavy one that was first is moved behind them', async () => {
    const { clock, limiter } = rig({ concurrency: 2 });
    const { started, run, end } = script(limiter);
    run('first');
    run('heavy', { id: 'heavy', weight: 2 });
    run('light');
    expect(started).toEqual(['first']);
    limiter.setPriority('heavy', -1);
    expect(started).toEqual(['first', 'light']);
    end('first');
    end('light');
    await clock.advanceAsync(0);
    expect(started).toEqual(['first', 'light', 'heavy']);
    end('heavy');
    await clock.advanceAsync(0);
    expectIdle(limiter);
  });

  it('forgets the ids of requests that have ended, failed or left', async () => {
    const { clock, limiter } = rig({ concurrency: 1, maxQueue: 1 });
    const source = new Subject<number>();
    const stream = source.pipe(limiter.throttle(() => new Promise<void>(() => {}), { id: String }));
    const subscription = stream.subscribe();
    source.next(1);
    source.next(2);
    expect(limiter.setPriority('2', 1)).toBe(1);
    const full = limiter.run(() => 1, { id: 'full' }).catch((error: Error) => error.name);
    expect(await full).toBe('QueueFullError');
    subscription.unsubscribe();
    for (const id of ['1', '2', 'full']) expect(limiter.setPriority(id, 5)).toBe(0);
    const failed = limiter.run(() => Promise.reject(new ApiError(400)), { id: 'failed' });
    await expect(failed).rejects.toThrow();
    expect(limiter.setPriority('failed', 1)).toBe(0);
    await clock.advanceAsync(0);
    expectIdle(limiter);
  });

  it('refuses a priority that is no integer, and an id of a stream that is no function', () => {
    const { limiter } = rig();
    expect(() => limiter.setPriority('a', 0.5)).toThrow('`priority` must be an integer');
    const options = { id: 'a' } as never;
    expect(() => limiter.throttle(async () => 1, options)).toThrow('`id` must be a function');
  });
});

describe('setPriority of a group', () => {
  it('finds requests of every key', async () => {
    const { clock, group } = groupRig({ each: { concurrency: 1 } });
    const order: string[] = [];
    const held = ['x', 'y'].map((key) => group.tryAcquire(key));
    for (const key of ['x', 'y']) {
      for (const name of ['a', 'b']) {
        void group.run(key, () => order.push(key + name), { id: name });
      }
    }
    expect(group.setPriority('b', 1)).toBe(2);
    for (const lease of held) lease?.release();
    await clock.advanceAsync(0);
    expect(order.toSorted()).toEqual(['xa', 'xb', 'ya', 'yb']);
    expect(order.indexOf('xb')).toBeLessThan(order.indexOf('xa'));
    expect(order.indexOf('yb')).toBeLessThan(order.indexOf('ya'));
    expect(() => group.setPriority('b', Number.NaN)).toThrow('`priority` must be an integer');
  });
});
