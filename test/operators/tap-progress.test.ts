import { map, NEVER, of, range, Subject, take, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { type TappedProgress, tapProgress, throttle } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { watch } from '../request/harness.ts';

function tapped(options: Parameters<typeof tapProgress>[1] = {}) {
  const clock = new ManualClock();
  const told: TappedProgress[] = [];
  const source = new Subject<unknown>();
  const seen = watch(
    source.pipe(tapProgress((progress) => told.push(progress), { clock, ...options })),
  );
  return { clock, told, source, seen };
}

describe('tapProgress', () => {
  it('reports each milestone as it is reached, and the end', () => {
    const { source, told, seen } = tapped({ total: 8, milestonePercent: 25, everyMs: 1e9 });
    for (let n = 0; n < 8; n += 1) source.next(n);
    source.complete();
    const heard = told.map(({ milestone, completed }) => [milestone, completed]);
    expect(heard).toEqual([
      [undefined, 1],
      [25, 2],
      [50, 4],
      [75, 6],
      [100, 8],
      [undefined, 8],
    ]);
    expect(seen).toMatchObject({ values: [0, 1, 2, 3, 4, 5, 6, 7], state: 'complete' });
  });

  it('otherwise reports at most once in `everyMs`, 1 s by default', () => {
    const { clock, source, told } = tapped();
    for (let n = 0; n < 30; n += 1) {
      source.next(n);
      clock.advance(100);
    }
    expect(told.map(({ completed }) => completed)).toEqual([1, 11, 21]);
    expect(told[0]).toMatchObject({ total: undefined, percentage: undefined, etaMs: undefined });
  });

  it('reports each value once with `everyMs: 0`, milestone or not', () => {
    const { source, told } = tapped({ everyMs: 0, total: 4, milestonePercent: 50 });
    for (let n = 0; n < 4; n += 1) source.next(n);
    expect(told.map(({ milestone }) => milestone)).toEqual([undefined, 50, undefined, 100]);
  });

  it('expects the rest at the rate so far', () => {
    const { clock, source, told } = tapped({ total: 10, everyMs: 0, milestonePercent: 100 });
    for (let n = 0; n < 5; n += 1) {
      clock.advance(200);
      source.next(n);
    }
    expect(told.at(-1)).toMatchObject({ ratePerSecond: 5, remaining: 5, etaMs: 1_000 });
    for (let n = 0; n < 6; n += 1) source.next(n);
    expect(told.at(-1)).toMatchObject({ remaining: 0, etaMs: 0, percentage: 100, completed: 11 });
  });

  it('counts failed outcomes, and no values that only resemble one', async () => {
    const clock = new ManualClock();
    const told: TappedProgress[] = [];
    const send = async (value: number) => {
      if (value % 2 === 1) throw new Error('odd');
      return { status: 'failed', error: 'no outcome' };
    };
    watch(
      range(0, 5).pipe(
        throttle(send, { clock, outcomes: true }),
        tapProgress((progress) => told.push(progress), { clock, total: 5 }),
      ),
    );
    await clock.runAllAsync();
    expect(told.at(-1)).toMatchObject({ completed: 3, failed: 2, percentage: 100 });
    const plain = tapped({ everyMs: 0 });
    plain.source.next({ status: 'failed', error: 1 });
    plain.source.next(null);
    expect(plain.told.at(-1)).toMatchObject({ completed: 2, failed: 0 });
  });

  it('reports an end by an error too, and nothing after an unsubscription', () => {
    const clock = new ManualClock();
    const told: TappedProgress[] = [];
    const tap = tapProgress<never>((progress) => told.push(progress), { clock });
    expect(watch(throwError(() => 'no').pipe(tap))).toMatchObject({ state: 'error', error: 'no' });
    expect(told).toHaveLength(1);
    watch(NEVER.pipe(tap)).subscription.unsubscribe();
    expect(told).toHaveLength(1);
    expect(clock.pendingTimers).toBe(0);
  });

  it('counts each subscription from nothing', () => {
    const told: number[] = [];
    const clock = new ManualClock();
    const counted = of('a', 'b').pipe(
      tapProgress(({ completed }) => told.push(completed), { clock, everyMs: 0 }),
    );
    watch(counted);
    watch(counted);
    expect(told).toEqual([1, 2, 2, 1, 2, 2]);
  });

  it('lets a source without end stop in the turn in which it is unsubscribed', () => {
    const seen = watch(
      range(0, Number.POSITIVE_INFINITY).pipe(
        map((value) => {
          if (value > 10) throw new Error('it goes on');
          return value;
        }),
        tapProgress(() => undefined),
        take(3),
      ),
    );
    expect(seen).toMatchObject({ values: [0, 1, 2], state: 'complete' });
  });

  it('goes on if the listener throws', async () => {
    const thrown: unknown[] = [];
    const listeners = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.on('uncaughtException', (error) => thrown.push(error));
    try {
      const error = new Error('no');
      const seen = watch(
        of(1, 2).pipe(
          tapProgress(
            () => {
              throw error;
            },
            { everyMs: 0 },
          ),
        ),
      );
      expect(seen).toMatchObject({ values: [1, 2], state: 'complete' });
      await new Promise((resolve) => setImmediate(resolve));
      expect(thrown).toEqual([error, error, error]);
    } finally {
      process.removeAllListeners('uncaughtException');
      for (const listener of listeners) process.on('uncaughtException', listener);
    }
  });

  it('reports less, and nothing wrong, while the clock stands still or has gone back', () => {
    const { clock, source, told } = tapped({ total: 5, everyMs: 100, milestonePercent: 100 });
    const now = clock.now.bind(clock);
    source.next(0);
    source.next(1);
    clock.now = () => now() - 50;
    source.next(2);
    expect(told).toHaveLength(1);
    clock.now = () => now() + 3_600_000;
    source.next(3);
    expect(told[1]).toMatchObject({ completed: 4, remaining: 1 });
    for (const { etaMs = 0, ratePerSecond = 0 } of told) {
      expect(etaMs).toBeGreaterThanOrEqual(0);
      expect(ratePerSecond).toBeGreaterThanOrEqual(0);
    }
  });

  it('refuses wrong options, each by its name', () => {
    const wrong: [object, RegExp][] = [
      [{ total: -1 }, /`total`.*got -1/],
      [{ milestonePercent: 0 }, /`milestonePercent`/],
      [{ rateWindowMs: 5 }, /`rateWindowMs`/],
      [{ everyMs: Number.NaN }, /`everyMs`.*NaN/],
      [{ clock: {} }, /`clock/],
      [{ totals: 4 }, /totals/],
    ];
    for (const [options, message] of wrong) {
      expect(() => tapProgress(() => undefined, options)).toThrow(message);
    }
    // @ts-expect-error
    expect(() => tapProgress()).toThrow(/`listener`/);
  });
});
