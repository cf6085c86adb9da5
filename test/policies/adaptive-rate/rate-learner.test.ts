import { describe, expect, it } from 'vitest';
import type { SentAttempt } from '../../../src/policies/adaptive-rate/attempts/sent-attempt.ts';
import { RateLearner } from '../../../src/policies/adaptive-rate/rate-learner.ts';
import { OK, TOO_MANY } from './core-player.ts';

const none = { perMs: () => Number.POSITIVE_INFINITY, burst: () => 0 };

/** A learner, sent to as fast as it lets, whose attempts end after a while. */
function playing(learner = new RateLearner(none)) {
  const player = {
    learner,
    now: 0,
    /** Sends one as soon as it may go. */
    send() {
      for (let asked = 0; asked < 1_000; asked += 1) {
        const waitMs = learner.wait(player.now);
        if (waitMs === 0) return learner.take(0, player.now);
        player.now += waitMs;
      }
      throw new Error('it never may go');
    },
    accepted(tookMs = 0) {
      const sending = player.send();
      player.now += tookMs;
      learner.answered(sending, OK, undefined, player.now);
    },
    rejected(tookMs = 0, verdict = TOO_MANY) {
      const sending = player.send();
      player.now += tookMs;
      learner.rejected(sending, verdict, player.now);
    },
  };
  return player;
}

describe('an answer that has begun', () => {
  const limits = [{ unit: 'requests', limit: 100, remaining: 60, resetMs: 60_000 }] as const;
  const usedUp = [{ ...limits[0], remaining: 0 }] as const;

  it('counts once, with the limits that it reports first', () => {
    const learner = new RateLearner(none);
    const sent = learner.take(0, 0);
    learner.begun(sent, limits, 100);
    learner.begun(sent, usedUp, 200);
    expect(learner.wait(200)).toBe(0);
    learner.answered(sent, { ...OK, limits: usedUp }, undefined, 30_000);
    expect(learner.wait(30_000)).toBe(0);
  });

  it('lets more go, and is in flight until it ends', () => {
    const learner = new RateLearner(none);
    const sent = Array.from({ length: 16 }, () => learner.take(0, 0));
    const [first, second] = sent as [SentAttempt, SentAttempt];
    expect(learner.wait(10)).toBe(Number.POSITIVE_INFINITY);
    learner.begun(first, undefined, 10);
    expect(learner.wait(10)).toBe(0);
    // The attempts in flight beside the next one.
    expect(learner.take(0, 10).others).toBe(16);
    learner.answered(first, OK, undefined, 20);
    learner.answered(second, OK, undefined, 20);
    expect(learner.take(0, 20).others).toBe(15);
  });
});

describe('a learner of the rate', () => {
  it('lets 16 go at once, and no more until an answer comes', () => {
    const learner = new RateLearner(none);
    for (let n = 0; n < 16; n += 1) {
      expect(learner.wait(0)).toBe(0);
      learner.take(0, 0);
    }
    expect(learner.wait(0)).toBe(Number.POSITIVE_INFINITY);
  });

  it('lets no more than twice of what was ever out go at once, however many were accepted', () => {
    const player = playing();
    for (let n = 0; n < 500; n += 1) player.accepted(10);
    let gone = 0;
    while (gone < 1_000 && player.learner.wait(player.now) === 0) {
      player.learner.take(0, player.now);
      gone += 1;
    }
    expect(gone).toBe(17);
  });

  // The reset has passed before the answer came, so that no report bounds what is sent.
  it.each([
    ['what is left, without what is in flight', 40, 40 - 15],
    ['no more than 128 with those in flight', 1_999, 128 - 15],
  ])('lets go at once what first answers report as left: %s', (_what, remaining, permitted) => {
    const learner = new RateLearner(none);
    const sent = Array.from({ length: 16 }, () => {
      learner.wait(0);
      return learner.take(0, 0);
    });
    const answer = (index: number) => {
      const left = { unit: 'requests', limit: 2_000, remaining: remaining - index } as const;
      const verdict = { ...OK, limits: [{ ...left, isResetTime: true }] };
      learner.answered(sent[index] as SentAttempt, verdict, undefined, 100);
    };
    answer(0);
    // The next answers tell no more, and each of them lets two more go, as without reports.
    answer(1);
    let gone = 0;
    while (gone < 1_000 && learner.wait(100) === 0) {
      learner.take(0, 100);
      gone += 1;
    }
    expect(gone).toBe(permitted + 2);
  });

  it('does not measure the time in which a busy process could not send the planned request', () => {
    const player = playing();
    const { learner } = player;
    player.accepted();
    player.rejected(1);
    const plannedMs = learner.wait(player.now);
    player.now += plannedMs + 10_000;
    player.accepted(1);
    expect(learner.rate.measuredPerSecond).toBeCloseTo(1_000 / (1 + plannedMs), 6);
  });

  // Requests that find the named wait too long fail, and nobody asks until it is over.
  it.each([
    ['at its end', 10],
    ['long after its end', 30_000],
  ])('measures a named wait as closed if requests come back only %s', (_when, lateMs) => {
    const player = playing();
    const { learner } = player;
    const windowMs = 60_000;
    for (const limit of [50, 40, 40]) {
      const endAt = player.now + windowMs;
      for (let n = 0; n < limit; n += 1) player.accepted(1);
      player.rejected(1, { ...TOO_MANY, retryAfterMs: endAt - player.now });
      player.now = endAt + lateMs;
    }
    player.accepted(1);
    expect(learner.rate.measuredPerSecond).toBeCloseTo(40 / 60, 1);
  });

  it('lets as many go at once as a configured limit does', () => {
    const learner = new RateLearner({ perMs: () => 0.1, burst: () => 40 });
    const player = playing(learner);
    for (let n = 0; n < 500; n += 1) player.accepted(10);
    let gone = 0;
    while (gone < 1_000 && learner.wait(player.now) === 0) {
      learner.take(0, player.now);
      gone += 1;
    }
    expect(gone).toBe(40);
  });

  it('takes no time for unused while requests come evenly and nothing is known of a rate', () => {
    const learner = new RateLearner(none);
    for (let now = 0; now <= 1_000; now += 10) {
      const sending = learner.take(0, now);
      if (now > 20) expect(sending.idleMs).toBe(0);
      learner.answered(sending, OK, undefined, now);
    }
    expect(learner.take(0, 2_000).idleMs).toBe(1_000);
  });

  it('knows that nothing waited to be sent, unless places in flight were missing', () => {
    for (const hasRoom of [true, false]) {
      const player = playing();
      for (let n = 0; n < 20; n += 1) player.accepted(10);
      player.rejected(10);
      player.accepted(10);
      expect(player.send().lacksDemand).toBe(false);
      expect(player.learner.take(0, player.now + 10_000, hasRoom).lacksDemand).toBe(hasRoom);
    }
  });

  it.each([
    ['goes at once after a time without demand', true],
    ['is paced where only places in flight were missing', false],
  ])('lets what is told as left go: it %s', (_what, hasRoom) => {
    const learner = new RateLearner(none);
    // A bucket of 100 that fills up at 10 a second.
    for (let n = 0, now = 0; n < 90; n += 1, now += 10) {
      const remaining = Math.floor(99 - 0.9 * n);
      const limits = [{ unit: 'requests', limit: 100, remaining, resetMs: 90 * (n + 1) } as const];
      learner.answered(learner.take(0, now), { kind: 'ok', limits }, undefined, now);
    }
    learner.wait(2_000);
    learner.take(0, 2_000, hasRoom);
    let gone = 0;
    for (; gone < 25 && learner.wait(2_000) === 0; gone += 1) learner.take(0, 2_000);
    if (hasRoom) expect(gone).toBe(25);
    else expect(gone).toBeLessThan(15);
  });

  it('lets one go at a time while nothing is let in, with gaps that grow', () => {
    const player = playing();
    const at: number[] = [];
    for (let n = 0; n < 8; n += 1) {
      player.rejected();
      at.push(player.now);
    }
    const gaps = at.slice(1).map((time, index) => time - (at[index] ?? 0));
    for (const [index, gap] of gaps.entries()) expect(gap).toBeCloseTo(100 * 1.6 ** index, 3);
    expect(player.learner.closed.isOut).toBe(true);
    player.accepted();
    expect(player.learner.closed.isOut).toBe(false);
  });

  it('probes no less often than each 30 s, though nothing was ever let in', () => {
    const player = playing();
    for (let n = 0; n < 40; n += 1) player.rejected(50);
    const before = player.now;
    player.send();
    expect(player.now - before).toBeLessThanOrEqual(30_000);
  });

  it('probes less often where few were accepted, however fast the measured rate is', () => {
    const player = playing();
    for (let n = 0; n < 5; n += 1) player.accepted(1);
    player.rejected(1);
    player.accepted(1);
    expect(player.learner.rate.measuredPerSecond).toBeGreaterThan(10);
    for (let n = 0; n < 80; n += 1) player.rejected(50);
    const before = player.now;
    player.send();
    expect(player.now - before).toBeGreaterThan(60_000);
    expect(player.now - before).toBeLessThanOrEqual((4 * player.now) / 6);
  });

  /**
   * Sends eight to a sliding window of eight, then one too many, and says how long the next waits.
   */
  function waitAfterReset(headers: Readonly<Record<string, string>> = {}): number {
    const player = playing();
    const left = (remaining: number) => [
      { unit: 'requests', limit: 8, remaining, resetMs: 60_000, windowMs: 60_000 } as const,
    ];
    for (let n = 1; n <= 8; n += 1) {
      const sending = player.send();
      player.now += 10;
      player.learner.answered(sending, { kind: 'ok', limits: left(8 - n) }, undefined, player.now);
      player.now += 1_000;
    }
    player.rejected(10, { kind: 'throttled', retryAfterMs: 60_000, limits: left(0), headers });
    const { now } = player;
    player.send();
    return player.now - now;
  }

  it('does not wait until a limit is whole again that lets requests in before', () => {
    expect(waitAfterReset()).toBeLessThan(20_000);
  });

  it('waits as long as Retry-After names, if the limit is whole again then', () => {
    expect(waitAfterReset({ 'retry-after': '60' })).toBeGreaterThanOrEqual(60_000);
  });

  it('sends nothing before the end of a wait that is named', () => {
    const player = playing();
    player.accepted();
    player.rejected(20, { kind: 'throttled', retryAfterMs: 5_000 });
    const before = player.now;
    player.send();
    expect(player.now - before).toBeGreaterThanOrEqual(5_000);
    expect(player.now - before).toBeLessThanOrEqual(6_010);
  });

  it('takes one that ended without an answer for neither in flight nor rejected', () => {
    const player = playing();
    player.learner.withdrawn(player.send(), true, player.now);
    player.learner.withdrawn(player.send(), false, player.now);
    expect(player.learner.wait(player.now)).toBe(0);
    expect(player.learner.rate.measuredPerSecond).toBeUndefined();
  });

  it('believes a rejection that tells a cap, and waits for an answer at it', () => {
    const player = playing();
    const first = player.send();
    const second = player.send();
    player.learner.rejected(second, { kind: 'throttled', limit: 'concurrency' }, 0);
    expect(player.learner.cap.limit).toBe(1);
    expect(player.learner.wait(1_000)).toBe(Number.POSITIVE_INFINITY);
    player.learner.answered(first, OK, undefined, 1_000);
    expect(player.learner.wait(1_000)).toBeLessThan(Number.POSITIVE_INFINITY);
  });

  it('lets ever more go under a cap, though all results come at one moment', () => {
    const { learner } = playing();
    const send = (now: number) => {
      const sent: ReturnType<typeof learner.take>[] = [];
      while (learner.wait(now) === 0 && sent.length < 400) sent.push(learner.take(0, now));
      return sent;
    };
    const early = Array.from({ length: 400 }, () => learner.take(0, 0));
    const [rejected, ...others] = early.reverse();
    if (rejected !== undefined)
      learner.rejected(rejected, { ...TOO_MANY, limit: 'concurrency' }, 9);
    for (const each of others) learner.answered(each, OK, undefined, 10);
    const batches: number[] = [];
    for (let now = 1_000; now < 40_000; now += 1_000) {
      const batch = send(now);
      for (const each of batch) learner.answered(each, OK, undefined, now + 500);
      batches.push(batch.length);
    }
    expect(batches[0]).toBe(16);
    expect(batches.at(-1)).toBe(399);
  });

  it('knows limits that were configured, by their names', () => {
    const perMs = (unit: string) => (unit === 'tokens' ? 1 : Number.POSITIVE_INFINITY);
    const learner = new RateLearner({ perMs, burst: () => 60_000 });
    expect(learner.rate.units.tokens).toBeDefined();
    learner.wait(0);
    expect(learner.snapshot(0).tokens).toEqual({ perSecond: 998, origin: 'limit' });
    expect(learner.snapshot(0).origin).toBe('start');
  });

  it('measures the rate when something is let in again, and shows what it rests on', () => {
    const player = playing();
    for (let n = 0; n < 10; n += 1) player.accepted(100);
    player.rejected(0);
    expect(player.learner.rate.measuredAt).toBeUndefined();
    player.accepted(0);
    expect(player.learner.rate.measuredAt).toBe(1_100);
    expect(player.learner.snapshot(1_200)).toMatchObject({
      origin: 'learned',
      // Without the last 100 ms, in which nothing was asked for.
      ceilingPerSecond: expect.closeTo(10, 3),
      evidence: 1,
      cap: undefined,
      isOut: false,
      sinceCutMs: 100,
    });
  });

  it.each([
    ['lowers', 'take long', 2_000],
    ['keeps', 'come back at once', 10],
  ])('%s the pace until the rate is measured anew, where rejections %s', (change, _, tookMs) => {
    const player = playing();
    const { learner } = player;
    const perSecond = () => learner.snapshot(player.now).perSecond;
    for (let n = 0; n < 10; n += 1) player.accepted(100);
    player.rejected(tookMs);
    for (let n = 0; n < 60; n += 1) player.accepted(10);
    const rejected = player.send();
    player.now += tookMs;
    const measured = learner.rate.measuredPerSecond;
    const before = perSecond();
    learner.rejected(rejected, TOO_MANY, player.now);
    expect(learner.rate.measuredPerSecond).toBe(measured);
    if (change === 'lowers') expect(perSecond()).toBeLessThan(0.95 * before);
    else expect(perSecond()).toBe(before);
    // An attempt that follows the reaction shows that the rejections are over.
    player.accepted(10);
    player.now += 10 * tookMs;
    player.accepted(10);
    expect(learner.rate.measuredPerSecond).not.toBe(measured);
  });

  it('keeps what was saved while results are awaited, and none of it after a rejection', () => {
    const player = playing();
    const { learner } = player;
    const sendAll = () => {
      const sent = [];
      while (learner.wait(player.now) === 0) sent.push(learner.take(0, player.now));
      return sent;
    };
    const answer = (sent: ReturnType<typeof sendAll>) => {
      player.now += 10;
      for (const each of sent) learner.answered(each, OK, undefined, player.now);
    };
    const first = sendAll();
    player.now = 10_000;
    answer(first);
    player.rejected(10_000);
    player.accepted(10);
    expect(learner.snapshot(player.now).burst).toBe(10);
    player.now += 100_000;
    // After a rejection little is verified, so that ten do not go at once.
    const counts: number[] = [];
    for (let n = 0; n < 2; n += 1) {
      const sent = sendAll();
      counts.push(sent.length);
      answer(sent);
    }
    expect(counts).toEqual([2, 4]);
    // Four are left of it. A wait that is named is no time without demand, and after it they are
    // gone.
    player.rejected(10, { ...TOO_MANY, retryAfterMs: 60_000 });
    player.accepted(10);
    player.accepted(10);
    expect(sendAll()).toEqual([]);
  });

  it('takes a provider for closed until the earliest end of its named waits', () => {
    const mostOf = (retryAfterMs: number) => {
      const player = playing();
      for (let closure = 0; closure < 4; closure += 1) {
        for (let n = 0; n < 40; n += 1) player.accepted(50);
        player.rejected(5, { ...TOO_MANY, retryAfterMs });
      }
      player.accepted(50);
      return player.learner.snapshot(player.now).mostPerSecond ?? 0;
    };
    // Three seconds may be two and a bit; three seconds and a millisecond are exact.
    expect(mostOf(3_000)).toBeGreaterThan(1.05 * mostOf(3_001));
  });

  it('plans the whole wait that a rejection names, and tells none once it has passed', () => {
    const player = playing();
    const { learner } = player;
    for (let n = 0; n < 20; n += 1) player.accepted(10);
    player.rejected(10, { ...TOO_MANY, retryAfterMs: 5_500 });
    expect(learner.plannedMs(0, player.now)).toBe(5_500);
    expect(learner.plannedMs(0, player.now + 5_500)).toBe(0);
  });

  it('never asks to be asked again at the same instant of a real clock', () => {
    const player = playing();
    player.now = 1.7e12;
    for (let n = 0; n < 300; n += 1) {
      const waitMs = player.learner.wait(player.now);
      if (waitMs > 0) expect(player.now + waitMs).toBeGreaterThan(player.now);
      if (n % 3 === 0) player.rejected(0.2);
      else player.accepted(0.3);
    }
  });
});
