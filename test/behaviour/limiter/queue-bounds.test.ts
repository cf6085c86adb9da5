import { NEVER, range, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { type Outcome, QueueFullError, WaitTimeoutError } from '../../../src/index.ts';
import { expectIdle, fate } from '../../limiter/harness.ts';
import { rig, script } from '../../limiter/rig.ts';
import { watch } from '../../request/harness.ts';

describe('maxQueue', () => {
  it('refuses new requests of streams and promises when the queue is full', async () => {
    const { clock, limiter } = rig({ concurrency: 1, maxQueue: 2 });
    const { started, run, task, end } = script(limiter);
    run('first');
    const source = new Subject<string>();
    const outcomes: Outcome<string, string>[] = [];
    const send = (name: string) => task(name)();
    source.pipe(limiter.throttle(send, { outcomes: true })).subscribe((one) => outcomes.push(one));
    source.next('stream');
    const second = run('second');
    const full = run('full');
    const lease = fate(limiter.acquire());
    source.next('full too');
    await clock.advanceAsync(0);
    expect(full.error).toBeInstanceOf(QueueFullError);
    expect(full.error).toMatchObject({ code: 'QUEUE_FULL', maxQueue: 2 });
    expect(lease.error).toBeInstanceOf(QueueFullError);
    expect(outcomes).toMatchObject([
      { status: 'failed', request: 'full too', stats: { attempts: 0 } },
    ]);
    expect(limiter.snapshot()).toMatchObject({
      waiting: 2,
      dropped: 3,
      ended: { rejected: 3, failed: 0 },
    });
    for (const name of ['first', 'stream', 'second']) {
      end(name);
      await clock.advanceAsync(0);
    }
    expect(started).toEqual(['first', 'stream', 'second']);
    expect(second.value).toBe('second');
    expect(outcomes[1]).toMatchObject({ status: 'ok', value: 'stream' });
    expect(limiter.snapshot().ended).toEqual({ ok: 3, failed: 0, rejected: 3, cancelled: 0 });
    expectIdle(limiter);
  });

  it('errors a stream without outcomes, which then holds nothing', async () => {
    const { clock, limiter } = rig({ concurrency: 1, maxQueue: 3 });
    const send = () => new Promise<never>(() => undefined);
    const seen = watch(range(0, 10).pipe(limiter.throttle(send)));
    await clock.advanceAsync(0);
    expect(seen.error).toBeInstanceOf(QueueFullError);
    expect(limiter.snapshot().ended).toMatchObject({ rejected: 1, cancelled: 4 });
    expectIdle(limiter);
  });

  it('names the limit that binds where nothing may wait', async () => {
    const limits = { requests: { limit: 1, windowMs: 60_000 } };
    const { limiter } = rig({ concurrency: 5, limits, maxQueue: 0 });
    await limiter.run(async () => {});
    const refused = limiter.run(async () => {});
    await expect(refused).rejects.toMatchObject({ code: 'QUEUE_FULL', gate: 'rateLimit' });
  });

  it('of 0 lets no request wait', async () => {
    const { limiter } = rig({ concurrency: 1, maxQueue: 0 });
    const lease = await limiter.acquire();
    await expect(limiter.acquire()).rejects.toBeInstanceOf(QueueFullError);
    lease.release();
    (await limiter.acquire()).release();
    expectIdle(limiter);
  });

  it.each([
    ['error', ['first', 'a', 'b'], ['c', 'd']],
    ['drop-newest', ['first', 'a', 'b'], ['c', 'd']],
    ['drop-oldest', ['first', 'c', 'd'], ['a', 'b']],
  ] as const)('with overflow %s', async (overflow, sent, dropped) => {
    const { clock, limiter } = rig({ concurrency: 1, maxQueue: 2, overflow });
    const { started, run, end } = script(limiter);
    run('first');
    const told = new Map(['a', 'b', 'c', 'd'].map((name) => [name, run(name)]));
    await clock.advanceAsync(0);
    for (const name of dropped) expect(told.get(name)?.error).toBeInstanceOf(QueueFullError);
    for (const name of sent) {
      end(name);
      await clock.advanceAsync(0);
    }
    expect(started).toEqual(sent);
    expect(limiter.snapshot()).toMatchObject({ dropped: 2, ended: { ok: 3, rejected: 2 } });
    expectIdle(limiter);
  });

  it('with drop-oldest drops the oldest of the lowest priority', async () => {
    const { clock, limiter } = rig({ concurrency: 1, maxQueue: 2, overflow: 'drop-oldest' });
    const { run } = script(limiter);
    run('first');
    const high = run('high', { priority: 1 });
    const low = run('low', { priority: -1 });
    const mid = run('mid');
    const lower = run('lower', { priority: -2 });
    await clock.advanceAsync(0);
    expect([high, low, mid, lower].map(({ state }) => state)).toEqual([
      'open',
      'failed',
      'open',
      'failed',
    ]);
  });

  describe('set while requests wait, with drop-oldest, drops as many of them as it must', () => {
    const bounded = async (maxQueue: number, names: string[], isPaused = false) => {
      const { clock, limiter } = rig({ concurrency: 1 });
      const { run } = script(limiter);
      if (isPaused) limiter.pause();
      const priority = (name: string) => (name === 'high' ? 1 : 0);
      const told = names.map((name) => run(name, { priority: priority(name) }));
      limiter.configure({ maxQueue, overflow: 'drop-oldest' });
      told.push(run('newcomer'));
      await clock.advanceAsync(0);
      return { limiter, told };
    };
    const isOpen = ({ state }: { state: string }) => state === 'open';

    it('first in, first out', async () => {
      const { limiter, told } = await bounded(2, ['sent', 'a', 'b', 'c']);
      expect(told.map(isOpen)).toEqual([true, false, false, true, true]);
      expect(limiter.snapshot()).toMatchObject({ waiting: 2, dropped: 2, ended: { rejected: 2 } });
    });

    it('of the lowest priority', async () => {
      const { limiter, told } = await bounded(2, ['sent', 'high', 'a', 'b']);
      expect(told.map(isOpen)).toEqual([true, true, false, false, true]);
      expect(limiter.snapshot()).toMatchObject({ waiting: 2, dropped: 2 });
    });

    it('while the limiter is paused', async () => {
      const { limiter, told } = await bounded(2, ['a', 'b'], true);
      expect(told.map(isOpen)).toEqual([false, true, true]);
      expect(limiter.snapshot()).toMatchObject({ waiting: 2, dropped: 1 });
    });

    it('and goes on if one ends its stream as its size is asked', async () => {
      const { limiter, clock } = rig({ concurrency: 2 });
      const lease = await limiter.acquire();
      limiter.tryAcquire();
      const head = fate(limiter.acquire({ priority: 2 }));
      const source = new Subject<number>();
      const estimate = () => {
        lease.release();
        seen.subscription.unsubscribe();
        return 1;
      };
      const seen = watch(source.pipe(limiter.throttle(() => NEVER, { estimate })));
      for (const value of [0, 1]) source.next(value);
      limiter.configure({ maxQueue: 2, overflow: 'drop-oldest' });
      const newcomer = fate(limiter.acquire({ priority: 1 }));
      await clock.advanceAsync(0);
      expect([head.state, newcomer.state]).toEqual(['ok', 'open']);
      expect(limiter.snapshot()).toMatchObject({ waiting: 1, dropped: 0 });
      head.value?.release();
      await clock.advanceAsync(0);
      expect(newcomer.state).toBe('ok');
    });
  });

  it('reports how long a dropped request has waited', async () => {
    const { clock, limiter } = rig({ concurrency: 1, maxQueue: 1, overflow: 'drop-oldest' });
    const source = new Subject<number>();
    const outcomes: Outcome<number, never>[] = [];
    source
      .pipe(limiter.throttle(() => NEVER, { outcomes: true }))
      .subscribe((outcome) => outcomes.push(outcome));
    for (const value of [0, 1]) source.next(value);
    clock.advance(25);
    source.next(2);
    expect(outcomes).toMatchObject([
      { request: 1, stats: { waits: { concurrency: { waitMs: 25, rounds: 1 } } } },
    ]);
  });

  it('counts requests that wait for a backoff, and never drops retries', async () => {
    const { clock, limiter } = rig({ maxQueue: 1, backoff: { reopen: 'all' } });
    const answers = [{ status: 429 }, undefined];
    const retried = fate(
      limiter.run(() => {
        const error = answers.shift();
        if (error !== undefined) throw error;
        return 'again';
      }),
    );
    await clock.advanceAsync(0);
    expect(limiter.snapshot()).toMatchObject({ waiting: 1, backoff: { waiting: 1 } });
    await expect(limiter.acquire()).rejects.toBeInstanceOf(QueueFullError);
    await clock.runAllAsync();
    expect(retried.value).toBe('again');
  });
});

describe('waitTimeoutMs', () => {
  it('ends the wait of streams and promises, and names the gate', async () => {
    const { clock, limiter } = rig({ concurrency: 1, waitTimeoutMs: 100 });
    const held = await limiter.acquire();
    const outcomes: Outcome<number, number>[] = [];
    range(0, 2)
      .pipe(limiter.throttle(async (value) => value, { outcomes: true }))
      .subscribe((one) => outcomes.push(one));
    await clock.advanceAsync(50);
    const late = fate(limiter.run(() => 'late'));
    await clock.advanceAsync(49);
    expect(outcomes).toEqual([]);
    await clock.advanceAsync(1);
    expect(outcomes).toMatchObject([
      { status: 'failed', request: 0, stats: { attempts: 0, durationMs: 100 } },
      { status: 'failed', request: 1, error: { code: 'WAIT_TIMEOUT', gate: 'concurrency' } },
    ]);
    expect(limiter.snapshot()).toMatchObject({ waiting: 1, ended: { rejected: 2 } });
    held.release();
    await clock.advanceAsync(0);
    expect(late.value).toBe('late');
    expectIdle(limiter);
    expect(clock.pendingTimers).toBe(0);
  });

  it('counts from the arrival, over all gates', async () => {
    const { clock, limiter } = rig({
      concurrency: 1,
      limits: { requests: { limit: 1, windowMs: 200 } },
      waitTimeoutMs: 100,
    });
    const held = await limiter.acquire();
    const next = fate(limiter.acquire());
    await clock.advanceAsync(60);
    held.release();
    await clock.advanceAsync(39);
    expect(limiter.snapshot().binding).toBe('rateLimit');
    await clock.advanceAsync(1);
    expect(next.error).toBeInstanceOf(WaitTimeoutError);
    expect(next.error).toMatchObject({ waitTimeoutMs: 100, gate: 'rateLimit' });
    expectIdle(limiter);
    expect(limiter.snapshot().rateLimit).toMatchObject({ requests: { used: 1 } });
    expect(clock.pendingTimers).toBe(0);
  });

  it('does not apply to a sent request, however long it waits for a retry', async () => {
    const { clock, limiter } = rig({ waitTimeoutMs: 100 });
    const answers = [{ status: 429, headers: { 'retry-after': '5' } }, undefined];
    const ran = fate(
      limiter.run(() => {
        const error = answers.shift();
        if (error !== undefined) throw error;
        return clock.now();
      }),
    );
    await clock.runAllAsync();
    expect(ran.value).toBe(5000);
  });
});
