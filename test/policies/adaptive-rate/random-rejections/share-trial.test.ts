import { describe, expect, it } from 'vitest';
import { ShareTrial } from '../../../../src/policies/adaptive-rate/random-rejections/share-trial.ts';

const NEVER = Number.NEGATIVE_INFINITY;
const ACCEPTED = { outcome: 'accepted', at: 0, namedUntil: NEVER } as const;
const REJECTED = { outcome: 'rejected', at: 0, namedUntil: NEVER } as const;
const FAILED = { outcome: 'withdrawn', at: 0, namedUntil: NEVER } as const;

const result = (isRejected: boolean) => (isRejected ? REJECTED : ACCEPTED);

/** Starts a trial of a share, and sends all of it. @returns how many attempts were sent */
function sendAll(trial: ShareTrial, share: number): number {
  trial.start(share);
  let sent = 0;
  for (; trial.isSending; sent += 1) trial.sent();
  return sent;
}

/** Whether an attempt is one of so many of 32 that are rejected, spread evenly. */
const isSpread = (index: number, rejected: number) => (index * rejected) % 32 < rejected;

/** Sends a whole trial of a share. @returns its results, with rejected attempts where said */
function triedWith(share: number, isRejected: (index: number) => boolean) {
  const trial = new ShareTrial();
  const sent = sendAll(trial, share);
  return Array.from({ length: sent }, (_, index) => trial.settled(result(isRejected(index))));
}

/** Sends a whole trial of a share. @returns its results, with so many rejected attempts first */
function tried(share: number, rejected: number): (boolean | undefined)[] {
  return triedWith(share, (index) => index < rejected);
}

describe('a trial of a share of rejections', () => {
  it('sends nothing before it is started', () => {
    expect(new ShareTrial().isSending).toBe(false);
  });

  it.each([
    [0.1, 0],
    [0.1, 6],
    [0.5, 21],
  ])(
    'of %d passes with %i rejected ones of 32, when the last result is known',
    (share, rejected) => {
      const results = triedWith(share, (index) => isSpread(index, rejected));
      expect(results).toHaveLength(32);
      expect(results.pop()).toBe(true);
      expect(results.every((result) => result === undefined)).toBe(true);
    },
  );

  it.each([
    [0.1, 7],
    [0.5, 22],
  ])('of %d fails once, when %i attempts are rejected', (share, most) => {
    for (const rejected of [most, 32]) {
      const results = tried(share, rejected);
      expect(results.indexOf(false)).toBe(most - 1);
      expect(results.filter((result) => result !== undefined)).toEqual([false]);
    }
  });

  it.each([
    // Two follow rejected ones: 0.2 are expected to be rejected, 1.05 at most.
    [0.1, 2, true],
    [0.1, 3, false],
    // 1 of 4 are expected, 2.7 at most.
    [0.25, 3, true],
    [0.25, 4, false],
  ])('of %d with rejections in a row, %i of them: passes? %s', (share, row, expected) => {
    const isInRow = (index: number) => index >= 10 && index < 10 + row;
    const results = triedWith(share, isInRow);
    expect(results.pop()).toBe(expected);
    expect(results.every((result) => result === undefined)).toBe(true);
  });

  it('counts rejections in a row anew each time', () => {
    const trial = new ShareTrial();
    const play = (share: number, isRejected: (index: number) => boolean) => {
      const sent = sendAll(trial, share);
      return Array.from({ length: sent }, (_, index) => trial.settled(result(isRejected(index))));
    };
    expect(play(0.5, (index) => index % 2 === 0).pop()).toBe(true);
    expect(play(0.25, (index) => index >= 10 && index < 14).pop()).toBe(false);
  });

  it('is slower the next time if rejections came in a row', () => {
    const trial = new ShareTrial();
    const sent = sendAll(trial, 0.1);
    for (let index = 0; index < sent; index += 1) trial.settled(result(index < 4));
    trial.start(0.1);
    expect(trial.paceOf(1)).toBe(16);
  });

  it('leaves results with another cause out, up to half of them', () => {
    const withFailed = (failed: number, rejected: number) => {
      const trial = new ShareTrial();
      const sent = sendAll(trial, 0.1);
      return Array.from({ length: sent }, (_, index) =>
        trial.settled(index < failed ? FAILED : result(index < failed + rejected)),
      );
    };
    expect(withFailed(16, 0).pop()).toBe(true);
    // Of the 16 others, 1.6 are expected, and 4 may be rejected.
    expect(withFailed(16, 5).indexOf(false)).toBe(20);
    expect(withFailed(17, 0).indexOf(false)).toBe(16);
    const again = new ShareTrial();
    for (const _ of [1, 2]) {
      const sent = sendAll(again, 0.1);
      const results = Array.from({ length: sent }, (_result, index) =>
        again.settled(index < 10 ? FAILED : ACCEPTED),
      );
      expect(results.pop()).toBe(true);
    }
  });

  describe('whose rejections name waits', () => {
    /** Each attempt after a wait is accepted, the next ones are not; so each limit behaves. */
    function alternating(share: number, accepted: number): boolean | undefined {
      const trial = new ShareTrial();
      const sent = sendAll(trial, share);
      let at = 0;
      for (let n = 0; n < sent; n += 1) {
        const isRejected = n % (accepted + 1) === accepted;
        const attempt = isRejected
          ? ({ outcome: 'rejected', at, namedUntil: at + 1_000 } as const)
          : ({ outcome: 'accepted', at, namedUntil: NEVER } as const);
        const ended = trial.settled(attempt);
        if (ended !== undefined) return ended;
        at += isRejected ? 1_000 : 5;
      }
      return undefined;
    }

    it('leaves out the first attempt after each wait, which a limit accepts too', () => {
      expect(alternating(0.4, 1)).toBe(false);
      expect(alternating(0.4, 2)).toBe(true);
    });

    it('leaves it out too where attempts before the wait were accepted after the rejection', () => {
      const trial = new ShareTrial();
      const sent = sendAll(trial, 0.4);
      const ended: (boolean | undefined)[] = [];
      for (let n = 0; n < sent / 3; n += 1) {
        const at = 1_000 * n;
        ended.push(trial.settled({ outcome: 'rejected', at: at + 1, namedUntil: at + 1_000 }));
        ended.push(trial.settled({ outcome: 'rejected', at: at + 2, namedUntil: NEVER }));
        ended.push(trial.settled({ outcome: 'accepted', at: at + 1_000, namedUntil: NEVER }));
      }
      expect(ended.find((result) => result !== undefined)).toBe(false);
      expect(ended.indexOf(false)).toBe(21);
    });

    it('counts attempts that were sent before the wait was known', () => {
      const trial = new ShareTrial();
      sendAll(trial, 0.1);
      const results = Array.from({ length: 7 }, (_, at) =>
        trial.settled({ outcome: 'rejected', at, namedUntil: 1_000 }),
      );
      expect(results.pop()).toBe(false);
    });
  });

  it('sends no more once it has failed, and leaves its late results out of the next trial', () => {
    const trial = new ShareTrial();
    trial.start(0.1);
    for (let n = 0; n < 10; n += 1) trial.sent();
    for (let n = 0; n < 7; n += 1) trial.settled(REJECTED);
    expect(trial.isSending).toBe(false);
    // Three results of the first trial are missing.
    const sent = sendAll(trial, 0.1);
    for (let n = 0; n < 3; n += 1) expect(trial.settled(REJECTED)).toBe(undefined);
    for (let n = 1; n < sent; n += 1) expect(trial.settled(ACCEPTED)).toBe(undefined);
    expect(trial.settled(ACCEPTED)).toBe(true);
  });

  it('is slower after each one that has failed, down to four times the pace', () => {
    const trial = new ShareTrial();
    const paces = Array.from({ length: 5 }, (_, failed) => {
      trial.start(0.1);
      const pace = trial.paceOf(1);
      while (trial.isSending) trial.sent();
      for (let n = 0; n < 32; n += 1) trial.settled(REJECTED);
      expect(trial.isSlowest).toBe(failed >= 2);
      return pace;
    });
    expect(paces).toEqual([64, 16, 4, 4, 4]);
  });
});
