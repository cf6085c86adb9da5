import { expect, it } from 'vitest';
import type { GateState } from '../../src/inspector/gate-state.ts';
import { RecentCalls } from '../../src/inspector/recent-calls.ts';
import { wordsOf } from '../../src/inspector/words.ts';

/** Requests that wait for a rate of ten a second, learned from rejections. */
function headlineOf(nextInMs: number): string {
  const state = {
    lifecycle: 'running',
    waiting: 121,
    binding: 'pace',
    longestWaitMs: 38_000,
    nextInMs,
    throttledForMs: 0,
    backoff: { state: 'open', mode: 'normal' },
    rate: { perSecond: 10, origin: 'learned', sinceCutMs: 60_000, isOut: false },
  };
  return wordsOf(state as unknown as GateState, 0, new RecentCalls()).headline;
}

it('a rate is named as the cause of a wait that it explains', () => {
  expect(headlineOf(90)).toBe(
    '121 wait: the provider accepts about 10 requests a second, as its rejections showed.',
  );
});

it('a window that is used up until its end is not explained by the rate', () => {
  expect(headlineOf(38_000)).toBe(
    '121 wait: the provider accepts no more for now, as its answers showed.',
  );
});

it.each([
  ['requests', 1, '4 wait: your limit allows 1 request a minute.'],
  ['requests', 2, '4 wait: your limit allows 2 requests a minute.'],
  ['images', 1, '4 wait: your limit allows 1 images a minute.'],
])('a limit of %s: %i is told as an amount in a window', (name, limit, words) => {
  const state = {
    lifecycle: 'running',
    waiting: 4,
    binding: 'rateLimit',
    bindingLimit: name,
    limits: { [name]: { limit } },
    longestWaitMs: 17_000,
    throttledForMs: 0,
    backoff: { state: 'open', mode: 'normal' },
    gate: { policies: { rateLimit: { limits: { perSecond: () => limit / 60 } } } },
  };
  const { headline } = wordsOf(state as unknown as GateState, 0, new RecentCalls());
  expect(headline).toBe(words);
});
