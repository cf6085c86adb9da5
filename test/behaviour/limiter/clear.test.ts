import { Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { LimiterClosedError, type Outcome, QueueClearedError } from '../../../src/index.ts';
import { expectIdle, fate } from '../../limiter/harness.ts';
import { listen, rig, script } from '../../limiter/rig.ts';
import { tooMany, watch } from '../../request/harness.ts';

describe('clear', () => {
  it('rejects all waiting requests of every kind, and none in flight', async () => {
    const { clock, limiter } = rig({ concurrency: 1 });
    const events = listen(limiter);
    const { started, run, task, end } = script(limiter);
    const inFlight = run('a');
    const plain = run('b');
    const said = run('c', { bytes: 5, priority: -1 });
    const { signal } = new AbortController();
    const abortable = run('d', { signal });
    const lease = fate(limiter.acquire());
    const wrapped = fate(limiter.wrap(task('e'))());
    limiter.clear('the batch is over');
    await clock.advanceAsync(0);
    for (const { error } of [plain, said, abortable, lease, wrapped]) {
      expect(error).toBeInstanceOf(QueueClearedError);
      expect(error).toMatchObject({
        code: 'QUEUE_CLEARED',
        reason: 'the batch is over',
        message: 'the queue was cleared while the request waited: the batch is over',
      });
    }
    expect(limiter.snapshot()).toMatchObject({ waiting: 0, ended: { rejected: 5 } });
    expect(events.slice(0, 5).map(({ kind }) => kind)).toEqual(Array(5).fill('waiting'));
    expect(events.slice(5)).toMatchObject([
      { kind: 'waited' },
      { kind: 'waited' },
      { kind: 'waited' },
      { kind: 'waited' },
      { kind: 'waited' },
      { kind: 'cleared', requests: 5, reason: 'the batch is over', level: 'info' },
    ]);
    end('a');
    const after = run('f');
    await clock.advanceAsync(0);
    expect(inFlight.value).toBe('a');
    expect(started).toEqual(['a', 'f']);
    end('f');
    await clock.advanceAsync(0);
    expect(after.value).toBe('f');
    expectIdle(limiter);
  });

  it('rejects with a given Error itself, and does nothing if no request waits', async () => {
    const { limiter } = rig({ concurrency: 1 });
    const events = listen(limiter);
    limiter.clear();
    expect(events).toEqual([]);
    await limiter.acquire();
    const waiting = fate(limiter.acquire());
    const reason = new RangeError('enough');
    limiter.clear(reason);
    await Promise.resolve();
    expect(waiting.error).toBe(reason);
    expect(() => limiter.clear(5 as never)).toThrow('`reason` must be a string, got 5');
  });

  it('fails a stream, or with outcomes each of its waiting requests, in order', async () => {
    const { limiter } = rig({ concurrency: 1 });
    const { task } = script(limiter);
    const [plain, told] = [new Subject<string>(), new Subject<string>()];
    const outcomes: Outcome<string, string>[] = [];
    const send = (name: string) => task(name)();
    told
      .pipe(limiter.throttle(send, { outcomes: true }))
      .subscribe((outcome) => outcomes.push(outcome));
    const seen = watch(plain.pipe(limiter.throttle(send)));
    for (const name of ['a', 'b', 'c']) told.next(name);
    plain.next('d');
    plain.next('e');
    limiter.clear();
    expect(outcomes.map(({ status, request }) => `${request} ${status}`)).toEqual([
      'b failed',
      'c failed',
    ]);
    expect(seen.error).toBeInstanceOf(QueueClearedError);
    expect(seen.error).toMatchObject({ reason: undefined });
    // The second of the stream that failed was cancelled by that.
    expect(limiter.snapshot()).toMatchObject({
      waiting: 0,
      ended: { rejected: 3, cancelled: 1 },
      concurrency: { inFlight: 1 },
    });
  });

  it('rejects waiting retries too, and releases their leases', async () => {
    const { clock, limiter } = rig({ concurrency: 1 });
    const ran = fate(
      limiter.run(() => {
        throw tooMany(60_000);
      }),
    );
    await clock.advanceAsync(10);
    expect(limiter.snapshot().waiting).toBe(1);
    limiter.clear();
    await clock.advanceAsync(0);
    expect(ran.error).toBeInstanceOf(QueueClearedError);
    expect(limiter.snapshot().ended).toMatchObject({ failed: 1 });
    expectIdle(limiter);
  });

  it('keeps requests that arrive while it clears, and a nested clear rejects them', () => {
    const { limiter } = rig({ concurrency: 1 });
    const source = new Subject<string>();
    const failed: string[] = [];
    const never = () => new Promise<never>(() => {});
    source.pipe(limiter.throttle(never, { outcomes: true })).subscribe(({ request }) => {
      failed.push(request);
      if (request === 'b') source.next('new');
      if (request === 'new') source.next('newer');
    });
    for (const name of ['a', 'b', 'c']) source.next(name);
    limiter.clear();
    expect(failed).toEqual(['b', 'c']);
    expect(limiter.snapshot().waiting).toBe(1);
    limiter.clear();
    expect(failed).toEqual(['b', 'c', 'new']);
    expect(limiter.snapshot().waiting).toBe(1);
  });

  it('may be called in a listener of a decision, before any request passes', async () => {
    const limits = { requests: { limit: 1, windowMs: 100 } };
    const { clock, limiter } = rig({ concurrency: 1, limits });
    const { started, run, end } = script(limiter);
    limiter.events$.subscribe(({ kind }) => {
      if (kind === 'limitDenied') limiter.clear('denied');
    });
    run('a');
    const others = [run('b'), run('c')];
    end('a');
    await clock.advanceAsync(0);
    expect(others.map(({ state }) => state)).toEqual(['failed', 'failed']);
    await clock.advanceAsync(1_000);
    expect(started).toEqual(['a']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('works while the limiter is paused', async () => {
    const { clock, limiter } = rig();
    limiter.pause();
    const waiting = [fate(limiter.run(() => 1)), fate(limiter.run(() => 2))];
    limiter.clear();
    await clock.advanceAsync(0);
    expect(waiting.map(({ state }) => state)).toEqual(['failed', 'failed']);
    const later = fate(limiter.run(() => 3));
    limiter.resume();
    await clock.advanceAsync(0);
    expect(later.value).toBe(3);
    expectIdle(limiter);
  });

  it('clears a long queue of promises and streams', async () => {
    const { limiter } = rig({ concurrency: 1 });
    await limiter.acquire();
    const waiting = Array.from({ length: 20_000 }, () => fate(limiter.run(() => 1)));
    limiter.clear();
    await Promise.resolve();
    expect(limiter.snapshot().waiting).toBe(0);
    await new Promise((resolve) => setImmediate(resolve));
    expect(waiting.every(({ error }) => error instanceof QueueClearedError)).toBe(true);
  });
});

describe('close', () => {
  it("rejects waiting requests with `waiting: 'reject'`, even if it is closed already", async () => {
    const { clock, limiter } = rig({ concurrency: 1 });
    const { started, run, end } = script(limiter);
    const inFlight = run('a');
    const waiting = run('b');
    limiter.close();
    limiter.close({ waiting: 'send' });
    expect(limiter.snapshot()).toMatchObject({ state: 'draining', waiting: 1 });
    limiter.close({ waiting: 'reject' });
    await clock.advanceAsync(0);
    expect(waiting.error).toBeInstanceOf(LimiterClosedError);
    expect(limiter.snapshot()).toMatchObject({ state: 'draining', waiting: 0 });
    end('a');
    await clock.advanceAsync(0);
    expect(inFlight.value).toBe('a');
    expect(started).toEqual(['a']);
    expect(limiter.snapshot().state).toBe('closed');
  });

  it('refuses another option and another value, and stays open then', () => {
    const { limiter } = rig();
    expect(() => limiter.close({ waiting: 'drop' as never })).toThrow(
      '`waiting` must be one of "send", "reject", got "drop"',
    );
    expect(() => limiter.close({ wait: 'send' } as never)).toThrow('wait');
    expect(limiter.snapshot().state).toBe('running');
  });
});
