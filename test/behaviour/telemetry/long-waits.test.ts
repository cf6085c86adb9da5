import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLimiter, type LimiterOptions } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { fate } from '../../limiter/harness.ts';
import { tooMany } from '../../request/harness.ts';
import { type Sdk, startSdk } from '../../telemetry/sdk.ts';

const HOUR = 3_600_000;
const refused = () => Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
const REASONS = ['longWait', 'quota', 'billing', 'unreachable'] as const;

let sdk: Sdk;
let clock: ManualClock;
beforeEach(() => {
  sdk = startSdk();
  clock = new ManualClock();
});
afterEach(() => sdk.stop());

/** Three calls, of which the first is sent, and fails. */
async function failing(error: unknown, options: LimiterOptions = {}) {
  const limiter = createLimiter({ clock, concurrency: 1, random: () => 0, ...options });
  const fates = [1, 2, 3].map(() => fate(limiter.run(() => Promise.reject(error))));
  await clock.advanceAsync(0);
  return { limiter, fates };
}

/** How many decisions there were, by reason, and the gauges of what goes on. */
async function told() {
  const now = await sdk.collect();
  const decisions = REASONS.map((reason) =>
    now.value('headgate.suspensions', { 'headgate.reason': reason }),
  );
  const gauges = ['headgate.suspended', 'headgate.outage.active'].map((name) => now.value(name));
  return [...decisions, ...gauges];
}

const eventsOf = (name: string) =>
  sdk
    .finished('headgate.request')
    .map(({ events }) => events.filter((event) => event.name === name))
    .map((events) => events.map(({ attributes }) => attributes));

describe('a decision for all requests', () => {
  it('is counted, in a gauge until it is over, and an event of the request that caused it', async () => {
    expect(await told()).toEqual(Array(6).fill(undefined));
    await failing(tooMany(2 * HOUR));
    expect(await told()).toEqual([1, 0, 0, 0, 1, 0]);
    expect(eventsOf('headgate.suspended')).toEqual([
      [{ 'headgate.state': 'fail', 'headgate.reason': 'longWait', 'headgate.seconds': 7_200 }],
      [],
      [],
    ]);
    const types = sdk
      .finished('headgate.request')
      .map(({ attributes }) => attributes['error.type']);
    expect(types).toEqual(Array(3).fill('RetryAfterTooLongError'));
    clock.advance(2 * HOUR);
    expect(await told()).toEqual([1, 0, 0, 0, 0, 0]);
  });

  it('of a quota, and to wait', async () => {
    const error = { code: 'insufficient_quota' };
    const quota = Object.assign(new Error('no quota'), { status: 429, error });
    await failing(quota);
    expect(await told()).toEqual([0, 1, 0, 0, 1, 0]);
    const { limiter } = await failing(tooMany(HOUR), { onLongWait: 'wait' });
    expect(await told()).toEqual([1, 1, 0, 0, 1, 0]);
    limiter.clear();
    await clock.advanceAsync(0);
    expect(eventsOf('headgate.suspended').flat()).toMatchObject([
      { 'headgate.state': 'fail', 'headgate.reason': 'quota', 'headgate.seconds': 60 },
      { 'headgate.state': 'wait', 'headgate.reason': 'longWait', 'headgate.seconds': 3_600 },
    ]);
  });
});

describe('an outage', () => {
  it('is a gauge, a mode, and an event of the request that caused it', async () => {
    let isUp = false;
    const limiter = createLimiter({ clock, random: () => 0 });
    const task = () => (isUp ? Promise.resolve(1) : Promise.reject(refused()));
    const fates = [1, 2, 3].map(() => fate(limiter.run(task)));
    await clock.advanceAsync(100);
    const out = await sdk.collect();
    expect(out.value('headgate.mode', { 'headgate.mode': 'outage' })).toBe(1);
    expect(await told()).toEqual([0, 0, 0, 0, 0, 1]);
    isUp = true;
    await clock.advanceAsync(1_000);
    expect(fates.map(({ value }) => value)).toEqual([1, 1, 1]);
    expect(await told()).toEqual([0, 0, 0, 0, 0, 0]);
    expect(eventsOf('headgate.outage').flat()).toEqual([
      { 'headgate.state': 'started', 'headgate.reason': 'unreachable' },
    ]);
  });

  it('that was waited for long enough counts as a decision', async () => {
    await failing(refused(), { outageMs: 5_000 });
    await clock.advanceAsync(10_000);
    expect(await told()).toEqual([0, 0, 0, 1, 0, 1]);
    const types = sdk
      .finished('headgate.request')
      .map(({ attributes }) => attributes['error.type']);
    expect(types).toEqual(Array(3).fill('ProviderUnreachableError'));
    const unreachable = { 'error.type': 'ProviderUnreachableError' };
    const metrics = await sdk.collect();
    expect(metrics.histogram('headgate.request.duration', unreachable)?.count).toBe(3);
  });
});
