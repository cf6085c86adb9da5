import { queryObjects } from 'node:v8';
import { expect, it } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import { FleetModel } from '../../src/fleet/model/fleet-model.ts';
import { createLimiter } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { keepWarnings } from '../support/warnings.ts';
import { Worker } from './rig.ts';

keepWarnings();

it('keeps nothing of keys that are only read', () => {
  const store = memoryStore({ clock: new ManualClock() });
  const before = queryObjects(FleetModel, { format: 'count' });
  for (let key = 0; key < 10_000; key += 1) {
    expect(store.of?.(`key ${key}`).workers?.()).toEqual([]);
  }
  expect(queryObjects(FleetModel, { format: 'count' }) - before).toBe(0);
  // Used once more, so that the store was not collected above.
  expect(store.workers?.()).toEqual([]);
});

it('shows the workers of a key that was called', () => {
  const clock = new ManualClock();
  const store = memoryStore({ clock });
  new Worker(store, clock, { concurrency: 2 }).send(1, 100);
  expect(store.workers?.()).toMatchObject([{ slots: expect.any(Number), active: 1 }]);
});

it('sends a retry whose slot has gone to another limiter', async () => {
  const clock = new ManualClock();
  const shared = memoryStore({ clock });
  const options = { clock, shared, concurrency: 1, random: () => 0 };
  const [one, other] = [createLimiter(options), createLimiter(options)];
  const sent: string[] = [];
  // Both are known to the store.
  for (const limiter of [other, one, other, one]) {
    void limiter.run(() => sent.push('first'));
    await clock.advanceAsync(1_000);
  }
  void one.run(async () => {
    sent.push('one');
    if (!sent.includes('other')) throw Object.assign(new Error('failed'), { status: 500 });
  });
  void other.run(() => sent.push('other'));
  await clock.advanceAsync(60_000);
  expect(sent.slice(4)).toEqual(['one', 'other', 'one']);
});
