import { of, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { concurrencyLimit, costBudget, dispatch, rateLimit } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { ApiError, failingWith, watch } from '../../request/harness.ts';

const WINDOW_MS = 1_000;
const SERVICE_MS = 10;

/** Makes a project that notes when its attempts were sent. */
function serverOf(clock: ManualClock) {
  const sentAt: number[] = [];
  const project = (value: string) =>
    new Promise<string>((resolve) => {
      sentAt.push(clock.now());
      clock.setTimer(() => resolve(value), SERVICE_MS);
    });
  return { sentAt, project };
}

describe('a gate behind another one', () => {
  it('charges the `costs` that a `rateLimit` was given', async () => {
    const clock = new ManualClock();
    const { sentAt, project } = serverOf(clock);
    const limits = { images: { limit: 2, windowMs: WINDOW_MS } };
    const chain = of('a', 'b').pipe(
      concurrencyLimit<string>({ clock }),
      rateLimit<string>({ limits, costs: () => ({ images: 2 }), clock }),
      dispatch(project, { clock }),
    );
    watch(chain);
    await clock.runAllAsync();
    expect(sentAt).toEqual([0, WINDOW_MS]);
  });

  it('charges the `costs` that a `costBudget` was given, and those of the gate before it', async () => {
    const clock = new ManualClock();
    const { sentAt, project } = serverOf(clock);
    const limits = { images: { limit: 4, windowMs: WINDOW_MS } };
    const chain = of('a', 'b', 'c').pipe(
      rateLimit<string>({ limits, costs: () => ({ images: 2 }), clock }),
      costBudget<string>({
        ...{ maxCost: 3, windowMs: 2 * WINDOW_MS, clock },
        costs: () => ({ cost: 2 }),
      }),
      dispatch(project, { clock }),
    );
    watch(chain);
    await clock.runAllAsync();
    expect(sentAt).toEqual([0, 2 * WINDOW_MS, 4 * WINDOW_MS]);
  });

  it('passes its `costs` by a `rateLimit` that has none, before and behind it', async () => {
    const clock = new ManualClock();
    const { calls, project } = failingWith([new ApiError(500)], () => clock.now());
    const limits = { requests: { limit: 9, windowMs: WINDOW_MS } };
    const images = { images: { limit: 2, windowMs: WINDOW_MS } };
    const chain = of('a').pipe(
      rateLimit<string>({ limits, clock }),
      rateLimit<string>({ limits: images, costs: () => ({ images: 2 }), clock }),
      rateLimit<string>({ limits, clock }),
      dispatch(project, { clock }),
    );
    const seen = watch(chain);
    await clock.runAllAsync();
    expect(calls).toHaveLength(2);
    expect(seen.state).toBe('complete');
  });

  it('takes the slots of the `weight` that a `concurrencyLimit` was given', async () => {
    const clock = new ManualClock();
    const { sentAt, project } = serverOf(clock);
    const chain = of('a', 'b').pipe(
      rateLimit<string>({ limits: { requests: { limit: 9, windowMs: WINDOW_MS } }, clock }),
      concurrencyLimit<string>({ concurrency: 3, weight: () => 2, clock }),
      dispatch(project, { clock }),
    );
    watch(chain);
    await clock.runAllAsync();
    expect(sentAt).toEqual([0, SERVICE_MS]);
  });

  it('fails the stream if such a function throws, and leaves nothing behind', async () => {
    const clock = new ManualClock();
    const settled: string[] = [];
    const instrumentation = { settled: (_: unknown, outcome: string) => settled.push(outcome) };
    const costs = (value: string) => {
      if (value === 'b') throw new Error('no cost');
      return { images: 1 };
    };
    const limits = { images: { limit: 9, windowMs: WINDOW_MS } };
    const chain = of('a', 'b').pipe(
      concurrencyLimit<string>({ clock, instrumentation }),
      rateLimit<string>({ limits, costs, clock }),
      dispatch(serverOf(clock).project, { clock }),
    );
    const seen = watch(chain);
    expect(seen.error).toMatchObject({ name: 'EstimatorError', index: 1 });
    await clock.runAllAsync();
    expect(settled).toEqual(['cancelled', 'cancelled']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('leaves nothing behind if such a function unsubscribes', async () => {
    const clock = new ManualClock();
    const settled: string[] = [];
    const instrumentation = { settled: (_: unknown, outcome: string) => settled.push(outcome) };
    const limits = { images: { limit: 9, windowMs: WINDOW_MS } };
    const values = new Subject<string>();
    const chain = values.pipe(
      concurrencyLimit<string>({ clock, instrumentation }),
      rateLimit<string>({
        ...{ limits, clock },
        costs: () => {
          seen.unsubscribe();
          return { images: 1 };
        },
      }),
      dispatch(serverOf(clock).project, { clock }),
    );
    const seen = chain.subscribe();
    values.next('a');
    await clock.runAllAsync();
    expect(settled).toEqual(['cancelled']);
    expect(clock.pendingTimers).toBe(0);
  });
});
