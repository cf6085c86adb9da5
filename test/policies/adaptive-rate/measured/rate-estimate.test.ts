import { describe, expect, it } from 'vitest';
import { RateEstimate } from '../../../../src/policies/adaptive-rate/measured/rate-estimate.ts';
import { seededRandom } from '../../../../src/simulator/index.ts';
import { attemptAt } from '../attempts.ts';

const NEVER = Number.NEGATIVE_INFINITY;
const none = { perMs: () => Number.POSITIVE_INFINITY, burst: () => 0 };

/** An estimate of a provider whose answers come at once, and what is sent to it. */
function learning(estimate = new RateEstimate({ accepted: 0, firstAt: 0 }, none)) {
  let order = 0;
  const settle = (
    outcome: 'accepted' | 'rejected',
    at: number,
    idleMs = 0,
    namedUntil = NEVER,
    usedUpPerMs = 0,
    lateMs = 0,
  ) => {
    const pacePerMs = estimate.pacePerMs;
    const isSaved = idleMs > 0;
    const sent = attemptAt(at, { order, pacePerMs, isPaced: !isSaved, isSaved, idleMs, lateMs });
    order += 1;
    sent.outcome = outcome;
    sent.usedUpPerMs = usedUpPerMs;
    sent.reaction = { order };
    return estimate.settled(sent, namedUntil, 1);
  };
  return {
    estimate,
    accept: (at: number, idleMs = 0, namedUntil = NEVER, lateMs = 0) =>
      settle('accepted', at, idleMs, namedUntil, 0, lateMs),
    reject: (at: number, idleMs = 0, usedUpPerMs = 0) =>
      settle('rejected', at, idleMs, NEVER, usedUpPerMs),
  };
}

/** Keeps a bucket full: what comes when it is empty is rejected, and comes again 1 ms later. */
function fill(ratePerMs: number, untilMs: number, player = learning(), fromMs = 0): RateEstimate {
  const { estimate, accept, reject } = player;
  let level = 1;
  let filledAt = fromMs;
  for (let at = fromMs; at < untilMs; ) {
    level = Math.min(1, level + (at - filledAt) * ratePerMs);
    filledAt = at;
    if (level >= 1 - 1e-9) {
      level -= 1;
      accept(at);
      at += estimate.isKnown ? Math.max(1, 1 / estimate.pacePerMs) : 1;
    } else {
      reject(at);
      at += 1;
    }
  }
  return estimate;
}

describe('what is learned of a rate', () => {
  it('is not measured by an attempt of before a closure of which a new leader hears late', () => {
    const player = learning();
    const estimate = fill(0.01, 60_000, player);
    const { measuredPerMs } = estimate;
    player.reject(70_000);
    expect(player.accept(40_000)).toBe(false);
    expect(estimate.measuredPerMs).toBe(measuredPerMs);
    expect(player.accept(70_100)).toBe(true);
  });

  it('does not change with a limit that changes before anything was measured', () => {
    const first = (factor: number) => {
      const player = learning();
      for (let at = 0; at < 100; at += 1) player.accept(at);
      player.estimate.scale(factor);
      player.reject(100);
      player.accept(110);
      expect(player.estimate.isKnown).toBe(true);
      return player.estimate.measuredPerMs;
    };
    expect(first(8)).toBe(first(1));
  });

  it('is nothing while nothing is rejected', () => {
    const { estimate, accept } = learning();
    for (let at = 0; at < 100; at += 1) expect(accept(at)).toBe(false);
    expect(estimate.isKnown).toBe(false);
    expect(estimate.pacePerMs).toBe(Number.POSITIVE_INFINITY);
  });

  it('is nothing yet by a rejection alone: the provider must let something in again', () => {
    const { estimate, accept, reject } = learning();
    accept(0);
    reject(10);
    expect(estimate.isKnown).toBe(false);
    expect(accept(100)).toBe(true);
    expect(estimate.isKnown).toBe(true);
  });

  it('is at first what was accepted in the time until something was let in again', () => {
    const { estimate, accept, reject } = learning();
    for (let n = 0; n < 20; n += 1) accept(n * 10);
    reject(200);
    reject(300);
    accept(1_000);
    expect(estimate.measuredPerMs).toBeCloseTo(20 / 1_000, 9);
  });

  it('is not measured by a first closure of several probes after time without demand, but by the next', () => {
    const past = { accepted: 10, firstAt: 0, idleMs: 80, beforeIdle: 9 };
    const { estimate, accept, reject } = learning(new RateEstimate(past, none));
    const closeFrom = (from: number) => {
      for (const at of [0, 100, 260, 500]) reject(from + at);
      accept(from + 1_000);
    };
    closeFrom(100);
    expect(estimate.isKnown).toBe(false);
    for (let n = 1; n < 90; n += 1) accept(1_100 + n);
    closeFrom(1_200);
    expect(estimate.isKnown).toBe(true);
    // 100 before it; the time of the first closure and that without demand do not count.
    expect(estimate.measuredPerMs).toBeCloseTo(100 / 1_120, 9);
  });

  it.each([
    ['little after a window that was used up', 0, 1_000, 1.1, 1.12],
    ['soon more after a closure that was short', 0, 210, 1.1, 1.5],
    ['twice as much where there was time without demand', 100, 1_000, 2, 2],
  ])('is tried for more at first: %s', (_what, idleMs, openMs, first, later) => {
    const past = { accepted: 10, firstAt: 0, idleMs, beforeIdle: 0 };
    const player = learning(new RateEstimate(past, none));
    const { estimate, accept, reject } = player;
    for (let n = 10; n < 20; n += 1) accept(n * 10);
    reject(200);
    accept(openMs);
    const more = () => estimate.pacePerMs / estimate.measuredPerMs;
    expect(more()).toBeCloseTo(first, 1);
    for (let n = 1; n <= 20; n += 1) accept(openMs + 10 * n);
    expect(more()).toBeGreaterThan(0.95 * later);
    expect(more()).toBeLessThan(1.6 * later);
  });

  it.each([
    ['an answer shows', true, 10 / 110],
    ['only silence shows', false, 10 / 19_890],
  ])(
    'is by a late rejection what was accepted until the next one, if %s that that was accepted',
    (_what, isAnswered, perMs) => {
      const estimate = new RateEstimate({ accepted: 0, firstAt: 0 }, none);
      for (let order = 0; order <= 1_000; order += 1) {
        // After the rejection, less is sent than was measured.
        const at = order <= 11 ? 10 * order : 110 + 20 * (order - 11);
        const sent = attemptAt(at, { order });
        sent.outcome = order === 10 ? 'rejected' : 'accepted';
        // A thousand were sent before the rejection came back.
        sent.reaction = { order: 1_000 };
        sent.isAnswered = isAnswered;
        expect(estimate.settled(sent, NEVER, 13_000)).toBe(order === 1_000);
      }
      expect(estimate.measuredPerMs).toBeCloseTo(perMs, 9);
    },
  );

  it('is not that of attempts sent at once, of which one has overtaken the one that was rejected', () => {
    const estimate = new RateEstimate({ accepted: 0, firstAt: 0 }, none);
    const settle = (order: number, at: number, outcome: 'accepted' | 'rejected') => {
      const sent = attemptAt(at, { order });
      sent.outcome = outcome;
      sent.reaction = { order: 30 };
      sent.isAnswered = true;
      estimate.settled(sent, NEVER, 1_000);
    };
    // A window of twenty, and each of thirty sent within a millisecond; then it is closed for a
    // minute.
    for (let order = 0; order < 30; order += 1) {
      settle(order, order / 30, order > 18 && order < 29 ? 'rejected' : 'accepted');
    }
    settle(30, 60_000, 'accepted');
    expect(estimate.measuredPerMs).toBeCloseTo(19 / 60_000, 6);
  });

  it('leaves out the time in which a busy process could not ask whether the provider is open', () => {
    const { estimate, accept, reject } = learning();
    const sent = attemptAt(3_100, { order: 2, lateMs: 3_000 });
    sent.outcome = 'accepted';
    accept(0);
    reject(1);
    estimate.settled(sent, NEVER, 1);
    expect(estimate.measuredPerMs).toBeCloseTo(1 / 100, 9);
    // The second measure leaves it out too.
    for (let n = 1; n <= 10; n += 1) accept(3_100 + 100 * n);
    reject(4_101);
    const late = attemptAt(7_200, { order: 13, lateMs: 3_000 });
    late.outcome = 'accepted';
    estimate.settled(late, NEVER, 1);
    expect(estimate.measuredPerMs).toBeGreaterThan(1 / 300);
  });

  it('leaves it out of all later measures, and takes no such closure for an outage', () => {
    const player = learning();
    const estimate = fill(0.02, 20_000, player);
    const { restsOn, measuredPerMs } = estimate;
    let at = 20_000;
    for (let cycle = 0; cycle < 3; cycle += 1) {
      for (let n = 0; n < 25; n += 1, at += 50) player.accept(at);
      player.reject(at);
      player.accept(at + 3_050, 0, NEVER, 3_000);
      at += 3_100;
    }
    expect(estimate.restsOn).toBeGreaterThan(restsOn + 60);
    expect(estimate.measuredPerMs / measuredPerMs).toBeCloseTo(1, 1);
  });

  it('leaves out the delay of the first attempt after the last rejected one, not of later ones', () => {
    const { estimate, accept } = learning();
    accept(0);
    const settle = (
      at: number,
      order: number,
      lateMs: number,
      outcome: 'accepted' | 'rejected',
    ) => {
      const sent = attemptAt(at, { order, lateMs });
      sent.outcome = outcome;
      sent.isAnswered = true;
      sent.reaction = { order: 4 };
      estimate.settled(sent, NEVER, 1);
    };
    settle(1, 1, 0, 'rejected');
    settle(3_100, 2, 3_000, 'accepted');
    settle(3_110, 3, 0, 'accepted');
    settle(3_200, 4, 0, 'accepted');
    expect(estimate.measuredPerMs).toBeCloseTo(1 / 100, 9);
  });

  it('is raised to what was accepted since the last closure, if that is more than the bounds explain', () => {
    const player = learning();
    const estimate = fill(0.02, 20_000, player);
    const before = estimate.measuredPerMs;
    const openedAt = 20_000;
    for (let n = 0; n < 2_000; n += 1) player.accept(openedAt + n * 10);
    expect(before).toBeCloseTo(0.02, 2);
    expect(estimate.measuredPerMs).toBeGreaterThan(0.09);
    expect(estimate.measuredPerMs).toBeLessThan(0.1);
  });

  it('is raised within wide bounds by each attempt that it does not explain', () => {
    const { estimate, accept, reject } = learning();
    accept(0);
    reject(1);
    accept(5_000);
    reject(5_001);
    accept(12_000);
    const { measuredPerMs } = estimate;
    const { most = 0 } = estimate.bounds ?? {};
    expect(measuredPerMs).toBeLessThan(0.001);
    for (let n = 1; n <= 20; n += 1) accept(12_000 + n * 1_000);
    const least = 19 / 27_000;
    expect(most).toBeGreaterThan(10 * least);
    expect(estimate.measuredPerMs).toBeGreaterThan(least);
    expect(estimate.measuredPerMs).toBeLessThan(least * (most / least) ** 0.25);
  });

  it('counts what was accepted before it was asked', () => {
    const { estimate, accept, reject } = learning(
      new RateEstimate({ accepted: 50, firstAt: 0 }, none),
    );
    reject(5_000);
    accept(5_100);
    expect(estimate.measuredPerMs).toBeCloseTo(50 / 5_100, 9);
  });

  it.each([0.005, 0.02, 0.1])('comes near a bucket that fills at %s per ms', (ratePerMs) => {
    const estimate = fill(ratePerMs, 300 / ratePerMs);
    expect(estimate.measuredPerMs / ratePerMs).toBeGreaterThan(0.95);
    expect(estimate.measuredPerMs / ratePerMs).toBeLessThan(1.05);
    expect(estimate.restsOn).toBeGreaterThan(20);
  });

  it.each([0.5, 2])('follows a rate that becomes %s times as high', (factor) => {
    const player = learning();
    fill(0.02, 20_000, player);
    const estimate = fill(0.02 * factor, 60_000, player, 20_000);
    expect(estimate.measuredPerMs / (0.02 * factor)).toBeGreaterThan(0.9);
    expect(estimate.measuredPerMs / (0.02 * factor)).toBeLessThan(1.1);
  });

  it.each([
    ['nothing but their part tells a cause', 0, false],
    ['they report that nothing is left', 1e-9, true],
  ])('follows rejections of one in fifty, if %s: %s', (_, usedUpPerMs, isAlways) => {
    const { estimate, accept, reject } = learning();
    let at = 0;
    let measured = 0;
    for (let stop = 0; stop < 100; stop += 1) {
      for (let n = 0; n < 49; n += 1) {
        if (accept(at)) measured += 1;
        at += estimate.isKnown ? 1 / estimate.pacePerMs : 10;
      }
      reject(at, 0, usedUpPerMs);
      at += estimate.isKnown ? 1 / estimate.pacePerMs : 10;
    }
    // The last one is not followed by an acceptance.
    expect(measured === 99).toBe(isAlways);
  });

  it('is tried for more, the more was verified, and only a little beyond that', () => {
    const { estimate, accept, reject } = learning();
    for (let n = 0; n < 20; n += 1) accept(n * 10);
    reject(200);
    accept(1_000);
    let before = estimate.pacePerMs;
    let at = 1_050;
    for (let n = 0; n < 120; n += 1) {
      at += 1 / before;
      accept(at);
      expect(estimate.pacePerMs).toBeGreaterThanOrEqual(before);
      expect(estimate.pacePerMs).toBeLessThanOrEqual(1.6 * before);
      before = estimate.pacePerMs;
    }
    expect(before).toBeGreaterThan(2 * estimate.measuredPerMs);
  });

  it('is not tried for more without demand, however long that is', () => {
    const { estimate, accept, reject } = learning();
    for (let n = 0; n < 20; n += 1) accept(n * 10);
    reject(200);
    accept(1_000);
    const before = estimate.pacePerMs;
    accept(3_600_000, 3_599_000);
    expect(estimate.pacePerMs).toBe(before);
  });

  it('stays what it was through an outage', () => {
    const player = learning();
    fill(0.02, 60_000, player);
    const before = player.estimate.measuredPerMs;
    for (let n = 0; n < 40; n += 1) player.accept(60_000 + n * 50);
    for (let at = 62_000; at < 122_000; at += 5_000) player.reject(at);
    player.accept(122_000);
    expect(player.estimate.measuredPerMs).toBe(before);
  });

  it('is measured anew where one outage follows the other: the rate may be wrong', () => {
    // A window of 30 in a minute, used up at once each time, of which 20 a second is believed.
    const player = learning();
    player.estimate.begin(0.02, 0);
    for (let window = 0; window < 8; window += 1) {
      const from = 60_000 * window;
      for (let n = 0; n < 30; n += 1) player.accept(from + n * 50);
      for (let at = from + 1_500; at < from + 59_000; at += 5_000) player.reject(at);
    }
    player.accept(480_000);
    expect(player.estimate.measuredPerMs).toBeLessThan(0.001);
  });

  it('is never nothing, and always a number', () => {
    const { estimate, accept, reject } = learning();
    for (let n = 0; n < 500; n += 1) {
      reject(n * 10);
      if (n % 7 === 0) accept(n * 10);
      expect(estimate.pacePerMs).toBeGreaterThan(0);
    }
  });
});

describe('a rate that has grown', () => {
  // A clock may have run for days.
  it.each([0, 1e12])(
    'is found soon once more was accepted than it explains, from %i on',
    (from) => {
      const { estimate, accept, reject } = learning();
      // A bucket of 20 that is kept empty.
      let ratePerMs = 0.01;
      let level = 1;
      let at = from;
      const send = () => {
        const isAccepted = level >= 1 - 1e-9;
        if (isAccepted) accept(at);
        else reject(at);
        level -= isAccepted ? 1 : 0;
        const gapMs = isAccepted ? 1 / Math.min(1, estimate.pacePerMs) : 100;
        level = Math.min(20, level + gapMs * ratePerMs);
        at += gapMs;
      };
      while (at < from + 400_000) send();
      expect(estimate.measuredPerMs).toBeCloseTo(0.01, 4);
      ratePerMs = 1;
      while (estimate.pacePerMs < 1.05 * 0.01) send();
      let sent = 0;
      for (; estimate.pacePerMs < 1.85 * 0.01; sent += 1) send();
      // A twentieth becomes four fifths in four doublings.
      expect(sent).toBeLessThan(4.5 * 32);
    },
  );
});

it('grows slowly where some attempts are rejected whatever the rate', () => {
  const estimate = new RateEstimate({ accepted: 0, firstAt: 0 }, none);
  const random = seededRandom(1);
  let order = 0;
  let at = 0;
  const settle = (outcome: 'accepted' | 'rejected') => {
    const { pacePerMs } = estimate;
    at += pacePerMs === Number.POSITIVE_INFINITY ? 1 : 1 / pacePerMs;
    const sent = attemptAt(at, { order, pacePerMs });
    order += 1;
    sent.outcome = outcome;
    sent.isOfOtherKind = true;
    sent.reaction = { order };
    estimate.settled(sent, NEVER, 1);
  };
  while (estimate.share === 0 && order < 1_000) settle(random() < 0.3 ? 'rejected' : 'accepted');
  expect(estimate.share).toBeGreaterThan(0.1);
  const part = () => estimate.pacePerMs / estimate.measuredPerMs;
  const before = part();
  for (let n = 0; n < 20; n += 1) settle('accepted');
  // The excess doubles with 40 attempts there. With 8, this is 0.34.
  expect(part() - before).toBeLessThan(0.15);
});
