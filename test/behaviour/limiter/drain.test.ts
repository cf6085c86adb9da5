import { of, range, take } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { expectIdle, fate } from '../../limiter/harness.ts';
import { listen, rig, script } from '../../limiter/rig.ts';
import { ApiError, pending, watch } from '../../request/harness.ts';

describe('drain', () => {
  it('resolves at once without requests', async () => {
    const { limiter } = rig();
    await limiter.drain();
    await (await limiter.acquire()).release();
    await limiter.drain();
    limiter.close();
    await limiter.drain();
  });

  it('waits for all running and waiting requests, at every gate', async () => {
    const { clock, limiter } = rig({
      concurrency: 2,
      limits: { requests: { limit: 2, windowMs: 90 } },
    });
    const { run, end } = script(limiter);
    for (const name of ['a', 'b', 'c']) run(name);
    const drained = [fate(limiter.drain()), fate(limiter.drain())];
    for (const name of ['a', 'b', 'c']) {
      await clock.advanceAsync(100);
      expect(drained[0]?.state).toBe('open');
      end(name);
    }
    await clock.advanceAsync(0);
    expect(drained.map(({ state }) => state)).toEqual(['ok', 'ok']);
  });

  it('waits for requests that arrive meanwhile, if the limiter is open', async () => {
    const { clock, limiter } = rig({ concurrency: 1 });
    const first = await limiter.acquire();
    const drained = fate(limiter.drain());
    const second = fate(limiter.acquire());
    first.release();
    await clock.advanceAsync(0);
    expect(second.state).toBe('ok');
    expect(drained.state).toBe('open');
    second.value?.release();
    await clock.advanceAsync(0);
    expect(drained.state).toBe('ok');
    const later = fate(limiter.acquire());
    const again = fate(limiter.drain());
    await clock.advanceAsync(0);
    expect([later.state, again.state]).toEqual(['ok', 'open']);
  });

  it('does not wait for requests that abort, time out, fail or unsubscribe', async () => {
    const { clock, limiter } = rig({ concurrency: 1, waitTimeoutMs: 500 });
    const held = await limiter.acquire();
    const controller = new AbortController();
    fate(limiter.acquire({ signal: controller.signal }));
    fate(limiter.acquire());
    const seen = watch(range(0, 5).pipe(limiter.throttle(() => pending<void>().promise)));
    limiter.close();
    fate(limiter.acquire());
    const drained = fate(limiter.drain());
    controller.abort();
    seen.subscription.unsubscribe();
    await clock.advanceAsync(500);
    expect(drained.state).toBe('open');
    held.release('failed', new ApiError(400));
    await clock.advanceAsync(0);
    expect(drained.state).toBe('ok');
    expectIdle(limiter);
    expect(clock.pendingTimers).toBe(0);
  });

  it('resolves when the last waiter aborts', async () => {
    const { clock, limiter } = rig();
    limiter.feedback.next({ kind: 'throttled', retryAfterMs: 1000 });
    const controller = new AbortController();
    fate(limiter.acquire({ signal: controller.signal }));
    limiter.close();
    const drained = fate(limiter.drain());
    controller.abort();
    await clock.advanceAsync(0);
    expect(drained.state).toBe('ok');
    expect(clock.pendingTimers).toBe(0);
  });

  it('does not resolve early at a request that ends in the turn in which it began', async () => {
    const { clock, limiter } = rig({ concurrency: 1 });
    const held = await limiter.acquire();
    const calls = [of(0), pending<number>().promise, of(2)];
    watch(range(0, 3).pipe(limiter.throttle((index) => calls[index] ?? of(0))));
    const last = pending<string>();
    limiter.close();
    const events = listen(limiter);
    const drained = fate(limiter.drain());
    held.release();
    await clock.advanceAsync(0);
    expect(limiter.snapshot()).toMatchObject({ state: 'draining', ended: { ok: 2 }, waiting: 1 });
    expect(drained.state).toBe('open');
    expect(events.filter(({ kind }) => kind === 'drained')).toEqual([]);
    last.resolve('');
  });

  it('resolves when such a request ends those behind it', async () => {
    const { clock, limiter } = rig({ concurrency: 1 });
    const held = await limiter.acquire();
    const seen = watch(
      range(0, 5).pipe(
        limiter.throttle((index) => of(index)),
        take(1),
      ),
    );
    limiter.close();
    const drained = fate(limiter.drain());
    held.release();
    expect(seen.values).toEqual([0]);
    await clock.advanceAsync(0);
    expect(drained.state).toBe('ok');
    expect(limiter.snapshot()).toMatchObject({ state: 'closed', waiting: 0 });
    expectIdle(limiter);
  });

  it('after close leaves no timer, with every gate on', async () => {
    const { clock, limiter } = rig({
      concurrency: 4,
      requestsPerMinute: 100,
      tokensPerMinute: 1000,
      pace: { intervalMs: 10 },
      circuitBreaker: { consecutiveFailures: 3, openMs: 100_000 },
      adaptive: { strategy: 'failures', failureThreshold: 2 },
      waitTimeoutMs: 60_000,
      total: 30,
    });
    const { run, end, fail, started } = script(limiter);
    for (let index = 0; index < 12; index += 1) run(`${index}`, { tokens: 10, bytes: 5 });
    limiter.close();
    const drained = fate(limiter.drain());
    for (let turn = 0; turn < 40; turn += 1) {
      await clock.advanceAsync(20);
      for (const name of started) turn % 3 === 0 ? fail(name, new ApiError(500)) : end(name);
    }
    await clock.advanceAsync(60_000);
    expect(drained.state).toBe('ok');
    expect(clock.pendingTimers).toBe(0);
    expectIdle(limiter);
  });
});
