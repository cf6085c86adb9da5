import type { ReportedLimit } from '../../../src/model/feedback.ts';
import { ReportedRate } from '../../../src/policies/adaptive-rate/reported/reported-rate.ts';
import { Pacer } from '../../../src/policies/adaptive-rate/units/pacer.ts';
import type { Window } from './windows.ts';

/** What answers tell of a limit, beside what is left of it. */
export interface Told {
  readonly limit: number;
  readonly windowMs?: number;
  /** Whether they tell when nothing is used any more. Default true. */
  readonly tellsReset?: boolean;
}

export interface Played {
  readonly reported: ReportedRate;
  readonly acceptedAt: readonly number[];
  readonly rejectedAt: readonly number[];
  /** The rate each second; undefined: none was in force. */
  readonly rates: readonly (number | undefined)[];
}

/**
 * Always has something to send, and sends it at the rate that reports allow (or at `most` a second,
 * where they allow any), millisecond by millisecond; an answer takes 500 ms.
 * @param toldAt what is told at a time; undefined: nothing
 */
export function play(
  limit: Window,
  toldAt: (now: number) => Told | undefined,
  seconds: number,
  mostPerSecond = 50,
): Played {
  const reported = new ReportedRate();
  const pacer = new Pacer(mostPerSecond / 1_000);
  const acceptedAt: number[] = [];
  const rejectedAt: number[] = [];
  const rates: (number | undefined)[] = [];
  const answers: { at: number; read: (now: number) => void }[] = [];
  let order = 0;
  let lost = 0;
  for (let now = 0; now < seconds * 1_000; now += 1) {
    while ((answers[0]?.at ?? now + 1) <= now) answers.shift()?.read(now);
    const rate = reported.rateAt(order - lost, now);
    if (now % 1_000 === 0) rates.push(rate && rate * 1_000);
    pacer.setRate(rate ?? mostPerSecond / 1_000, now);
    if (pacer.wait(now) > 0 || reported.wait(1, order - lost, now) > 0) continue;
    const isAccepted = limit.take(now);
    (isAccepted ? acceptedAt : rejectedAt).push(now);
    const told = toldAt(now);
    if (told !== undefined) {
      const { tellsReset = true, ...rest } = told;
      const report: ReportedLimit = {
        ...rest,
        unit: 'requests',
        remaining: Math.max(0, Math.floor(limit.left(now))),
        ...(tellsReset && { resetMs: limit.resetMs(now) }),
      };
      const attempt = { at: now, order, cost: 1, isOwed: true };
      const read = (at: number) => {
        if (!isAccepted) lost += 1;
        const total = attempt.order - lost;
        reported.record(report, { ...attempt, total }, isAccepted, order - lost, at);
      };
      answers.push({ at: now + 500, read });
    }
    order += 1;
    pacer.take(1, now);
  }
  return { reported, acceptedAt, rejectedAt, rates };
}

/** How many a second, from one second to another. */
export function perSecond(times: readonly number[], from: number, to: number): number {
  return times.filter((at) => at >= from * 1_000 && at < to * 1_000).length / (to - from);
}
