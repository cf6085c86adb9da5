import { ManualClock } from 'headgate/simulator';
import { from } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLimiter, type LimiterOptions } from '../../../src/index.ts';
import { type Collected, type Sdk, startSdk } from '../../telemetry/sdk.ts';

let sdk: Sdk;
let clock: ManualClock;
beforeEach(() => {
  sdk = startSdk();
  clock = new ManualClock();
});
afterEach(() => sdk.stop());

const SOURCES = ['limit', 'headers', 'learned'] as const;

/** The target of each source; undefined: there is no such series. */
function targets(now: Collected) {
  return SOURCES.map((source) => now.value('headgate.rate.target', { 'headgate.source': source }));
}

/** What an answer is: by its number, from 0. */
type Answer = 'ok' | 'full' | 'out' | { readonly remaining: number };

/** Sends as fast as it may, once in 10 ms at the most. */
function sending(options: LimiterOptions, answer: (n: number) => Answer) {
  const limiter = createLimiter({ clock, random: () => 0.5, ...options });
  let calls = 0;
  const send = async (_: number, context: { observe(answer: unknown): unknown }) => {
    const said = answer(calls++);
    await new Promise<void>((resolve) => clock.setTimer(resolve, 10));
    if (typeof said === 'object') {
      context.observe({
        headers: {
          'x-ratelimit-limit-requests': '600',
          'x-ratelimit-remaining-requests': String(said.remaining),
        },
      });
    }
    if (said === 'full' || said === 'out') {
      const headers = said === 'full' ? { 'retry-after': '1' } : {};
      throw Object.assign(new Error('too many'), { status: 429, headers });
    }
  };
  const numbers = Array.from({ length: 1_000 }, (_, n) => n);
  limiter.throttle(send)(from(numbers)).subscribe();
  return limiter;
}

describe('the metrics of a rate that adapts', () => {
  it('have no target while nothing is known, and count from the start', async () => {
    sending({ adaptive: 'rate' }, () => 'ok');
    const now = await sdk.collect();
    expect(targets(now)).toEqual([undefined, undefined, undefined]);
    expect(now.value('headgate.rate.ceiling')).toBe(0);
    expect(now.value('headgate.rate.cuts')).toBe(0);
    expect(now.value('headgate.outage.active')).toBe(0);
  });

  it('report the source of the rate, as it changes', async () => {
    let answer: Answer = 'ok';
    const limits = { requests: { limit: 20, windowMs: 1_000 } };
    const limiter = sending({ adaptive: 'rate', limits }, () => answer);
    await clock.advanceAsync(1_000);
    const atFirst = await sdk.collect();
    expect(targets(atFirst)).toEqual([expect.closeTo(20, 0), undefined, undefined]);
    expect(atFirst.value('headgate.rate.ceiling')).toBe(0);

    answer = 'full';
    await clock.advanceAsync(1_000);
    answer = 'ok';
    await clock.advanceAsync(2_000);
    const cut = await sdk.collect();
    const { perSecond, ceilingPerSecond } = rateOf(limiter);
    // A closure that the provider named says little: the limit that is set still decides.
    expect(targets(cut)).toEqual([perSecond, undefined, undefined]);
    expect(perSecond).toBeLessThan(20);
    expect(cut.value('headgate.rate.ceiling')).toBe(ceilingPerSecond);
    expect(ceilingPerSecond).toBeGreaterThan(5);
    expect(cut.value('headgate.rate.cuts')).toBe(1);
    expect(cut.value('headgate.outage.active')).toBe(0);
  });

  it('report headers as the source', async () => {
    let remaining = 20;
    const limiter = sending({ adaptive: 'rate' }, () => ({ remaining: Math.max(0, --remaining) }));
    await clock.advanceAsync(10_000);
    const { origin, perSecond } = rateOf(limiter);
    expect(origin).toBe('headers');
    expect(targets(await sdk.collect())).toEqual([undefined, perSecond, undefined]);
  });

  it('keep the configured limit while the adaptive rate is idle', async () => {
    const limiter = createLimiter({ clock, requestsPerMinute: 120 });
    await limiter.run(async () => 1);
    const now = await sdk.collect();
    expect(targets(now)).toEqual([2, undefined, undefined]);
    expect(now.value('headgate.outage.active')).toBe(0);
  });

  it('are missing without an adaptive rate, except the count', async () => {
    createLimiter({ clock, adaptive: false });
    const now = await sdk.collect();
    expect(now.value('headgate.rate.ceiling')).toBeUndefined();
    expect(now.value('headgate.outage.active')).toBe(0);
    expect(now.value('headgate.rate.cuts')).toBe(0);
  });

  it('show an outage until it is over, also in the spans of its requests', async () => {
    let answer: Answer = 'ok';
    sending({ adaptive: 'rate', concurrency: 4 }, () => answer);
    await clock.advanceAsync(1_000);
    answer = 'out';
    await clock.advanceAsync(1_000);
    expect((await sdk.collect()).value('headgate.outage.active')).toBe(1);
    answer = 'ok';
    await clock.advanceAsync(20_000);
    expect((await sdk.collect()).value('headgate.outage.active')).toBe(0);
    const at = ({ time: [seconds, nanos] }: { time: readonly [number, number] }) =>
      seconds * 1e9 + nanos;
    const events = sdk
      .finished('headgate.request')
      .flatMap(({ events }) => events)
      .sort((a, b) => at(a) - at(b));
    const states = (name: string) =>
      events.filter((event) => event.name === name).map(({ attributes }) => attributes);
    expect(states('headgate.outage')).toEqual([
      { 'headgate.state': 'started', 'headgate.reason': 'rejected' },
      { 'headgate.state': 'ended', 'headgate.reason': 'rejected' },
    ]);
    expect(states('headgate.adaptation')[0]).toMatchObject({
      'headgate.state': 'rateAdapted',
      'headgate.reason': expect.any(String),
      'headgate.to': expect.any(Number),
    });
  });
});

function rateOf(limiter: ReturnType<typeof createLimiter>) {
  const { adaptive } = limiter.snapshot();
  if (adaptive === undefined || !('origin' in adaptive)) throw new Error('no rate adapts');
  return adaptive;
}
