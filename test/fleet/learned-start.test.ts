import { expect, it } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import type { LimiterOptions } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { keepWarnings } from '../support/warnings.ts';
import { Worker } from './rig.ts';

keepWarnings();

/** Workers of an API that rejects everything in 10 ms, and when it was asked. */
function rejectedFleet(onStoreLoss: 'pause' | 'share', count: number) {
  const clock = new ManualClock();
  const store = memoryStore({ clock, onStoreLoss });
  const options = { adaptive: 'rate', concurrency: 400 } as const;
  const workers = Array.from({ length: count }, () => new Worker(store, clock, options));
  const asked: number[] = [];
  const reject = async () => {
    asked.push(clock.now());
    await new Promise<void>((done) => clock.setTimer(done, 10));
    throw Object.assign(new Error('busy'), { status: 429 });
  };
  const send = ({ limiter }: Worker, requests: number) => {
    for (let one = 0; one < requests; one += 1) limiter.run(reject).catch(() => {});
  };
  return { clock, workers, asked, send };
}

it('requests are not sent for long if the first leader is gone before it has made a plan', async () => {
  const { clock, workers, asked, send } = rejectedFleet('pause', 4);
  const [leader, ...others] = workers as [Worker, ...Worker[]];
  send(leader, 1);
  expect(leader.limiter.snapshot().fleet?.leads).toBe(true);
  leader.way = 'cut';
  for (const one of others) send(one, 50);
  await clock.advanceAsync(4_000);
  expect(asked.length).toBeLessThan(450);
  // Another worker leads, and probes.
  await clock.advanceAsync(20_000);
  expect(asked.some((at) => at > 10_000)).toBe(true);
  expect(asked.length).toBeLessThan(500);
  for (const { limiter } of workers) limiter.close();
});

it('workers that go on alone while the API rejects everything send few requests', async () => {
  const { clock, workers, asked, send } = rejectedFleet('share', 4);
  for (const one of workers) send(one, 50);
  await clock.advanceAsync(20_000);
  expect(workers[0]?.limiter.snapshot().fleet?.learned?.isOut).toBe(true);
  const before = asked.length;
  for (const one of workers) one.way = 'cut';
  await clock.advanceAsync(10_000);
  // Each worker waits for a second after each 429, and has a quarter of 16 requests in flight.
  expect(asked.length - before).toBeLessThanOrEqual(4 * 4 * 11);
  for (const { limiter } of workers) limiter.close();
});

/** How many requests are in flight in the second round of answers, which report a limit. */
async function secondRound(adaptive: LimiterOptions['adaptive']): Promise<number> {
  const clock = new ManualClock();
  const store = memoryStore({ clock });
  const { limiter } = new Worker(store, clock, { adaptive, concurrency: 400 });
  let remaining = 2_000;
  let inFlight = 0;
  const ask = async () => {
    remaining -= 1;
    const left = String(remaining);
    inFlight += 1;
    await new Promise<void>((done) => clock.setTimer(done, 2_000));
    inFlight -= 1;
    const headers = {
      'x-ratelimit-limit-requests': '2000',
      'x-ratelimit-remaining-requests': left,
      'x-ratelimit-reset-requests': '59.5s',
    };
    return new Response('done', { headers });
  };
  for (let one = 0; one < 200; one += 1) limiter.run(ask).catch(() => {});
  await clock.advanceAsync(3_900);
  limiter.close({ waiting: 'reject' });
  return inFlight;
}

it('a fleet sends at once what the first answers report, unless the user sets the first number', async () => {
  expect(await secondRound('rate')).toBeGreaterThan(100);
  expect(await secondRound({ strategy: 'rate', initialLimit: 16 })).toBeLessThanOrEqual(40);
});
