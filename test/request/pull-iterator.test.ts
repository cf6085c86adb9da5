import type { Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  createLimiter,
  createLimiterGroup,
  type LimiterOptions,
  throttleFrom,
} from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { fate } from '../limiter/harness.ts';
import { watch } from './harness.ts';

/** More values than any loop may read before it lets the event loop run. */
const TOO_MANY = 20_000;

function* endless() {
  for (let n = 0; n < TOO_MANY; n += 1) yield `${n}`;
  throw new Error('the event loop never ran');
}

async function* endlessAsync() {
  yield* endless();
}

const task = async (value: string) => value;
const outcomes = true;

const USED_UP: LimiterOptions = {
  limits: { requests: { limit: 1, windowMs: Number.POSITIVE_INFINITY } },
  onLimit: 'fail',
};
const SPENT: LimiterOptions = {
  costBudget: { maxCost: 1, windowMs: 60_000, onLimit: 'fail', inputPrice: 1e6, outputPrice: 0 },
};

function made(options: LimiterOptions | 'closed') {
  const clock = new ManualClock();
  const limiter = createLimiter({ clock, ...(options === 'closed' ? {} : options) });
  if (options === 'closed') limiter.close();
  return { clock, limiter };
}

const LIMITS = [
  ['a closed limiter', 'closed'],
  ['a used-up quota', USED_UP],
  ['a spent cost budget', SPENT],
] as const;

const SOURCES = [
  ['an iterable', endless],
  ['an async iterable', endlessAsync],
] as const;

describe.each(SOURCES)('%s without an end', (_kind, source) => {
  it.each(LIMITS)(
    'lets an abort end `map` while requests fail at once at %s',
    async (_l, options) => {
      const { clock, limiter } = made(options);
      const controller = new AbortController();
      const { signal } = controller;
      const estimate = () => ({ bytes: 1, tokens: 1 });
      const mapped = fate(limiter.map(source(), task, { outcomes, signal, estimate }));
      await clock.advanceAsync(0);
      controller.abort(new Error('enough'));
      await clock.advanceAsync(0);
      expect(mapped.error).toMatchObject({ message: 'enough' });
    },
  );

  it('lets an abort end `group.map` after `close`', async () => {
    const clock = new ManualClock();
    const group = createLimiterGroup((value: string) => value.slice(0, 1), { clock });
    group.close();
    const controller = new AbortController();
    const { signal } = controller;
    const mapped = fate(group.map(source(), task, { outcomes, signal }));
    await clock.advanceAsync(0);
    controller.abort(new Error('enough'));
    await clock.advanceAsync(0);
    expect(mapped.error).toMatchObject({ message: 'enough' });
  });

  it('lets others unsubscribe from `throttleFrom` while requests fail at once', async () => {
    const { clock, limiter } = made(USED_UP);
    const streams: Observable<unknown>[] = [
      limiter.throttleFrom(source(), task, { outcomes }),
      throttleFrom(source(), task, { ...USED_UP, clock, outcomes }),
    ];
    for (const stream of streams) {
      const seen = watch(stream);
      await clock.advanceAsync(0);
      seen.subscription.unsubscribe();
      const { length } = seen.values;
      expect(length).toBeGreaterThan(100);
      await clock.advanceAsync(0);
      expect(seen.error).toBeUndefined();
      expect(seen.values).toHaveLength(length);
    }
  });
});

const values = Array.from({ length: 5_000 }, (_, n) => `${n}`);

it('a source of many values has an outcome for each, though all fail at once', async () => {
  const { clock, limiter } = made('closed');
  const mapped = fate(limiter.map(values, task, { outcomes }));
  for (let turn = 0; turn < 10; turn += 1) await clock.advanceAsync(0);
  expect(mapped.value).toHaveLength(5_000);
});

it('values that are sent do not wait for the event loop', async () => {
  const { limiter } = made({ adaptive: false });
  let hasTurned = false;
  setImmediate(() => {
    hasTurned = true;
  });
  expect(await limiter.map(values, task)).toEqual(values);
  expect(hasTurned).toBe(false);
});
