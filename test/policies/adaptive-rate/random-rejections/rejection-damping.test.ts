import { describe, expect, it } from 'vitest';
import {
  type Caution,
  RejectionDamping,
} from '../../../../src/policies/adaptive-rate/random-rejections/rejection-damping.ts';

/** Attempts between stops, of which the last ones are rejected. */
interface Stops {
  readonly stops: number;
  readonly attempts: number;
  readonly rejected?: number;
  /** The pace of sending. */
  readonly perMs: number;
  /** How much longer than at that pace it took; 1 unless given. */
  readonly closed?: number;
  readonly isSlow?: boolean;
}

function player(caution: Partial<Caution> = {}) {
  const damping = new RejectionDamping({
    stops: 3,
    mostShare: 0.75,
    toldShare: 0.75,
    untriedShare: 0.75,
    sure: 5,
    needsTrial: false,
    ...caution,
  });
  // After what was sent to the damping before.
  let at = 1_000_000;
  let isMore = false;
  return {
    damping,
    /** @returns how many stops are to be ignored */
    play({ stops, attempts, rejected = 1, perMs, closed = 1, isSlow = false }: Stops): number {
      let ignored = 0;
      for (let stop = 0; stop < stops; stop += 1) {
        // Somewhat fewer and somewhat more in turn: chance is irregular.
        const differs = Math.ceil((attempts - rejected) / 6);
        const count = attempts + (isMore ? differs : -differs);
        isMore = !isMore;
        for (let n = 0; n < count; n += 1) {
          at += closed / perMs;
          const sent = { at, pacePerMs: perMs, idleMs: 0, isBare: true };
          damping.settled(n >= count - rejected, sent, isSlow ? perMs : 0);
        }
        if (damping.isByChance(perMs)) ignored += 1;
      }
      return ignored;
    },
  };
}

/** Sends a whole trial, with so many rejected attempts, spread evenly. @returns whether it has passed */
function attempt(damping: RejectionDamping, rejected: number): boolean {
  let sent = 0;
  for (; damping.trial.isSending; sent += 1) damping.trial.sent();
  let isPassed = false;
  for (let n = 0; n < sent; n += 1) {
    const outcome = (n * rejected) % sent < rejected ? 'rejected' : 'accepted';
    isPassed = damping.tried({ outcome, at: 0, namedUntil: Number.NEGATIVE_INFINITY }) || isPassed;
  }
  return isPassed;
}

/** The rate fell, and as many of a hundred were rejected as before. */
function found(attempts: number) {
  const played = player();
  for (const perMs of [1, 0.8, 0.6]) played.play({ stops: 6, attempts, perMs });
  return played;
}

describe('rejections that do not depend on the rate', () => {
  it.each([100, 20, 10, 4, 2])('are found where the rate falls twice: one of %i', (attempts) => {
    const { damping, play } = player();
    expect(play({ stops: 6, attempts, perMs: 1 })).toBe(0);
    expect(play({ stops: 6, attempts, perMs: 0.45 })).toBe(0);
    expect(damping.share).toBe(0);
    expect(play({ stops: 6, attempts, perMs: 0.4 })).toBe(1);
    expect(damping.share).toBeCloseTo(1 / attempts, 6);
    expect(damping.ratePerMs).toBeCloseTo(1 - 1 / attempts, 2);
  });

  it('are found where several in a row are rejected', () => {
    const { damping, play } = player();
    for (const perMs of [1, 0.6, 0.5]) play({ stops: 3, attempts: 8, rejected: 2, perMs });
    expect(damping.share).toBeCloseTo(0.25, 6);
  });

  it.each([
    ['the rate is much the same', { perMs: 0.98 }, { perMs: 0.96 }],
    ['fewer are rejected', { perMs: 0.8, attempts: 60 }, { perMs: 0.6, attempts: 60 }],
    ['more are rejected', { perMs: 0.8, attempts: 7 }, { perMs: 0.6, attempts: 7 }],
    ['the rate has fallen but once', { perMs: 0.5 }, { perMs: 0.5 }],
    [
      'the provider was closed for long, and rejected several',
      { perMs: 0.8, closed: 2, attempts: 40, rejected: 2 },
      { perMs: 0.6, closed: 2, attempts: 40, rejected: 2 },
    ],
  ])('are not found where %s', (_, second, third) => {
    const { damping, play } = player();
    for (const each of [{ perMs: 1 }, second, third]) play({ stops: 6, attempts: 20, ...each });
    expect(damping.share).toBe(0);
  });

  it('are found where each named a wait', () => {
    const { damping, play } = player();
    for (const perMs of [1, 0.8, 0.6]) play({ stops: 6, attempts: 20, closed: 2, perMs });
    expect(damping.share).toBeCloseTo(0.05, 6);
  });

  it.each([
    [false, true],
    [true, false],
  ])('are more than the share for limits that tell details (told: %s): %s', (isTold, isFound) => {
    const { damping, play } = player({ toldShare: 0.05 });
    damping.isTold = isTold;
    for (const perMs of [1, 0.8, 0.6]) play({ stops: 6, attempts: 10, perMs });
    expect(damping.share > 0).toBe(isFound);
  });

  it('are believed no more once they come regularly, as at the end of each window', () => {
    const { damping } = found(20);
    expect(damping.share).toBeGreaterThan(0);
    let ignored = 0;
    for (let n = 0; n < 10 * 20; n += 1) {
      const sent = { at: 2_000_000 + n, pacePerMs: 1, idleMs: 0, isBare: true };
      damping.settled(n % 20 === 19, sent, 0);
      if (n % 20 === 19 && damping.isByChance(1)) ignored += 1;
    }
    // The first one comes after all that were accepted before.
    expect([ignored, damping.share]).toEqual([8, 0]);
  });

  it('are not found where nearly everything is rejected: that is an outage', () => {
    const { damping, play } = player();
    for (const perMs of [1, 0.1, 0.01]) play({ stops: 6, attempts: 10, rejected: 8, perMs });
    expect(damping.share).toBe(0);
  });

  it('are not found where they are more than the greatest share that is allowed', () => {
    const { damping, play } = player({ mostShare: 0.05 });
    for (const perMs of [1, 0.8, 0.6, 0.4]) play({ stops: 6, attempts: 19, perMs });
    expect(damping.share).toBe(0);
    for (const perMs of [0.3, 0.2, 0.1]) play({ stops: 6, attempts: 21, perMs });
    expect(damping.share).toBeCloseTo(1 / 21, 6);
  });

  it('are found later where a stage needs more stops', () => {
    const { damping, play } = player({ stops: 12 });
    for (const perMs of [1, 0.8, 0.6]) play({ stops: 11, attempts: 20, perMs });
    expect(damping.share).toBe(0);
    for (const perMs of [0.5, 0.4, 0.3]) play({ stops: 12, attempts: 20, perMs });
    expect(damping.share).toBeCloseTo(1 / 20, 6);
  });

  it('are ignored above a bound only after a trial', () => {
    const { damping, play } = player({ untriedShare: 0.05 });
    for (const perMs of [1, 0.8, 0.6]) play({ stops: 6, attempts: 10, perMs });
    expect(damping.share).toBe(0);
    expect(attempt(damping, 3)).toBe(true);
    expect(damping.share).toBeCloseTo(0.1, 6);
    expect(damping.ratePerMs).toBeCloseTo(0.9, 2);
  });

  /** Three trials fail, each slower than the one before. */
  function failTrials({ damping, play }: ReturnType<typeof player>): void {
    for (let trial = 0; trial < 3; trial += 1) {
      for (const part of [1, 0.8, 0.6])
        play({ stops: 6, attempts: 10, perMs: 0.5 ** trial * part });
      expect(attempt(damping, 20)).toBe(false);
      expect(damping.share).toBe(0);
    }
  }

  it('are found later after the slowest trial has failed', () => {
    const played = player({ untriedShare: 0.05 });
    const { damping, play } = played;
    failTrials(played);
    for (const perMs of [0.2, 0.19, 0.18]) play({ stops: 6, attempts: 10, perMs });
    expect(damping.trial.isSending).toBe(false);
    for (const perMs of [0.17, 0.16]) play({ stops: 6, attempts: 10, perMs });
    expect(attempt(damping, 3)).toBe(true);
  });

  it.each([
    [255, false],
    [256, true],
  ])('are found as soon as ever once a share has explained %i of them: %s', (stops, isSending) => {
    const played = player({ untriedShare: 0.05 });
    const { damping, play } = played;
    failTrials(played);
    for (const perMs of [0.2, 0.19, 0.18, 0.17, 0.16]) play({ stops: 6, attempts: 10, perMs });
    expect(attempt(damping, 3)).toBe(true);
    play({ stops, attempts: 10, perMs: 0.2 });
    for (let n = 0; n < 9; n += 1) play({ stops: 1, attempts: 20_000, rejected: 0, perMs: 1 });
    expect(damping.share).toBe(0);
    // The end of the stage of the share.
    play({ stops: 1, attempts: 10, perMs: 0.2 });
    for (const perMs of [0.3, 0.3, 0.24, 0.18]) play({ stops: 6, attempts: 10, perMs });
    expect(damping.trial.isSending).toBe(isSending);
  });

  /** A trial has shown that one of ten is rejected; then less of it was measured. */
  function proven() {
    const played = player({ untriedShare: 0.05, sure: 2 });
    const { damping, play } = played;
    for (const perMs of [1, 0.8, 0.6]) play({ stops: 6, attempts: 10, perMs });
    expect(attempt(damping, 3)).toBe(true);
    expect(damping.isMeasuring).toBe(true);
    play({ stops: 1, attempts: 72, perMs: 0.5, isSlow: true });
    expect(damping.isMeasuring).toBe(false);
    expect(damping.share).toBeLessThan(0.04);
    return played;
  }

  it('are believed again up to the share that a trial has shown, without another one', () => {
    const { damping, play } = proven();
    for (let perMs = 1; perMs > 0.05 && damping.share < 0.06; perMs *= 0.97) {
      play({ stops: 1, attempts: 11, perMs });
    }
    expect(damping.trial.isSending).toBe(false);
    expect(damping.share).toBeCloseTo(1 / 11, 2);
  });

  it('stay believed where a trial of a greater share fails', () => {
    const { damping, play } = proven();
    const { share } = damping;
    for (let perMs = 1; perMs > 0.1 && !damping.trial.isSending; perMs *= 0.97) {
      play({ stops: 1, attempts: 6, perMs });
    }
    expect(damping.trial.isSending).toBe(true);
    expect(attempt(damping, 32)).toBe(false);
    expect(damping.share).toBe(share);
  });

  it('are ignored at the pace of a trial at most', () => {
    const played = player({ untriedShare: 0.05 });
    const { damping, play } = played;
    failTrials(played);
    play({ stops: 6, attempts: 10, perMs: 0.02 });
    expect(attempt(damping, 3)).toBe(true);
    expect(damping.ratePerMs).toBeCloseTo(0.08, 6);
  });

  /** A trial has shown that one of ten is rejected, and the measure after it the same. */
  function provenMeasured() {
    const played = player({ untriedShare: 0.05 });
    for (const perMs of [1, 0.8, 0.6]) played.play({ stops: 6, attempts: 10, perMs });
    expect(attempt(played.damping, 3)).toBe(true);
    played.play({ stops: 6, attempts: 10, perMs: 0.5, isSlow: true });
    expect(played.damping.isMeasuring).toBe(false);
    return played;
  }

  it('are measured again each time they were 256, once a trial has shown them', () => {
    const { damping, play } = provenMeasured();
    for (let times = 0; times < 2; times += 1) {
      play({ stops: 249, attempts: 10, perMs: 1 });
      expect(damping.isMeasuring).toBe(false);
      play({ stops: 1, attempts: 10, perMs: 1 });
      expect(damping.isMeasuring).toBe(true);
      play({ stops: 6, attempts: 10, perMs: 1, isSlow: true });
      expect(damping.isMeasuring).toBe(false);
    }
  });

  it('are not measured again where no trial has shown them', () => {
    const { damping, play } = found(10);
    play({ stops: 300, attempts: 10, perMs: 1 });
    expect(damping.isMeasuring).toBe(false);
  });

  it.each([50, 10, 4])('are ignored from then on: one of %i', (attempts) => {
    const { damping, play } = found(attempts);
    expect(play({ stops: 200, attempts, perMs: 1 })).toBe(200);
    expect(damping.share).toBeCloseTo(1 / attempts, 6);
  });

  it('are disproved if the earlier rate is tried and no more is accepted', () => {
    const { damping, play } = found(20);
    // Twice as much is sent as before, and half of it rejected.
    while (damping.share > 0) play({ stops: 1, attempts: 2, perMs: 1.2 });
    for (const perMs of [1, 0.8, 0.6]) play({ stops: 6, attempts: 20, perMs });
    expect(damping.share).toBe(0);
    for (const perMs of [0.5, 0.4]) play({ stops: 6, attempts: 20, perMs });
    expect(damping.share).toBeCloseTo(1 / 20, 6);
  });

  it('count as more if the rate falls again, and clearly more of it are rejected', () => {
    const { damping, play } = found(20);
    for (let perMs = 1; perMs > 0.3 && damping.share < 0.1; perMs *= 0.97) {
      play({ stops: 1, attempts: 6, perMs });
    }
    expect(damping.share).toBeCloseTo(1 / 6, 2);
  });

  it('are measured where no more is sent than the provider accepts, after each real stop', () => {
    const { damping, play } = found(10);
    expect(damping.isMeasuring).toBe(false);
    // The limit rejects, too.
    while (!damping.isMeasuring) play({ stops: 1, attempts: 3, perMs: 0.55 });
    play({ stops: 10, attempts: 20, perMs: 0.5 });
    expect(damping.isMeasuring).toBe(true);
    play({ stops: 3, attempts: 25, perMs: 0.5, isSlow: true });
    expect(damping.isMeasuring).toBe(false);
    expect(damping.share).toBeLessThan(0.06);
  });

  it('are forgotten where they do not come any more', () => {
    const { damping, play } = found(20);
    play({ stops: 1, attempts: 20_000, rejected: 0, perMs: 1 });
    expect(damping.share).toBeLessThan(0.002);
  });
});

describe('rejections that name waits, whatever the rate', () => {
  /** Closures that come after 100, 10 and 100 attempts, and rejections at a slower pace. */
  function compared(caution: Partial<Caution>, canTry = true) {
    const { damping, play } = player(caution);
    damping.canTry = canTry;
    let at = 0;
    const send = (isRejected: boolean, pacePerMs: number) => {
      at += 1 / pacePerMs;
      damping.settled(isRejected, { at, pacePerMs, idleMs: 0, isBare: false }, 0);
    };
    const close = (attempts: number, perMs: number) => {
      for (let n = 1; n < attempts; n += 1) send(false, perMs);
      send(true, perMs);
      at += 1_000;
      send(false, perMs);
      damping.isByChance(perMs);
    };
    for (const attempts of [100, 10, 100]) close(attempts, 0.1);
    const mostPerMs = damping.mostPerMs(0);
    for (let count = 0; count < 2; count += 1) close(50, 0.03);
    return { damping, mostPerMs, close, play };
  }

  it('are found by a comparison, and the earlier pace is tried', () => {
    const { damping, mostPerMs } = compared({ stops: 6 });
    expect(mostPerMs).toBeLessThan(0.05);
    expect(damping.share).toBeGreaterThan(0.016);
    expect(damping.share).toBeLessThan(0.025);
    expect(damping.ratePerMs).toBeCloseTo(0.1, 6);
    expect(damping.mostPerMs(0)).toBe(Number.POSITIVE_INFINITY);
  });

  it.each([
    [0, true],
    [6, false],
  ])('are ignored after a trial of which %i attempts are rejected: %s', (rejected, isIgnored) => {
    const { damping } = compared({ stops: 6, needsTrial: true });
    expect(damping.share).toBe(0);
    expect(attempt(damping, rejected)).toBe(isIgnored);
    expect(damping.share > 0).toBe(isIgnored);
  });

  it('are compared later after a trial has failed', () => {
    const { damping, close } = compared({ stops: 100, needsTrial: true });
    attempt(damping, 6);
    for (const attempts of [100, 10, 100]) close(attempts, 0.1);
    expect(damping.mostPerMs(0)).toBe(Number.POSITIVE_INFINITY);
    for (const attempts of [100, 10, 100]) close(attempts, 0.1);
    expect(damping.mostPerMs(0)).toBeLessThan(0.05);
  });

  it('are no reason for more caution once they are forgotten', () => {
    /** Found by falls. @returns how many more rejections are ignored */
    const ignored = ({ damping, play }: ReturnType<typeof player>) => {
      for (const perMs of [1.2, 1, 0.8, 0.6]) play({ stops: 6, attempts: 20, perMs });
      expect(damping.share).toBeGreaterThan(0);
      let count = 0;
      while (play({ stops: 1, attempts: 5, perMs: 1 }) === 1) count += 1;
      return count;
    };
    const caution = { stops: 6, sure: 2 };
    const played = compared(caution);
    expect(played.damping.share).toBeGreaterThan(0);
    for (let n = 0; n < 20; n += 1)
      played.play({ stops: 1, attempts: 2_000, rejected: 0, perMs: 1 });
    expect(played.damping.share).toBe(0);
    expect(ignored(played)).toBeLessThanOrEqual(2 * ignored(player(caution)));
  });

  it('are not compared where no trial can be made', () => {
    const { damping, mostPerMs } = compared({ stops: 6, needsTrial: true }, false);
    expect(mostPerMs).toBe(Number.POSITIVE_INFINITY);
    expect(damping.share).toBe(0);
  });
});
