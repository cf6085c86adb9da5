import type { SharedStore } from '../../src/fleet/shared-store.ts';
import type { ManualClock } from '../../src/simulator/manual-clock.ts';

/** The store, reached by calls that take a time each way. */
export function slowStore(store: SharedStore, clock: ManualClock, wayMs: number): SharedStore {
  const pass = <T>(value: T) =>
    new Promise<T>((done) => {
      clock.setTimer(() => done(structuredClone(value)), wayMs);
    });
  return {
    ...store,
    exchange: (request) =>
      wayMs === 0
        ? store.exchange(structuredClone(request))
        : pass(request).then(async (arrived) => pass(await store.exchange(arrived))),
    of: (name) => slowStore((store.of as NonNullable<SharedStore['of']>)(name), clock, wayMs),
  };
}
