import { expect, it } from 'vitest';
import { ExchangeRequestBuilder } from '../../src/fleet/exchange-request.ts';
import { type FleetRequest, NO_LESSON } from '../../src/fleet/fleet-hooks.ts';
import type { SharedConfig } from '../../src/fleet/protocol.ts';
import { WorkerAccount } from '../../src/fleet/worker-account.ts';

const CONFIG: SharedConfig = {
  limits: [{ name: 'requests', capacity: 60e6, perHour: 3_600e6 }],
  slots: 10,
  bytes: 1_000,
  ttl: 1_000_000,
  keep: 1_000_000,
  tick: 50_000,
  startSlots: 0,
};
const request = (tokens: number): FleetRequest => ({ costs: [1e6], slots: 1, bytes: 0, tokens });

/** @returns the tokens of each demand of a call for three waiting requests */
function tokensAskedFor(head: FleetRequest, sent: readonly FleetRequest[]): number[] {
  const account = new WorkerAccount(CONFIG, false);
  for (const one of sent) account.take(one, 0);
  const builder = new ExchangeRequestBuilder('worker', account, {
    waiting: () => 3,
    news: () => ({ closed: 0, throttled: 0, broken: 0, lesson: NO_LESSON }),
  });
  return builder.build(head, false, false, 0).demand.map(({ tokens }) => tokens);
}

it('asks for the tokens of waiting requests before the worker knows of a learned rate', () => {
  // The first demand is for the head alone.
  expect(tokensAskedFor(request(7e6), [])).toEqual([7e6, 7e6]);
  expect(tokensAskedFor(request(7e6), [request(2e6), request(2e6)])).toEqual([7e6, 2e6]);
});

it('says that the first request keeps its slots and bytes only where the worker has them', () => {
  const account = new WorkerAccount(CONFIG, false);
  const builder = new ExchangeRequestBuilder('worker', account, {
    waiting: () => 1,
    news: () => ({ closed: 0, throttled: 0, broken: 0, lesson: NO_LESSON }),
  });
  const head = { ...request(0), bytes: 5 };
  const keeps = () => builder.build(head, true, false, 0).keeps;
  expect(keeps()).toBe(0);
  account.holdings.slots.lent(1, 1);
  expect(keeps()).toBe(0);
  account.holdings.bytes.lent(5, 5);
  expect(keeps()).toBe(1);
});
