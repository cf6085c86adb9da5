import { BehaviorSubject, from, type Subscription } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import type { ExchangeRequest } from '../../src/fleet/protocol.ts';
import type { SharedStore } from '../../src/fleet/shared-store.ts';
import { type ThrottleOptions, throttle } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';

class Streams {
  readonly clock = new ManualClock();
  readonly requests: ExchangeRequest[] = [];
  /** When each request was sent. */
  readonly sends: number[] = [];
  inFlight = 0;
  most = 0;
  readonly store: SharedStore;

  constructor() {
    const store = memoryStore({ clock: this.clock, ttlMs: 1_000 });
    this.store = {
      ...store,
      exchange: (request) => {
        this.requests.push(request);
        return store.exchange(request);
      },
    };
  }

  start(count: number, options: ThrottleOptions<number>, tookMs = 50): Subscription {
    const { clock, store } = this;
    const send = () => {
      this.sends.push(clock.now());
      this.inFlight += 1;
      this.most = Math.max(this.most, this.inFlight);
      return new Promise<void>((done) => {
        clock.setTimer(() => {
          this.inFlight -= 1;
          done();
        }, tookMs);
      });
    };
    return from(Array.from({ length: count }, (_, index) => index))
      .pipe(throttle(send, { adaptive: false, clock, shared: store, ...options }))
      .subscribe();
  }
}

describe('streams through `throttle` that share a store', () => {
  it('keep a rate limit and a concurrency together', async () => {
    const streams = new Streams();
    const options = { concurrency: 6, requestsPerMinute: 600 };
    streams.start(200, options, 1_000);
    streams.start(200, options, 1_000);
    await streams.clock.advanceAsync(60_000);
    expect(streams.most).toBe(6);
    expect(streams.sends.length).toBeGreaterThan(300);
    const late = streams.sends.filter((at) => at >= 0 && at < 60_000);
    expect(late.length).toBeLessThanOrEqual(600);
  });

  it('are held by a 429 of one of them', async () => {
    const streams = new Streams();
    const { clock, store } = streams;
    const rejected = from([1]).pipe(
      throttle(() => Promise.reject({ status: 429, headers: { 'retry-after': '3' } }), {
        clock,
        shared: store,
        maxAttempts: 1,
        outcomes: true,
      }),
    );
    // What knows the store hears of it; who begins later asks it first.
    streams.start(1, {});
    await clock.advanceAsync(100);
    rejected.subscribe();
    await clock.advanceAsync(100);
    const before = streams.sends.length;
    streams.start(5, {});
    await clock.advanceAsync(2_500);
    expect(streams.sends).toHaveLength(before);
    await clock.advanceAsync(20_000);
    expect(streams.sends).toHaveLength(before + 5);
  });

  it('leave as they end or are unsubscribed, and call the store no more', async () => {
    const streams = new Streams();
    streams.start(3, { concurrency: 2 });
    const unfinished = streams.start(1_000, { concurrency: 2 }, 600_000);
    await streams.clock.advanceAsync(1_000);
    unfinished.unsubscribe();
    await streams.clock.advanceAsync(1_000);
    const leaving = streams.requests.filter(({ leaves }) => leaves === 1);
    expect(new Set(leaving.map(({ worker }) => worker)).size).toBe(2);
    const calls = streams.requests.length;
    await streams.clock.advanceAsync(60_000);
    expect(streams.requests).toHaveLength(calls);
    // Those of the two requests that were abandoned.
    expect(streams.clock.pendingTimers).toBe(2);
  });

  it('call no store before they are subscribed to', async () => {
    const streams = new Streams();
    throttle(() => Promise.resolve(), { clock: streams.clock, shared: streams.store });
    await streams.clock.advanceAsync(10_000);
    expect(streams.requests).toEqual([]);
  });

  it('tell a concurrency that changes', async () => {
    const streams = new Streams();
    const concurrency = new BehaviorSubject(2);
    streams.start(1_000, { concurrency });
    streams.start(1_000, { concurrency });
    await streams.clock.advanceAsync(500);
    expect(streams.most).toBe(2);
    concurrency.next(6);
    await streams.clock.advanceAsync(2_000);
    expect(streams.most).toBe(6);
  });

  it('refuse what cannot be shared', () => {
    const { store } = new Streams();
    const send = () => Promise.resolve();
    expect(() => throttle(send, { shared: {} as never })).toThrow('`shared.exchange` must be');
    const { exchange } = store;
    expect(() => throttle(send, { shared: { exchange } as never })).toThrow(
      '`shared.join` must be',
    );
    expect(() => throttle(send, { shared: { ...store, ttlMs: 1 } })).toThrow('`ttlMs` must be');
    expect(() => throttle(send, { shared: store, onLimit: 'fail' })).toThrow(
      "`onLimit` must be 'wait' with `shared`",
    );
    const limits = { quota: { limit: 5, windowMs: Number.POSITIVE_INFINITY } };
    expect(() => throttle(send, { shared: store, limits })).toThrow(
      '`limits.quota.windowMs` must be finite with `shared`',
    );
  });
});
