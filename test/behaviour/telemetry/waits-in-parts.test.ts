import { ManualClock } from 'headgate/simulator';
import { from } from 'rxjs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createLimiter, type Outcome } from '../../../src/index.ts';
import { lengthOf, parentOf, type Sdk, startSdk } from '../../telemetry/sdk.ts';

let sdk: Sdk;
let clock: ManualClock;
beforeEach(() => {
  sdk = startSdk();
  clock = new ManualClock();
});
afterEach(() => sdk.stop());

/** Waits by what for, in ms. */
type Waits = Record<string, number>;

/** So many requests at once, for whom slots and a rate bind in turns. */
async function takingTurns(requests: number): Promise<readonly Waits[]> {
  const limiter = createLimiter({
    clock,
    adaptive: false,
    concurrency: 8,
    limits: { requests: { limit: 10, windowMs: 200 } },
  });
  const sleep = () => new Promise<void>((resolve) => clock.setTimer(resolve, 10));
  const outcomes: Outcome<number, void>[] = [];
  from(Array.from({ length: requests }, (_, index) => index))
    .pipe(limiter.throttle(sleep, { outcomes: true }))
    .subscribe((outcome) => outcomes.push(outcome));
  await clock.advanceAsync(20 * requests + 200);
  limiter.close();
  expect(outcomes).toHaveLength(requests);
  return outcomes.map(({ stats: { waits } }) =>
    Object.fromEntries(Object.entries(waits).map(([gate, { waitMs }]) => [gate, waitMs])),
  );
}

it('the histogram of waits has one value for each request that waited at a gate', async () => {
  const waits = await takingTurns(200);
  const now = await sdk.collect();
  for (const gate of ['concurrency', 'rateLimit']) {
    const those = waits.map((each) => each[gate]).filter((ms) => ms !== undefined);
    const limit = gate === 'rateLimit' && { 'headgate.limit': 'requests' };
    const told = now.histogram('headgate.gate.wait.duration', { 'headgate.gate': gate, ...limit });
    const seconds = those.reduce((sum, ms) => sum + ms, 0) / 1_000;
    expect(those.length).toBeGreaterThan(100);
    expect(told).toEqual({ count: those.length, sum: expect.closeTo(seconds, 6) });
  }
});

it('a wait of many parts has one span for each gate, with what was waited there', async () => {
  const waits = await takingTurns(300);
  const spans = sdk.finished('headgate.wait');
  const requests = sdk.finished('headgate.request').map((request) => ({
    waits: spans.filter((wait) => parentOf(wait) === request.spanContext().spanId),
    start: request.startTime,
  }));
  expect(Math.max(...requests.map((each) => each.waits.length))).toBeLessThanOrEqual(32);
  const many = requests.filter((each) => each.waits.some(hasSeconds));
  expect(many.length).toBeGreaterThan(50);
  const seconds: Waits[] = many.map((each) =>
    Object.fromEntries(
      each.waits.map(({ attributes }) => [
        String(attributes['headgate.gate']),
        Math.round(Number(attributes['headgate.seconds']) * 1_000),
      ]),
    ),
  );
  expect(waits).toEqual(expect.arrayContaining(seconds));
  for (const each of many) {
    expect(each.waits).toHaveLength(2);
    expect(each.waits[0]?.startTime).toEqual(each.start);
    for (const wait of each.waits) {
      expect(Number(wait.attributes['headgate.seconds']) * 1_000).toBeLessThan(lengthOf(wait));
    }
  }
});

it('a wait of a few parts has a span for each, as long as the wait', async () => {
  const waits = await takingTurns(30);
  const told: Waits = {};
  const spans = sdk.finished('headgate.wait');
  expect(spans.length).toBeGreaterThan(30);
  expect(spans.some(hasSeconds)).toBe(false);
  for (const wait of spans) {
    const gate = String(wait.attributes['headgate.gate']);
    told[gate] = (told[gate] ?? 0) + lengthOf(wait);
  }
  const sums: Waits = {};
  for (const each of waits) {
    for (const [gate, ms] of Object.entries(each)) sums[gate] = (sums[gate] ?? 0) + ms;
  }
  expect(told).toEqual(sums);
});

function hasSeconds({ attributes }: { readonly attributes: object }): boolean {
  return 'headgate.seconds' in attributes;
}
