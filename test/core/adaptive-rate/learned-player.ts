import { LearnedRate } from '../../../src/core/adaptive-rate/learned-rate.ts';
import { Pacer } from '../../../src/core/adaptive-rate/pacer.ts';
import type { Window } from './windows.ts';

export const FALLBACK_PER_MS = 2 / 1_000;
export const FLOOR_PER_MS = 1 / 30_000;

/** How a provider behaves, and when. */
export interface Play {
  readonly seconds: number;
  /** From a request to the provider's decision. Default 100 ms. */
  readonly delayMs?: number;
  /** What a rejection tells: how long the limit stays closed. */
  readonly tellsWait?: boolean;
  readonly startPerSecond?: number;
  /** Whether the provider is there at all. Default: always. */
  readonly isUp?: (now: number) => boolean;
}

/** When requests were let in, and when they were turned away. */
export interface Played {
  readonly learned: LearnedRate;
  readonly acceptedAt: readonly number[];
  readonly rejectedAt: readonly number[];
}

interface Answer {
  readonly at: number;
  readonly order: number;
  readonly sentAt: number;
  readonly isAccepted: boolean;
  readonly retryAfterMs: number;
}

/** Always has something to send, and sends it at the rate that is learned, millisecond by millisecond. */
export function play(limit: Window, options: Play): Played {
  const { seconds, delayMs = 100, tellsWait = false, startPerSecond = 2 } = options;
  const isUp = options.isUp ?? (() => true);
  const learned = new LearnedRate(startPerSecond / 1_000, FALLBACK_PER_MS, FLOOR_PER_MS, 0);
  const pacer = new Pacer(startPerSecond / 1_000);
  const acceptedAt: number[] = [];
  const rejectedAt: number[] = [];
  const answers: Answer[] = [];
  let order = 0;
  let lost = 0;
  let closedUntil = 0;
  const answer = (now: number) => {
    while ((answers[0]?.at ?? now + 1) <= now) {
      const next = answers.shift();
      if (next === undefined || next.isAccepted) continue;
      const accepted = next.order - lost;
      const attempt = { at: next.sentAt, order: next.order, accepted, total: accepted };
      learned.rejected(attempt, order, now, next.retryAfterMs);
      lost += 1;
      closedUntil = Math.max(closedUntil, now + next.retryAfterMs);
    }
  };
  for (let now = 0; now < seconds * 1_000; now += 1) {
    answer(now);
    pacer.setRate(learned.rateAt(now, true), now);
    if (now < closedUntil || pacer.wait(now) > 0) continue;
    const isAccepted = isUp(now) && limit.take(now);
    (isAccepted ? acceptedAt : rejectedAt).push(now);
    const retryAfterMs = tellsWait && !isAccepted ? limit.resetMs(now) : 0;
    answers.push({ at: now + delayMs, order, sentAt: now, isAccepted, retryAfterMs });
    order += 1;
    pacer.take(1, now);
    learned.sent(now);
  }
  return { learned, acceptedAt, rejectedAt };
}

/** How many a second, from one second to another. */
export function perSecond(times: readonly number[], from: number, to: number): number {
  return times.filter((at) => at >= from * 1_000 && at < to * 1_000).length / (to - from);
}
