import { describe, expect, it } from 'vitest';
import { paceOf } from '../../src/batch/pace-view.ts';
import type { LimiterOptions, LimiterSnapshot } from '../../src/index.ts';
import { rig } from '../limiter/rig.ts';

type Adaptive = LimiterSnapshot['adaptive'];

/** A limiter whose second request waits for the rate, with what its adaptive rate says replaced. */
function held(rate: object): LimiterSnapshot {
  const { limiter } = rig({ pace: { intervalMs: 1_000 } });
  for (let request = 0; request < 2; request += 1) limiter.run(async () => {}).catch(() => {});
  const snapshot = limiter.snapshot();
  const adaptive = { ...snapshot.adaptive, perSecond: 4.2, ...rate } as Adaptive;
  return { ...snapshot, adaptive };
}

describe('what holds the requests of a run back', () => {
  it.each([
    [{ origin: 'headers' }, "the provider's limits, now 252 requests/min"],
    [{ origin: 'learned', sinceCutMs: 10 }, '252 requests/min, learned from rejections'],
    [{ origin: 'learned', sinceCutMs: undefined }, 'a careful start, now 252 requests/min'],
    [{ origin: 'limit' }, 'your limit of 252 requests/min'],
    [{ origin: 'limit', perSecond: Number.POSITIVE_INFINITY }, 'the rate limit'],
    [{ origin: 'headers', perSecond: 0.001 }, "the provider's limits, now 3.6 requests/h"],
  ])('is said for a rate of %o', (rate, words) => {
    expect(paceOf([held(rate)], {})?.heldBy).toBe(words);
  });

  it('is said with the figure of the user, though requests are sent a little slower', () => {
    const options = { requestsPerMinute: 1_000 };
    const words = (minute: number) =>
      paceOf([held({ origin: 'limit', perSecond: minute / 60 })], options)?.heldBy;
    expect(words(998)).toBe('your limit of 1,000 requests/min');
    expect(words(900)).toBe('your limit of 900 requests/min');
  });

  it('tells a long time until the next request', () => {
    const snapshot = held({ origin: 'headers' });
    const words = (nextInMs: number) => paceOf([{ ...snapshot, nextInMs }], {})?.heldBy;
    expect(words(59_999)).toBe("the provider's limits, now 252 requests/min");
    expect(words(4_000_000)).toBe(
      "the provider's limits, now 252 requests/min; the next in 1 h 6 min",
    );
  });

  it.each([
    [1, 'your limit of 1 request/min'],
    [2, 'your limit of 2 requests/min'],
  ])('names a limit of %i', (limit, words) => {
    const { limiter } = rig({ adaptive: false, requestsPerMinute: limit });
    for (let n = 0; n <= limit; n += 1) limiter.run(async () => {}).catch(() => {});
    expect(paceOf([limiter.snapshot()], { requestsPerMinute: limit })?.heldBy).toBe(words);
  });
});

/** A limiter that met these answers one after the other, while more requests wait. */
async function afterRejections(options: LimiterOptions, ...causes: object[]) {
  const { limiter } = rig({ concurrency: 1, maxAttempts: 1, ...options });
  for (const cause of causes) {
    await limiter.run(() => Promise.reject(Object.assign(new Error('no'), cause))).catch(() => {});
  }
  limiter.run(async () => {}).catch(() => {});
  return paceOf([limiter.snapshot()], {});
}

describe('to what rejections slow a run', () => {
  it('is said for a wait that the provider asked for', async () => {
    const asked = { status: 429, headers: { 'retry-after': '5' } };
    expect(await afterRejections({}, asked)).toMatchObject({
      heldBy: "the provider's request to wait",
      slowedTo: 'nothing, until the wait has passed',
    });
    expect(await afterRejections({ adaptive: false }, asked)).toMatchObject({
      heldBy: 'the backoff after a rejection',
      slowedTo: 'nothing, until the wait has passed',
    });
  });

  it('is said for a rate that no rejection has lowered: nothing', () => {
    expect(paceOf([held({ origin: 'learned' })], {})?.slowedTo).toBeUndefined();
  });

  it('is said for a learned rate, and for probes', () => {
    const throttled: LimiterSnapshot = { ...held({ origin: 'learned' }), mode: 'throttled' };
    expect(paceOf([throttled], {})?.slowedTo).toBe('at most 4.2/s, until it accepts more');
    const out = { ...held({ origin: 'learned', isOut: true }), mode: 'throttled' as const };
    expect(paceOf([out], {})?.slowedTo).toBe('single requests, until it accepts one');
    const unbound = held({ origin: 'learned', perSecond: Number.POSITIVE_INFINITY });
    expect(paceOf([{ ...unbound, mode: 'throttled' }], {})?.slowedTo).toBe(
      'fewer requests at a time, until it accepts more',
    );
  });

  it('says that the server is down, not that it asked to wait', async () => {
    const { limiter } = rig({ outageMs: 60_000, maxAttempts: 1 });
    const refused = () => Promise.reject(Object.assign(new Error('no'), { code: 'ECONNREFUSED' }));
    for (let n = 0; n < 4; n += 1) limiter.run(refused).catch(() => {});
    await new Promise(setImmediate);
    limiter.run(async () => {}).catch(() => {});
    const pace = paceOf([limiter.snapshot()], {});
    expect(pace?.heldBy).toBe('an outage of the server');
  });
});
