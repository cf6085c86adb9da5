import fc from 'fast-check';
import { map, range, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createLimiter, type Lease, Sized } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { expectIdle, fate } from '../../limiter/harness.ts';
import { type Pending, pending, watch } from '../../request/harness.ts';
import { runs } from '../../support/runs.ts';

describe('streams and promises', () => {
  it('wait in one queue, first come first served', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, concurrency: 1 });
    const started: string[] = [];
    const calls: Pending<void>[] = [];
    const send = (name: string) => {
      started.push(name);
      const call = pending<void>();
      calls.push(call);
      return call.promise;
    };
    const one = new Subject<string>();
    const two = new Subject<string>();
    watch(one.pipe(limiter.throttle(send)));
    watch(two.pipe(limiter.throttle(send)));
    const names = ['s1', 'r1', 'a1', 't1', 's2', 'a2', 'r2', 't2', 's3'];
    for (const name of names) {
      if (name[0] === 's') one.next(name);
      else if (name[0] === 't') two.next(name);
      else if (name[0] === 'r') void limiter.run(() => send(name), { bytes: 10 });
      else void limiter.acquire().then((lease) => send(name).then(() => lease.release()));
    }
    for (let call = 0; call < names.length; call += 1) {
      await clock.advanceAsync(0);
      expect(started).toEqual(names.slice(0, call + 1));
      calls[call]?.resolve();
    }
    await clock.advanceAsync(0);
    expectIdle(limiter);
  });

  it('share the bytes', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, maxBytes: 100 });
    const held = await limiter.acquire({ bytes: 101 });
    const ran = fate(limiter.run(() => 'ran'));
    const seen = watch(range(0, 2).pipe(limiter.throttle(async (value) => value)));
    await clock.advanceAsync(0);
    expect(ran.state).toBe('open');
    expect(limiter.snapshot().byteBudget).toMatchObject({ used: 101, balance: -1, waiting: 3 });
    held.release();
    await clock.advanceAsync(0);
    expect(ran.value).toBe('ran');
    expect(seen.values).toEqual([0, 1]);
    expectIdle(limiter);
  });

  it('share the backoff', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, adaptive: false });
    const seen = watch(
      range(0, 1).pipe(
        limiter.throttle(async (_, { attempt }) => {
          if (attempt === 1) throw { status: 429 };
          return clock.now();
        }),
      ),
    );
    await clock.advanceAsync(10);
    const ran = fate(limiter.run(() => clock.now()));
    const lease = fate(limiter.acquire());
    await clock.advanceAsync(989);
    expect([ran.state, lease.state]).toEqual(['open', 'open']);
    await clock.advanceAsync(1);
    expect(seen.values).toEqual([1000]);
    expect(ran.value).toBe(1000);
    expect(lease.state).toBe('ok');
    lease.value?.release();
    expectIdle(limiter);
  });

  it('go on when one stream of them is unsubscribed', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, concurrency: 2 });
    const forever = () => new Promise<never>(() => undefined);
    const gone = watch(range(0, 20).pipe(limiter.throttle(forever)));
    const ran = fate(limiter.run(() => 'ran'));
    const seen = watch(range(0, 3).pipe(limiter.throttle(async (value) => value)));
    const lease = fate(limiter.acquire());
    expect(limiter.snapshot().concurrency).toMatchObject({ inFlight: 2, waiting: 23 });
    gone.subscription.unsubscribe();
    await clock.advanceAsync(0);
    expect(ran.value).toBe('ran');
    expect(seen).toMatchObject({ values: [0, 1, 2], state: 'complete' });
    lease.value?.release();
    expectIdle(limiter);
    expect(clock.pendingTimers).toBe(0);
  });

  it('never hold more than the limits, for generated arrivals and ends', async () => {
    const step = fc.record({
      kind: fc.constantFrom('run', 'acquire', 'stream', 'abort', 'finish', 'throttled'),
      bytes: fc.nat(60),
      pick: fc.nat(),
    });
    const run = async (steps: readonly { kind: string; bytes: number; pick: number }[]) => {
      const clock = new ManualClock();
      const limiter = createLimiter({ clock, concurrency: 3, maxBytes: 100 });
      const aborts: AbortController[] = [];
      const ends: (() => void)[] = [];
      const source = new Subject<number>();
      const send = () => {
        const call = pending<void>();
        ends.push(call.resolve);
        return call.promise;
      };
      const sized = source.pipe(map((bytes) => new Sized(0, bytes)));
      const seen = watch(sized.pipe(limiter.throttle(send)));
      for (const { kind, bytes, pick } of steps) {
        const controller = new AbortController();
        const options = { bytes, signal: controller.signal };
        if (kind === 'run' || kind === 'acquire') aborts.push(controller);
        if (kind === 'run') fate(limiter.run(send, options));
        const keep = (lease: Lease) => ends.push(() => lease.release());
        if (kind === 'acquire') fate(limiter.acquire(options).then(keep));
        if (kind === 'stream') source.next(bytes);
        if (kind === 'abort') aborts.splice(pick % (aborts.length || 1), 1)[0]?.abort();
        if (kind === 'finish') ends.splice(pick % (ends.length || 1), 1)[0]?.();
        if (kind === 'throttled') limiter.feedback.next({ kind: 'throttled', retryAfterMs: 5 });
        await clock.advanceAsync(pick % 3);
        const { concurrency, byteBudget } = limiter.snapshot();
        expect(concurrency.inFlight).toBeLessThanOrEqual(3);
        expect(byteBudget.used).toBeLessThanOrEqual(100 + 60 * 20);
      }
      await clock.advanceAsync(60_000);
      seen.subscription.unsubscribe();
      for (const each of aborts) each.abort();
      while (ends.length > 0) {
        ends.pop()?.();
        await clock.advanceAsync(0);
      }
      expectIdle(limiter);
      expect(clock.pendingTimers).toBe(0);
    };
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 40 }), run), {
      numRuns: runs(100),
    });
  });
});
