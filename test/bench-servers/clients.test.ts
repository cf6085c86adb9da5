import { afterEach, describe, expect, it, vi } from 'vitest';
import { optionsOf } from '../../bench/servers/clients/headgate.ts';
import { tunedFor } from '../../bench/servers/clients/p-queue.ts';
import { withRetries } from '../../bench/servers/clients/retries.ts';
import type { Limit } from '../../bench/servers/limit.ts';
import { countFetches } from '../../bench/servers/meter.ts';

const spaced: Limit = { kind: 'spaced', perSecond: 20, burst: 21 };

const URL_HERE = 'http://127.0.0.1:1/';
const attempt = () => fetch(URL_HERE);

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** A `fetch` that gives these answers, one after the other, and then the last again and again. */
function answer(...answers: readonly (() => Response)[]) {
  let calls = 0;
  const fake = vi.fn(async () => {
    const next = answers[Math.min(calls++, answers.length - 1)];
    if (next === undefined) throw new Error('no answer');
    return next();
  });
  vi.stubGlobal('fetch', fake);
  return fake;
}

const ok = () => new Response('ok');
const rejection = (retryAfter?: string) => () =>
  new Response('no', { status: 429, headers: retryAfter ? { 'retry-after': retryAfter } : {} });
const broken = () => {
  throw new TypeError('fetch failed');
};

describe('the retries of an SDK', () => {
  it('wait as long as the answer asks, to the fraction of a second', async () => {
    vi.useFakeTimers();
    const sent = answer(rejection('1.5'), ok);
    const done = withRetries(attempt);
    await vi.advanceTimersByTimeAsync(1_499);
    expect(sent).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(1);
    await done;
    expect(sent).toHaveBeenCalledTimes(2);
  });

  it('wait 0.5 s, then twice as long each time to 8 s, and end after ten', async () => {
    vi.useFakeTimers();
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const sent = answer(broken, rejection(), rejection('61'), rejection());
    const waitsMs = [500, 1_000, 2_000, 4_000, ...Array.from({ length: 6 }, () => 8_000)];
    const done = withRetries(attempt);
    for (const [retry, waitMs] of waitsMs.entries()) {
      await vi.advanceTimersByTimeAsync(waitMs - 1);
      expect(sent).toHaveBeenCalledTimes(retry + 1);
      await vi.advanceTimersByTimeAsync(1);
    }
    await done;
    expect(sent).toHaveBeenCalledTimes(11);
  });

  it('are none for what is final', async () => {
    const sent = answer(() => new Response('no such page', { status: 404 }));
    await withRetries(attempt);
    expect(sent).toHaveBeenCalledTimes(1);
  });
});

describe('the meter', () => {
  it('counts what comes back from its server, whoever sends it', async () => {
    answer(
      ok,
      rejection(),
      () => new Response('', { status: 503 }),
      () => new Response('', { status: 500 }),
      broken,
    );
    const counts = countFetches(URL_HERE);
    const ofAnother = countFetches('http://127.0.0.1:2/');
    for (let call = 0; call < 5; call++) await attempt().catch(() => {});
    expect(counts()).toMatchObject({ successes: 1, rejected: 2, errors: 2 });
    expect(ofAnother()).toMatchObject({ successes: 0, rejected: 0, errors: 0 });
  });
});

describe('a limit that is known', () => {
  it.each<[Limit, object, object]>([
    [
      { kind: 'spaced', perSecond: 20, burst: 1 },
      { limits: { requests: { limit: 20, windowMs: 1_000, algorithm: 'token-bucket', burst: 1 } } },
      { intervalCap: 1, interval: 55 },
    ],
    [
      spaced,
      {
        limits: { requests: { limit: 20, windowMs: 1_000, algorithm: 'token-bucket', burst: 21 } },
      },
      { intervalCap: 11, interval: 555 },
    ],
    [
      { kind: 'window', limit: 60, windowMs: 6_000 },
      { limits: { requests: { limit: 60, windowMs: 6_000, algorithm: 'fixed-window' } } },
      { intervalCap: 60, interval: 6_200 },
    ],
    [
      { kind: 'sliding', limit: 60, windowMs: 6_000 },
      { limits: { requests: { limit: 60, windowMs: 6_000 } } },
      { intervalCap: 1, interval: 105 },
    ],
    [{ kind: 'in-flight', limit: 5 }, { concurrency: 5 }, { concurrency: 5 }],
  ])('%j is told to headgate and to p-queue in their words', (limit, headgate, pQueue) => {
    expect(optionsOf(limit)).toEqual(headgate);
    expect(tunedFor(limit)).toEqual(pQueue);
  });
});
