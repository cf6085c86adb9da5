import { ManualClock } from 'headgate/simulator';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createLimiter } from '../../../src/index.ts';
import { lengthOf, type Sdk, startSdk } from '../../telemetry/sdk.ts';

let sdk: Sdk;
let clock: ManualClock;
beforeEach(() => {
  sdk = startSdk();
  clock = new ManualClock();
});
afterEach(() => sdk.stop());

const rateLimit = (limit: string) => ({ 'headgate.gate': 'rateLimit', 'headgate.limit': limit });

/** Two requests: the second waits for one limit, of which `leftMs` are left when it comes. */
async function waitFor(limit: 'rpm' | 'tpm', leftMs: number) {
  const limiter = createLimiter({
    clock,
    adaptive: false,
    limits: { rpm: { limit: 1, windowMs: 100 }, tpm: { limit: 10, windowMs: 300 } },
  });
  const costs = { rpm: limit === 'rpm' ? 1 : 0, tpm: limit === 'tpm' ? 10 : 0 };
  await limiter.run(() => 1, { costs });
  await clock.advanceAsync((limit === 'rpm' ? 100 : 300) - leftMs);
  const second = limiter.run(() => 2, { costs });
  await clock.advanceAsync(leftMs);
  await second;
}

it('the histogram of waits names the binding limit', async () => {
  await waitFor('rpm', 50);
  await waitFor('tpm', 200);
  const now = await sdk.collect();
  const waits = (limit: string) => now.histogram('headgate.gate.wait.duration', rateLimit(limit));
  expect(waits('rpm')).toEqual({ count: 1, sum: 0.05 });
  expect(waits('tpm')).toEqual({ count: 1, sum: 0.2 });
  expect(now.points('headgate.gate.wait.duration')).toHaveLength(2);
});

it('the span of a wait names the binding limit', async () => {
  await waitFor('rpm', 50);
  await waitFor('tpm', 200);
  const waits = sdk.finished('headgate.wait');
  expect(waits.map((wait) => [lengthOf(wait), wait.attributes])).toEqual([
    [50, expect.objectContaining(rateLimit('rpm'))],
    [200, expect.objectContaining(rateLimit('tpm'))],
  ]);
});

it('the event of a short wait names the binding limit', async () => {
  await waitFor('rpm', 1);
  await waitFor('tpm', 1);
  const events = sdk.finished('headgate.request').flatMap((span) => span.events);
  expect(events.map(({ name, attributes }) => [name, attributes])).toEqual([
    ['headgate.wait', { ...rateLimit('rpm'), 'headgate.seconds': 0.001 }],
    ['headgate.wait', { ...rateLimit('tpm'), 'headgate.seconds': 0.001 }],
  ]);
  expect(sdk.finished('headgate.wait')).toEqual([]);
});

it('a wait for another gate names no limit', async () => {
  const limiter = createLimiter({ clock, adaptive: false, concurrency: 1 });
  const sleep = () => new Promise<void>((resolve) => clock.setTimer(resolve, 50));
  const sent = [limiter.run(sleep), limiter.run(sleep)];
  await clock.advanceAsync(100);
  await Promise.all(sent);
  const now = await sdk.collect();
  const slot = { 'headgate.gate': 'concurrency' };
  expect(now.histogram('headgate.gate.wait.duration', slot)).toEqual({ count: 1, sum: 0.05 });
  const limits = sdk.finished('headgate.wait').map((wait) => wait.attributes['headgate.limit']);
  expect(limits).toEqual([undefined]);
});

it('each decision of a limit is counted, and each request that it delayed has a wait', async () => {
  const limits = { requests: { limit: 10, windowMs: 100 } };
  const limiter = createLimiter({ clock, adaptive: false, concurrency: 400, limits });
  const sent = Array.from({ length: 100 }, () => limiter.run(async () => 1));
  await clock.advanceAsync(1_000);
  await Promise.all(sent);
  const now = await sdk.collect();
  const waits = now.histogram('headgate.gate.wait.duration', rateLimit('requests'));
  expect(waits).toMatchObject({ count: 90 });
  expect(now.value('headgate.rate_limit.denied', { 'headgate.limit': 'requests' })).toBe(9);
});
