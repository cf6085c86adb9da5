import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import type { SharedStore } from '../../src/fleet/shared-store.ts';
import { createLimiter, type Limiter } from '../../src/index.ts';
import { Monitor } from '../../src/inspector/monitor.ts';
import type { FleetView } from '../../src/inspector/wire.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';

const NEVER_ENDS = 1e9;

let clock: ManualClock;
let monitor: Monitor;
let limiters: Limiter[];

beforeEach(() => {
  clock = new ManualClock();
  monitor = new Monitor({ showValues: false, wallNow: () => clock.now() });
  limiters = [];
  vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
});
afterEach(() => {
  for (const limiter of limiters) limiter.close({ waiting: 'reject' });
  monitor.close();
  vi.restoreAllMocks();
});

function worker(store: SharedStore, name: string, concurrency = 100): Limiter {
  const shared = { ...store, worker: name };
  const limiter = createLimiter({ name, clock, concurrency, adaptive: false, shared });
  limiters.push(limiter);
  return limiter;
}

/** Sends requests that take a time each. */
function send(limiter: Limiter, count: number, tookMs: number): void {
  for (let request = 0; request < count; request += 1) {
    const task = () => new Promise<void>((done) => clock.setTimer(done, tookMs));
    limiter.run(task).catch(() => {});
  }
}

/** What a page that looks four times a second sees of a limiter at last. */
async function seen(name: string, forMs = 5_000): Promise<FleetView | undefined> {
  let view: FleetView | undefined;
  for (let left = forMs; left > 0; left -= 250) {
    await clock.advanceAsync(250);
    monitor.look();
    const id = monitor.summaries.find((each) => each.name === name)?.id ?? -1;
    view = monitor.frame(monitor.find(id), undefined, false).detail?.fleet;
  }
  return view;
}

describe('the workers of a key', () => {
  it('are shown with their holdings and rates', async () => {
    const store = memoryStore({ clock });
    const [busy, held] = [worker(store, 'busy'), worker(store, 'held')];
    send(held, 30, NEVER_ENDS);
    for (let each = 0; each < 60; each += 1) {
      clock.setTimer(() => send(busy, 10, 50), each * 100);
    }
    const view = await seen('busy');
    expect(view).toMatchObject({ isAway: false, slots: 100, more: 0 });
    expect(view?.headline).toMatch(/^2 workers work on this key\. The store answers in /);
    const [first, second] = view?.rows ?? [];
    expect(first).toMatchObject({ slots: 30, perSecond: 0, isThis: false });
    expect(first?.name).toMatch(/^held \([0-9a-f]{8}\)$/);
    expect(second).toMatchObject({ isThis: true, isActive: true });
    expect(second?.perSecond).toBeGreaterThan(90);
    expect(second?.perSecond).toBeLessThan(110);
  });

  it('hold the slots that this worker waits for, though few of them are its own', async () => {
    const store = memoryStore();
    send(worker(store, 'first', 10), 9, NEVER_ENDS);
    await seen('first');
    send(worker(store, 'second', 10), 9, NEVER_ENDS);
    await seen('second');
    const id = monitor.summaries.find(({ name }) => name === 'second')?.id ?? -1;
    expect(monitor.find(id)?.detail(undefined).headline).toMatch(
      /^\d wait: the workers of this key hold all 10 slots\.$/,
    );
  });

  it('are at most the 32 that hold most; the others are counted', async () => {
    const store = memoryStore({ clock });
    for (let each = 1; each <= 40; each += 1) {
      send(worker(store, `worker-${each}`, 10_000), each, NEVER_ENDS);
    }
    const view = await seen('worker-40');
    expect(view?.rows).toHaveLength(32);
    expect(view?.more).toBe(8);
    expect(view?.rows.map(({ slots }) => slots)).toEqual(
      Array.from({ length: 32 }, (_, place) => 40 - place),
    );
    // One that holds little is shown on its own page all the same.
    const small = await seen('worker-1');
    expect(small?.rows).toHaveLength(33);
    expect(small?.rows[0]).toMatchObject({ isThis: true, slots: 1 });
  });

  it('are asked for only while a page is open, every two seconds', async () => {
    const store = memoryStore({ clock });
    let asked = 0;
    const counted: SharedStore = {
      ...store,
      workers: () => {
        asked += 1;
        return store.workers?.() ?? [];
      },
    };
    send(worker(counted, 'alone'), 5, NEVER_ENDS);
    for (let look = 0; look < 40; look += 1) {
      await clock.advanceAsync(250);
      monitor.look();
    }
    expect(asked).toBe(0);
    await seen('alone', 10_000);
    expect(asked).toBe(5);
  });

  it.each([
    ['pause', 'The store cannot be reached. Nothing is sent until it answers.'],
    ['share', 'The store cannot be reached. Each worker goes on with an equal share of the limits'],
  ] as const)('stay as they were while the store is away: %s', async (onStoreLoss, said) => {
    const store = memoryStore({ clock, onStoreLoss });
    let isCut = false;
    const cut = <R>(call: () => R): R => {
      if (isCut) throw new Error('the way to the store is cut');
      return call();
    };
    const shared: SharedStore = {
      ...store,
      exchange: (request) => cut(() => store.exchange(request)),
      workers: () => cut(() => store.workers?.() ?? []),
    };
    send(worker(shared, onStoreLoss), 3, NEVER_ENDS);
    send(worker(store, `beside-${onStoreLoss}`), 4, NEVER_ENDS);
    expect((await seen(onStoreLoss))?.rows).toHaveLength(2);
    isCut = true;
    const view = await seen(onStoreLoss);
    expect(view?.isAway).toBe(true);
    expect(view?.headline).toContain(said);
    expect(view?.rows).toHaveLength(2);
    isCut = false;
    expect((await seen(onStoreLoss))?.isAway).toBe(false);
  });

  it('wait for a store that is away, which the headline of the limiter says', async () => {
    const store = memoryStore({ clock, onStoreLoss: 'pause' });
    let isCut = false;
    const exchange: SharedStore['exchange'] = (request) => {
      if (isCut) throw new Error('the way to the store is cut');
      return store.exchange(request);
    };
    const limiter = worker({ ...store, exchange }, 'cut-off');
    const headline = () =>
      monitor
        .find(monitor.summaries.find(({ name }) => name === 'cut-off')?.id ?? -1)
        ?.detail(undefined).headline;
    send(limiter, 1, NEVER_ENDS);
    await seen('cut-off');
    isCut = true;
    await seen('cut-off');
    send(limiter, 1, NEVER_ENDS);
    monitor.look();
    expect(headline()).toBe('1 waits: the store that workers share cannot be reached.');
  });

  it('are this one alone if the store lists none, or was not asked', async () => {
    const { exchange, join } = memoryStore({ clock });
    const limiter = worker({ exchange, join }, 'silent');
    expect(await seen('silent')).toMatchObject({
      headline: 'The store was not asked yet: it is, with the first request.',
    });
    send(limiter, 2, NEVER_ENDS);
    const view = await seen('silent');
    expect(view?.rows).toMatchObject([{ isThis: true, slots: 2, isActive: true }]);
  });

  it('are undefined if nothing is shared', async () => {
    const limiter = createLimiter({ name: 'own', clock });
    limiters.push(limiter);
    expect(await seen('own')).toBeUndefined();
  });

  it('are asked for again where the system clock steps back', async () => {
    let setMs = 0;
    monitor.close();
    monitor = new Monitor({ showValues: false, wallNow: () => clock.now() + setMs });
    const store = memoryStore({ clock });
    const [own, other] = [worker(store, 'own-clock'), worker(store, 'other')];
    send(own, 1, NEVER_ENDS);
    send(other, 30, NEVER_ENDS);
    expect((await seen('own-clock'))?.rows.find(({ isThis }) => !isThis)?.slots).toBe(30);
    setMs = -3_600_000;
    send(other, 10, NEVER_ENDS);
    expect((await seen('own-clock'))?.rows.find(({ isThis }) => !isThis)?.slots).toBe(40);
  });
});
