import fc from 'fast-check';
import { of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  CostAboveLimitError,
  createLimiter,
  createLimiterGroup,
  type Outcome,
  throttle,
} from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { expectIdle, fate } from '../../limiter/harness.ts';
import { rig, script } from '../../limiter/rig.ts';
import { type Pending, pending } from '../../request/harness.ts';

describe('the weight of a request', () => {
  it('takes that many slots, all or none, and later lighter requests do not overtake', async () => {
    const { clock, limiter } = rig({ concurrency: 4 });
    const { started, run, end } = script(limiter);
    run('a');
    run('b', { weight: 2 });
    run('heavy', { weight: 3 });
    run('light');
    expect(started).toEqual(['a', 'b']);
    expect(limiter.snapshot().concurrency).toMatchObject({ inFlight: 3, waiting: 2 });
    end('a');
    await clock.advanceAsync(0);
    expect(started).toEqual(['a', 'b']);
    end('b');
    await clock.advanceAsync(0);
    expect(started).toEqual(['a', 'b', 'heavy', 'light']);
    expect(limiter.snapshot().concurrency).toMatchObject({ inFlight: 4, waiting: 0 });
    end('heavy');
    end('light');
    await clock.advanceAsync(0);
    expectIdle(limiter);
  });

  it('above the limit is an error at once, for every kind of request, and while others wait', async () => {
    const { clock, limiter } = rig({ concurrency: 2 });
    const held = await limiter.acquire({ weight: 2 });
    const waiting = fate(limiter.acquire());
    const heavy = fate(limiter.run(() => 1, { weight: 3 }));
    await clock.advanceAsync(0);
    expect(heavy.error).toBeInstanceOf(CostAboveLimitError);
    expect(heavy.error).toMatchObject({ limit: 'concurrency', cost: 3, maxCost: 2 });
    expect(() => limiter.tryAcquire({ weight: 3 })).toThrow(CostAboveLimitError);
    const outcomes: Outcome<number, number>[] = [];
    of(1, 5)
      .pipe(throttle(async (n) => n, { concurrency: 2, weight: (n) => n, outcomes: true }))
      .subscribe((outcome) => outcomes.push(outcome));
    await clock.advanceAsync(0);
    expect(outcomes.map(({ request, status }) => `${request} ${status}`)).toEqual([
      '5 failed',
      '1 ok',
    ]);
    held.release();
    await clock.advanceAsync(0);
    waiting.value?.release();
    expectIdle(limiter);
    for (const weight of [0, 1.5, Number.NaN, '2']) {
      expect(() => limiter.run(() => 1, { weight: weight as number })).toThrow(
        '`weight` must be an integer >= 1',
      );
    }
  });

  it('fails when its turn comes if the limit was lowered below it', async () => {
    const { clock, limiter } = rig({ concurrency: 3 });
    const held = await limiter.acquire();
    const heavy = fate(limiter.acquire({ weight: 3 }));
    limiter.configure({ concurrency: 2 });
    held.release();
    await clock.advanceAsync(0);
    expect(heavy.error).toMatchObject({ limit: 'concurrency', cost: 3, maxCost: 2 });
    expectIdle(limiter);
  });

  it('above an adaptive limit sends the request alone', async () => {
    const adaptive = { strategy: 'rate', initialLimit: 2 } as const;
    const { clock, limiter } = rig({ concurrency: 8, adaptive });
    const first = await limiter.acquire();
    const heavy = fate(limiter.acquire({ weight: 5 }));
    const light = fate(limiter.acquire());
    await clock.advanceAsync(0);
    expect([heavy.state, light.state]).toEqual(['open', 'open']);
    first.release('cancelled');
    await clock.advanceAsync(0);
    expect([heavy.state, light.state]).toEqual(['ok', 'open']);
    heavy.value?.release();
    await clock.advanceAsync(0);
    light.value?.release();
    expectIdle(limiter);
  });

  it('counts for the slots that the keys of a group share', async () => {
    const clock = new ManualClock();
    const group = createLimiterGroup((key: string) => key, { clock, shared: { concurrency: 3 } });
    const [a, b] = [
      fate(group.acquire('a', { weight: 2 })),
      fate(group.acquire('b', { weight: 2 })),
    ];
    await clock.advanceAsync(0);
    expect([a.state, b.state]).toEqual(['ok', 'open']);
    await expect(group.acquire('b', { weight: 4 })).rejects.toMatchObject({ maxCost: 3 });
    a.value?.release();
    await clock.advanceAsync(0);
    expect(b.state).toBe('ok');
    b.value?.release();
    expect(group.snapshot().shared?.concurrency?.inFlight).toBe(0);
  });

  it('is held within the limit, first come first served, in any order of events (generated)', async () => {
    const step = fc.record({
      do: fc.constantFrom('run', 'run', 'run', 'end', 'end', 'abort', 'pause', 'resume', 'clear'),
      weight: fc.integer({ min: 1, max: 4 }),
      pick: fc.nat(),
    });
    const law = fc.asyncProperty(
      fc.array(step, { maxLength: 60 }),
      fc.integer({ min: 1, max: 5 }),
      async (steps, concurrency) => {
        const clock = new ManualClock();
        const limiter = createLimiter({ clock, concurrency, adaptive: false });
        const calls: { weight: number; call: Pending<number> }[] = [];
        const aborts: AbortController[] = [];
        const all: ReturnType<typeof fate>[] = [];
        const sent: number[] = [];
        let held = 0;
        let isEnding = false;
        for (const { do: what, weight, pick } of steps) {
          if (what === 'run') {
            const id = all.length;
            const controller = new AbortController();
            aborts.push(controller);
            const { signal } = controller;
            const task = () => {
              const call = pending<number>();
              if (isEnding) return id;
              held += weight;
              expect(held).toBeLessThanOrEqual(concurrency);
              expect(sent.every((other) => other < id)).toBe(true);
              sent.push(id);
              calls.push({ weight, call });
              const end = () => {
                held -= weight;
              };
              call.promise.then(end, end);
              signal.addEventListener('abort', () => call.resolve(id));
              return call.promise;
            };
            all.push(fate(limiter.run(task, { weight, signal })));
          } else if (what === 'end') {
            calls.splice(pick % (calls.length || 1), 1)[0]?.call.resolve(1);
          } else if (what === 'abort') {
            aborts[pick % (aborts.length || 1)]?.abort();
          } else if (what === 'pause') limiter.pause();
          else if (what === 'resume') limiter.resume();
          else limiter.clear();
          await clock.advanceAsync(0);
          const { concurrency: slots, waiting, paused } = limiter.snapshot();
          expect(slots.inFlight).toBeLessThanOrEqual(concurrency);
          if (waiting > 0 && paused === undefined) expect(slots.inFlight).toBeGreaterThan(0);
        }
        isEnding = true;
        limiter.resume();
        for (const { call } of calls) call.resolve(1);
        await clock.advanceAsync(0);
        expect(all.filter(({ state }) => state === 'open')).toEqual([]);
        expectIdle(limiter);
        expect(clock.pendingTimers).toBe(0);
      },
    );
    await fc.assert(law, { numRuns: 200 });
  });
});
