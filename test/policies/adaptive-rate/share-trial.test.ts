import { describe, expect, it } from 'vitest';
import { ShareTrial } from '../../../src/policies/adaptive-rate/share-trial.ts';

/** Sends a whole trial of a share. @returns its result, with so many rejected attempts */
function tried(share: number, rejected: number): boolean | undefined {
  const trial = new ShareTrial();
  trial.start(share);
  let sent = 0;
  for (; trial.isSending; sent += 1) trial.sent();
  for (let n = 1; n < sent; n += 1) expect(trial.settled(n <= rejected)).toBe(undefined);
  return trial.settled(rejected >= sent);
}

describe('a trial of a share of rejections', () => {
  it('sends nothing before it is started', () => {
    expect(new ShareTrial().isSending).toBe(false);
  });

  it.each([
    [0.1, 0, true],
    [0.1, 6, true],
    [0.1, 7, false],
    [0.5, 21, true],
    [0.5, 22, false],
    [0.5, 32, false],
  ])('of %d passes with %i rejected ones of 32: %s', (share, rejected, result) => {
    expect(tried(share, rejected)).toBe(result);
  });
});
