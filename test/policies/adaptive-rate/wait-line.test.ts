import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WaitLine } from '../../../src/policies/adaptive-rate/wait-line.ts';

const END_MS = 60_000;

/** What each of some attempts is told as it gets there, `times` too much. */
function lineOf(
  attempts: readonly { readonly sentAt: number; readonly onWayMs: number }[],
  times = 1,
  roundMs = 0,
): { readonly line: WaitLine; readonly now: number } {
  const line = new WaitLine();
  let now = 0;
  for (const { sentAt, onWayMs } of attempts) {
    const thereAt = sentAt + onWayMs;
    const ms = times * (END_MS - thereAt);
    line.add(sentAt, roundMs > 0 ? Math.ceil(ms / roundMs) * roundMs : ms);
    now = Math.max(now, thereAt + 10);
  }
  return { line, now };
}

/** Attempts that were sent this far apart, and are on their way for this long and up to `jitterMs` more. */
const evenly = (count: number, apartMs: number, onWayMs: number, jitterMs = 0) =>
  Array.from({ length: count }, (_, index) => ({
    sentAt: index * apartMs,
    onWayMs: onWayMs + (jitterMs * ((index * 7) % 5)) / 5,
  }));

describe('the line through the waits of a closure', () => {
  it.each([0.3, 3, 10])('shows that %s times the time that is left is named', (times) => {
    const { line, now } = lineOf(evenly(30, 20, 30, 5), times);
    expect(line.scaleAt(now)).toBeCloseTo(1 / times, 1);
  });

  it('shows nothing with seven waits, which eight show', () => {
    const seven = lineOf(evenly(7, 50, 30), 10);
    expect(seven.line.scaleAt(seven.now)).toBeUndefined();
    const eight = lineOf(evenly(8, 50, 30), 10);
    expect(eight.line.scaleAt(eight.now)).toBeCloseTo(0.1, 5);
  });

  it('shows nothing where all waits are the same, or grow', () => {
    const line = new WaitLine();
    for (let index = 0; index < 20; index += 1) line.add(index, 1_500);
    expect(line.scaleAt(1_000)).toBeUndefined();
    for (let index = 20; index < 40; index += 1) line.add(index, 1_500 + index);
    expect(line.scaleAt(1_000)).toBeUndefined();
  });

  it('shows nothing where other causes than time change the waits', () => {
    const { line, now } = lineOf(evenly(30, 1, 30, 500), 10);
    expect(line.scaleAt(now)).toBeUndefined();
  });

  it('shows nothing of waits in whole seconds, which may be rounded', () => {
    const { line, now } = lineOf(evenly(30, 40, 30), 10, 1_000);
    expect(line.scaleAt(now)).toBeUndefined();
  });

  it('takes no true wait for too long, however attempts queue on their way', () => {
    const attempt = fc.record({ sentAt: fc.nat({ max: 2_000 }), onWayMs: fc.nat({ max: 5_000 }) });
    fc.assert(
      fc.property(
        fc.array(attempt, { minLength: 8, maxLength: 40 }),
        fc.constantFrom(0, 1, 3),
        fc.nat({ max: 50 }),
        (attempts, queueing, eachMs) => {
          // Each one that was sent later may also wait for those before it.
          const sent = attempts
            .toSorted((one, other) => one.sentAt - other.sentAt)
            .map(({ sentAt, onWayMs }, index) => ({
              sentAt,
              onWayMs: onWayMs * (queueing === 0 ? 1 : 0) + queueing * index * eachMs,
            }));
          const { line, now } = lineOf(sent);
          expect(line.scaleAt(now) ?? 1).toBeGreaterThanOrEqual(1 - 1e-9);
        },
      ),
    );
  });
});
