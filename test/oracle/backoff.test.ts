import { describe, expect, it } from 'vitest';
import { FeedbackSubject } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { recorded } from './fixtures.ts';

interface Rejection {
  readonly at: number;
  readonly bytes: number;
}

interface Look {
  readonly at: number;
  readonly closedForMs: number;
  readonly throttled: boolean;
}

interface Case {
  readonly rejections: readonly Rejection[];
  readonly looks: readonly Look[];
}

const THROTTLED_FOR_MS = 10_000;
const SMALL = 128 * 1024;

/** What the gate says at those times, of 429s to requests that were all in flight before. */
function seen({ rejections, looks }: Case): Look[] {
  const clock = new ManualClock();
  const feedback = new FeedbackSubject({ clock, reopen: 'all' });
  for (const { at, bytes } of rejections) {
    clock.setTimer(() => feedback.next({ kind: 'throttled', bytes, epoch: 0 }), at);
  }
  return looks.map(({ at }) => {
    clock.advance(at - clock.now());
    const closedForMs = Math.max(0, (feedback.backoffUntil ?? 0) - at);
    return { at, closedForMs, throttled: feedback.mode === 'throttled' };
  });
}

const endOf = ({ at, bytes }: Rejection) => at + (bytes <= SMALL ? 1_000 : 5_000);

/** Whether a later 429 named an earlier end. */
function isShortened({ rejections }: Case): boolean {
  return rejections.some((each, index) => {
    const before = rejections.slice(0, index).map(endOf);
    return endOf(each) < Math.max(...before);
  });
}

describe('a backoff', () => {
  const cases = recorded<Case>('backoff');

  it('lasts as long as in tinker, and so does what follows it', () => {
    const plain = cases.filter((each) => !isShortened(each));
    expect(plain.length).toBeGreaterThan(600);
    for (const each of plain) expect(seen(each)).toEqual(each.looks);
  });

  it('unlike in tinker, is never shortened by a later 429', () => {
    const shortened = cases.filter(isShortened);
    expect(shortened.length).toBeGreaterThan(100);
    for (const each of shortened) {
      const expected = each.looks.map(({ at }) => {
        const ends = each.rejections.filter((one) => one.at <= at).map(endOf);
        const closedForMs = Math.max(0, Math.max(0, ...ends) - at);
        return { at, closedForMs, throttled: at < Math.max(...ends) + THROTTLED_FOR_MS };
      });
      expect(seen(each)).toEqual(expected);
      each.looks.forEach((theirs, index) => {
        expect(expected[index]?.closedForMs).toBeGreaterThanOrEqual(theirs.closedForMs);
      });
    }
    expect(
      shortened.some((each) =>
        each.looks.some((look, index) => seen(each)[index]?.closedForMs !== look.closedForMs),
      ),
    ).toBe(true);
  });
});
