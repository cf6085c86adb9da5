import { ManualClock } from 'headgate/simulator';
import { from, NEVER } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLimiter, FeedbackSubject, type Mode, throttle } from '../../../src/index.ts';
import { type Sdk, startSdk } from '../../telemetry/sdk.ts';

let sdk: Sdk;
let clock: ManualClock;
beforeEach(() => {
  sdk = startSdk();
  clock = new ManualClock();
});
afterEach(() => sdk.stop());

/** The modes that are in force by the metrics. */
async function modes(): Promise<readonly string[]> {
  const now = await sdk.collect();
  return ['normal', 'throttled', 'outage'].filter(
    (mode) => now.value('headgate.mode', { 'headgate.mode': mode }) === 1,
  );
}

const STRATEGIES = [undefined, 'rate', 'latency', 'failures', false] as const;

describe.each(STRATEGIES)('with adaptive: %s, a bare 429', (adaptive) => {
  it('begins throttled mode, and time ends it', async () => {
    const feedback = new FeedbackSubject({ clock });
    const told: Mode[] = [];
    feedback.mode$.subscribe((mode) => told.push(mode));
    const project = async (n: number, { attempt }: { attempt: number }) => {
      if (n === 3 && attempt === 1) throw Object.assign(new Error('busy'), { status: 429 });
    };
    const options = adaptive === undefined ? {} : { adaptive };
    from([1, 2, 3, 4, 5])
      .pipe(throttle(project, { feedback, concurrency: 1, ...options }))
      .subscribe();
    const open = new FeedbackSubject({ clock });
    NEVER.pipe(throttle(project, { feedback: open, name: 'other' })).subscribe();
    await clock.advanceAsync(1);
    expect(told).toEqual(['normal', 'throttled']);
    const [begun] = sdk
      .finished('headgate.request')
      .filter(({ events }) => events.some(({ name }) => name === 'headgate.mode'));
    await clock.advanceAsync(5_000);
    const beginners = sdk
      .finished('headgate.request')
      .filter(({ events }) => events.some(({ name }) => name === 'headgate.mode'));
    expect(beginners.map(({ attributes }) => attributes['headgate.attempts'])).toEqual([2]);
    expect(begun === undefined || begun === beginners[0]).toBe(true);
    await clock.advanceAsync(16_000);
    expect(told).toEqual(['normal', 'throttled', 'normal']);
  });
});

describe('at the defaults of throttle', () => {
  it('the mode lasts until 10 s after the last 429, and slows nothing but the rate', async () => {
    let calls = 0;
    const rejected = [5, 6, 300];
    const limiter = createLimiter({ clock, random: () => 0.5, concurrency: 40 });
    const heard: string[] = [];
    limiter.events$.subscribe((event) => {
      if (event.kind === 'modeChanged') heard.push(`${event.mode} at ${event.at}`);
    });
    const project = async () => {
      calls += 1;
      const isRejected = rejected.includes(calls);
      await new Promise<void>((resolve) => clock.setTimer(resolve, 100));
      if (isRejected) throw Object.assign(new Error('busy'), { status: 429 });
    };
    limiter
      .throttle(project)(from(Array.from({ length: 400 }, (_, n) => n)))
      .subscribe();
    expect(await modes()).toEqual(['normal']);
    await clock.advanceAsync(100);
    expect(await modes()).toEqual(['throttled']);
    expect(limiter.snapshot().mode).toBe('throttled');
    await clock.advanceAsync(5_000);
    const now = await sdk.collect();
    const limit = (mode: string) =>
      now.value('headgate.concurrency.limit', { 'headgate.mode': mode });
    expect(limit('throttled')).toBe(limit('normal'));
    await clock.advanceAsync(30_000);
    expect(calls).toBe(400 + rejected.length);
    expect(heard).toHaveLength(2);
    expect(heard[0]).toBe('throttled at 100');
    expect(Number(heard[1]?.split(' ').at(-1))).toBeGreaterThan(10_100);
    expect(await modes()).toEqual(['normal']);
  });

  it('a provider that accepts nothing is an outage, in every view of the mode', async () => {
    let isOut = false;
    const limiter = createLimiter({ clock, random: () => 0.5, concurrency: 4 });
    const told: Mode[] = [];
    limiter.feedback.mode$.subscribe((mode) => told.push(mode));
    const project = async () => {
      await new Promise<void>((resolve) => clock.setTimer(resolve, 10));
      if (isOut) throw Object.assign(new Error('busy'), { status: 429 });
    };
    limiter
      .throttle(project)(from(Array.from({ length: 2_000 }, (_, n) => n)))
      .subscribe();
    await clock.advanceAsync(1_000);
    isOut = true;
    await clock.advanceAsync(1_000);
    expect(await modes()).toEqual(['outage']);
    expect(limiter.snapshot().mode).toBe('outage');
    isOut = false;
    await clock.advanceAsync(60_000);
    expect(await modes()).toEqual(['normal']);
    expect(told).toEqual(['normal', 'throttled', 'outage', 'throttled', 'normal']);
    const events = sdk
      .finished('headgate.request')
      .flatMap((span) => span.events.filter(({ name }) => name === 'headgate.mode'));
    expect(events.map(({ attributes }) => attributes?.['headgate.mode']).sort()).toEqual([
      'outage',
      'throttled',
    ]);
  });
});
