import { describe, expect, it } from 'vitest';
import { SendHistory } from '../../../../src/policies/adaptive-rate/attempts/send-history.ts';
import type { SentAttempt } from '../../../../src/policies/adaptive-rate/attempts/sent-attempt.ts';
import { attemptAt } from '../attempts.ts';

/** A log of attempts that were sent at these times, and what it has told of them. */
function logOf(...times: number[]) {
  const accepted: number[] = [];
  const settled: [number, string][] = [];
  const log = new SendHistory({
    accepted: ({ order }) => accepted.push(order),
    settled: ({ order, outcome }) => settled.push([order, outcome]),
  });
  const sent = times.map((at, order) => attemptAt(at, { order }));
  for (const each of sent) log.add(each);
  const the = (order: number): SentAttempt => sent[order] ?? attemptAt(0);
  return { log, accepted, settled, the };
}

describe('the log of what was sent', () => {
  it('tells what is accepted at once, and settles it in the order of sending', () => {
    const { log, accepted, settled, the } = logOf(0, 1, 2);
    log.accept(the(2), 5);
    log.accept(the(0), 5);
    log.advance(10);
    expect(accepted).toEqual([2, 0]);
    expect(settled).toEqual([[0, 'accepted']]);
    log.reject(the(1), 10);
    log.advance(10);
    expect(settled).toEqual([
      [0, 'accepted'],
      [1, 'rejected'],
      [2, 'accepted'],
    ]);
  });

  it('notes which attempts an answer has shown to be accepted, and not silence alone', () => {
    const { log, settled, the } = logOf(0, 1, 2);
    log.reject(the(0), 10);
    log.advance(1_000);
    expect(settled).toHaveLength(3);
    log.accept(the(2), 5);
    expect([the(1).isAnswered, the(2).isAnswered]).toEqual([false, true]);
  });

  it('counts what is not known yet', () => {
    const { log, the } = logOf(0, 1, 2);
    expect(log.unknown).toBe(3);
    log.accept(the(1), 5);
    log.reject(the(0), 5);
    expect(log.unknown).toBe(1);
  });

  it('tells nothing twice', () => {
    const { log, accepted, settled, the } = logOf(0);
    expect(log.accept(the(0), 5)).toBe(true);
    expect(log.accept(the(0), 5)).toBe(false);
    log.advance(1);
    log.advance(2);
    expect(accepted).toEqual([0]);
    expect(settled).toHaveLength(1);
  });

  it('takes silence for nothing before the first answer', () => {
    const { log, settled } = logOf(0);
    expect(log.nextMs(1_000)).toBe(Number.POSITIVE_INFINITY);
    log.advance(1e9);
    expect(settled).toEqual([]);
  });

  it('presumes after 5 s before the first rejection that an attempt is accepted, if an answer has come since', () => {
    const { log, accepted, the } = logOf(0, 1, 2_000);
    log.accept(the(0), 1_000);
    log.advance(1_000);
    expect(log.nextMs(1_000)).toBe(4_001);
    log.advance(5_001);
    expect(accepted).toEqual([0]);
    log.advance(5_002);
    expect(accepted).toEqual([0, 1]);
    // The last was sent after the last answer: the server may have gone.
    log.advance(1e9);
    expect(accepted).toEqual([0, 1]);
    log.accept(the(1), 3_000);
    log.advance(1e9);
    expect(accepted).toEqual([0, 1, 2]);
  });

  it('takes silence for acceptance after 1.3 times what a rejection takes', () => {
    const { log, accepted, the } = logOf(0, 50, 90);
    log.reject(the(0), 100);
    log.accept(the(2), 5);
    accepted.pop();
    expect(log.horizonMs).toBeCloseTo(130, 9);
    expect(log.nextMs(100)).toBeCloseTo(-100 + 130, 9);
    log.advance(100);
    expect(log.nextMs(100)).toBeCloseTo(80, 9);
    log.advance(179);
    expect(accepted).toEqual([]);
    log.advance(181);
    expect(accepted).toEqual([1]);
  });

  it('waits longer for silence while nothing was answered, the less so the more was rejected', () => {
    const { log, the } = logOf(0, 0, 0, 0);
    log.reject(the(0), 100);
    expect(log.horizonMs).toBeCloseTo((1.3 + 4) * 100, 9);
    log.reject(the(1), 100);
    expect(log.horizonMs).toBeCloseTo((1.3 + 2) * 100, 9);
    log.accept(the(2), 5);
    expect(log.horizonMs).toBeCloseTo(130, 9);
  });

  it('doubts silence again when a rejection comes after it', () => {
    const { log, accepted, the } = logOf(0, 0, 0);
    log.reject(the(0), 100);
    log.accept(the(1), 5);
    log.advance(140);
    expect(accepted).toEqual([1, 2]);
    log.reject(the(2), 200);
    expect(log.horizonMs).toBeCloseTo((1.3 + 2) * 200, 9);
  });

  it('follows slower rejections at once, and faster ones slowly', () => {
    const { log, the } = logOf(0, 0, 0, 0);
    log.reject(the(0), 100);
    log.accept(the(3), 5);
    log.reject(the(1), 200);
    expect(log.horizonMs).toBeCloseTo(260, 9);
    log.reject(the(2), 40);
    expect(log.horizonMs).toBeCloseTo(260 + (52 - 260) / 32, 9);
  });

  it('hears of a rejection that comes after silence has counted as acceptance', () => {
    const { log, accepted, the } = logOf(0, 0);
    log.reject(the(0), 10);
    log.advance(100);
    expect(accepted).toEqual([1]);
    log.reject(the(1), 200);
    expect(log.unknown).toBe(0);
    expect(log.horizonMs).toBeGreaterThanOrEqual(260);
  });

  it('forgets what is settled, however much is sent', () => {
    const { log, settled } = logOf();
    for (let order = 0; order < 20_000; order += 1) {
      const each = attemptAt(order, { order });
      log.add(each);
      log.accept(each);
      log.advance(order);
    }
    expect(settled).toHaveLength(20_000);
    expect(settled.at(-1)).toEqual([19_999, 'accepted']);
    expect(log.unknown).toBe(0);
  });
});
