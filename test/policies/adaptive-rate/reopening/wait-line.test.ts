import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WaitLine } from '../../../../src/policies/adaptive-rate/reopening/wait-line.ts';
import { seededRandom } from '../../../../src/simulator/random.ts';

const END_MS = 60_000;

interface Told {
  readonly sentAt: number;
  readonly onWayMs: number;
  /** The time until the rejection comes back. */
  readonly backMs?: number;
}

/** What each of some attempts is told as it gets there, `times` too much. */
function lineOf(attempts: readonly Told[], times = 1, roundMs = 0): WaitLine {
  const line = new WaitLine();
  tell(line, attempts, times, roundMs);
  return line;
}

function tell(line: WaitLine, attempts: readonly Told[], times = 1, roundMs = 0): void {
  for (const { sentAt, onWayMs, backMs = 10 } of attempts) {
    const thereAt = sentAt + onWayMs;
    const ms = times * (END_MS - thereAt);
    line.add(sentAt, roundMs > 0 ? Math.ceil(ms / roundMs) * roundMs : ms, thereAt + backMs);
  }
}

/**
 * Attempts that were sent this far apart, and are on their way for this long and up to `jitterMs`
 * more.
 */
const evenly = (count: number, apartMs: number, onWayMs: number, jitterMs = 0) =>
  Array.from({ length: count }, (_, index) => ({
    sentAt: index * apartMs,
    onWayMs: onWayMs + (jitterMs * ((index * 7) % 5)) / 5,
  }));

describe('the line through named waits', () => {
  it.each([0.3, 3, 10])('shows that %s times the time that is left is named', (times) => {
    expect(lineOf(evenly(30, 20, 30, 5), times).scale).toBeCloseTo(1 / times, 1);
  });

  it('shows nothing with seven waits of one closure, which eight show', () => {
    expect(lineOf(evenly(7, 50, 30), 10).scale).toBeUndefined();
    expect(lineOf(evenly(8, 50, 30), 10).scale).toBeCloseTo(0.1, 5);
  });

  it('needs fewer of a closure where those before have shown the same', () => {
    const line = new WaitLine();
    for (let closure = 1; closure <= 3; closure += 1) {
      expect(line.scale).toBeUndefined();
      line.next();
      tell(line, evenly(4, 50, 30), 10);
    }
    expect(line.scale).toBeCloseTo(0.1, 5);
  });

  it('compares no waits of different closures, which have different ends', () => {
    const line = new WaitLine();
    for (let closure = 1; closure <= 30; closure += 1) {
      line.next();
      line.add(1_000 * closure, 900.5, 1_000 * closure + 10);
    }
    expect(line.scale).toBeUndefined();
  });

  it('shows it of attempts that were sent at once, where answers take long and differ', () => {
    const random = seededRandom(1);
    const attempts = Array.from({ length: 300 }, (_, index) => ({
      sentAt: index / 20,
      onWayMs: 4 * random(),
      backMs: 60 * random(),
    }));
    expect(lineOf(attempts, 10).scale).toBeGreaterThan(0.05);
    expect(lineOf(attempts, 10).scale).toBeLessThan(0.2);
    expect(lineOf(attempts).scale ?? 1).toBeGreaterThan(0.9);
  });

  it('shows nothing where all waits are the same, or grow', () => {
    const line = new WaitLine();
    for (let index = 0; index < 20; index += 1) line.add(index, 1_500.5, index + 10);
    expect(line.scale).toBeUndefined();
    for (let index = 20; index < 40; index += 1) line.add(index, 1_500.5 + index, index + 10);
    expect(line.scale).toBeUndefined();
  });

  it('hardly ever takes waits for too long that differ by chance', () => {
    const random = seededRandom(2);
    let wrong = 0;
    for (let run = 0; run < 200; run += 1) {
      const line = new WaitLine();
      let isWrong = false;
      for (let closure = 0; closure < 20; closure += 1) {
        line.next();
        for (let index = 0; index < 10; index += 1) {
          const sentAt = 1_000 * closure + 2 * index;
          line.add(sentAt, 900 + 200 * random(), sentAt + 50 + 40 * random());
          isWrong ||= (line.scale ?? 1) < 1;
        }
      }
      if (isWrong) wrong += 1;
    }
    expect(wrong).toBeLessThanOrEqual(6);
  });

  it('hardly ever takes true waits for too long where attempts queue and answers differ by chance', () => {
    const random = seededRandom(3);
    let wrong = 0;
    for (let run = 0; run < 200; run += 1) {
      // Ten times as long after each other as they were sent.
      const attempts = Array.from({ length: 12 }, (_, index) => ({
        sentAt: index,
        onWayMs: 9 * index,
        backMs: 400 * random(),
      }));
      if ((lineOf(attempts).scale ?? 1) < 0.7) wrong += 1;
    }
    expect(wrong).toBeLessThanOrEqual(4);
  });

  it('shows nothing of waits in whole seconds, which may be rounded', () => {
    expect(lineOf(evenly(30, 40, 30), 10, 1_000).scale).toBeUndefined();
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
          expect(lineOf(sent).scale ?? 1).toBeGreaterThanOrEqual(1 - 1e-6);
        },
      ),
    );
  });
});
