import fc from 'fast-check';
import { config } from 'rxjs';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { LONG_MS, runs } from '../../support/runs.ts';
import { stepCount } from '../../support/steps.ts';
import { type Script, script } from './script.ts';
import { World } from './world.ts';

const unhandled: unknown[] = [];
const note = (reason: unknown) => void unhandled.push(reason);

beforeEach(() => {
  process.on('unhandledRejection', note);
  // Each callback that throws is warned of.
  vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  // What a listener or a teardown throws, RxJS throws again in a turn of its own.
  config.onUnhandledError = () => {};
});
afterEach(() => {
  process.off('unhandledRejection', note);
  config.onUnhandledError = null;
});

async function play({ setup, steps }: Script): Promise<void> {
  unhandled.length = 0;
  const world = new World(setup);
  for (const step of steps) {
    await world.play(step);
    rest(world, setup.ordered);
  }
  await world.heal();
  end(world);
  expect(unhandled).toEqual([]);
}

/** What holds whenever nothing is going on. */
function rest({ limiter, requests }: World, isOrdered: boolean): void {
  expect(requests.filter(({ ends }) => ends > 1)).toEqual([]);
  expect(requests.filter(({ strayed }) => strayed > 0)).toEqual([]);
  if (limiter === undefined) return;
  const { waiting, concurrency } = limiter.snapshot();
  const alive = requests.filter(({ ends, isGone, hasLease }) => ends === 0 && !isGone && !hasLease);
  const unsent = alive.filter(({ attempts }) => attempts === 0);
  const between = alive.filter(({ attempts, calls }) => attempts > 0 && calls === 0);
  // The failure of one that has given up waiting comes in its turn.
  const surely = unsent.filter(({ isStream }) => !isStream || !isOrdered);
  expect(waiting).toBeGreaterThanOrEqual(surely.length);
  expect(waiting).toBeLessThanOrEqual(unsent.length + between.length);
  expect(concurrency.inFlight).toBeGreaterThanOrEqual(0);
}

/** What holds in the end: everyone has an answer, and nothing is left. */
function end({ clock, group, limiter, requests, streams }: World): void {
  expect(requests.filter(({ ends, isGone }) => ends !== 1 && !isGone)).toEqual([]);
  expect(streams.filter(({ state }) => state === 'open')).toEqual([]);
  // A group looks again and again after keys that have learned something.
  if (group === undefined) expect(clock.pendingTimers).toBe(0);
  expect(clock.keepAlive).toBe(0);
  for (const { concurrency, waiting } of Object.values(group?.snapshot().keys ?? {})) {
    expect({ inFlight: concurrency.inFlight, waiting }).toEqual({ inFlight: 0, waiting: 0 });
  }
  if (limiter === undefined) return;
  const { waiting, state, concurrency, byteBudget } = limiter.snapshot();
  expect({ waiting, state, inFlight: concurrency.inFlight, used: byteBudget.used }).toEqual({
    waiting: 0,
    state: 'closed',
    inFlight: 0,
    used: 0,
  });
}

it(
  'whatever callbacks throw, every request ends once, in its own context, and nothing is held',
  async () => {
    const count = stepCount('hostile');
    const law = fc.asyncProperty(script, (played) => {
      count.add(played.steps);
      return play(played);
    });
    await fc.assert(law, { numRuns: runs(500) });
    count.expectEnough();
  },
  LONG_MS,
);
