import { expect, it } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import type { ExchangeRequest } from '../../src/fleet/protocol.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { keepWarnings } from '../support/warnings.ts';
import { Worker } from './rig.ts';

const TTL_MS = 1_000;
const CONCURRENCY = 6;

keepWarnings();

/** Keeps so many requests waiting or in flight. */
function keepSending(one: Worker, lanes: number): void {
  one.send(lanes, 40, 1, () => keepSending(one, 1));
}

/**
 * Two workers go on alone. A few calls of one of them are kept by its client, and state the one
 * slot that it held. While they are kept, it gets its whole share of three slots. It is connected
 * again after the store has stopped waiting for reports.
 * @returns the most requests in flight from then on
 */
async function mostAfter(reconnectsMs: number, forgets: boolean): Promise<number> {
  const clock = new ManualClock();
  const settings = { clock, onStoreLoss: 'share', ttlMs: TTL_MS } as const;
  let store = memoryStore(settings);
  const shared = { ...store, exchange: (request: ExchangeRequest) => store.exchange(request) };
  const [late, other] = [0, 1].map(
    () => new Worker(shared, clock, { concurrency: CONCURRENCY }),
  ) as [Worker, Worker];
  keepSending(late, 1);
  keepSending(other, 8);
  await clock.advanceAsync(2 * TTL_MS);
  expect([late.inFlight, other.inFlight]).toEqual([1, 5]);
  late.way = 'kept';
  other.way = 'cut';
  await clock.advanceAsync(TTL_MS / 2);
  keepSending(late, 7);
  await clock.advanceAsync(2 * TTL_MS);
  expect([late.inFlight, other.inFlight]).toEqual([3, 3]);
  if (forgets) store = memoryStore(settings);
  other.way = 'open';
  await clock.advanceAsync(reconnectsMs);
  expect([late.inFlight, other.inFlight]).toEqual([3, 3]);
  late.reconnect();
  let most = 0;
  for (let ms = 0; ms < TTL_MS / 4; ms += 1) {
    await clock.advanceAsync(1);
    most = Math.max(most, late.inFlight + other.inFlight);
  }
  expect([late.inFlight, other.inFlight]).toEqual([3, 3]);
  return most;
}

it.each([
  ['with', false],
  ['without', true],
])(
  'a worker whose client kept its calls counts with its whole share, in a store %s its data',
  async (_, forgets) => {
    // The other worker calls every 25 ms: once between the kept calls.
    for (let ms = 700; ms < 725; ms += 1) expect(await mostAfter(ms, forgets)).toBe(CONCURRENCY);
  },
);
