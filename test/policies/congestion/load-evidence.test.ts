import { describe, expect, it } from 'vitest';
import { LoadEvidence } from '../../../src/policies/congestion/load-evidence.ts';
import type { CompletedAttempt } from '../../../src/policies/policy.ts';

const TIMEOUT_MS = 1_000;

/** Attempts with a timeout of 1 s. */
class Attempts {
  now = 0;
  inFlight = 100;
  /** When the attempts that end were sent. */
  sentAt = 0;
  readonly limits: number[] = [];
  readonly evidence = new LoadEvidence({ timeouts: { timeoutMs: TIMEOUT_MS } }, (limit) =>
    this.limits.push(limit),
  );

  get limit(): number | undefined {
    return this.limits.at(-1);
  }

  /** @returns whether each makes room for more */
  answered(count: number, tookMs: number): boolean[] {
    return Array.from({ length: count }, () =>
      this.evidence.answered(this.inFlight, this.sentAt, tookMs, { now: () => this.now }),
    );
  }

  /** Attempts of different requests time out. @returns how many of these use up no attempt */
  timedOut(count: number): number {
    this.now = Math.max(this.now, (this.sentAt || 0) + TIMEOUT_MS);
    const requests = Array.from({ length: count }, (): CompletedAttempt => {
      const completed = { bytes: 1, tokens: 1, isSent: true, verdict: undefined, usage: undefined };
      return { ...completed, epoch: 0 };
    });
    for (const request of requests) {
      this.evidence.timedOut(request, this.inFlight, this.sentAt, this.now);
    }
    return requests.reduce((sum, { excused = 0 }) => sum + excused, 0);
  }

  /** 100 are in flight, 20 of them are answered, and the others time out. */
  overload(): void {
    this.answered(20, 500);
    this.timedOut(80);
  }

  /** The attempts that end next are sent now. */
  send(inFlight: number): void {
    this.sentAt = this.now;
    this.inFlight = inFlight;
  }
}

/** In a trial of ten attempts in flight after an overload. */
function inTrial(): Attempts {
  const attempts = new Attempts();
  attempts.overload();
  attempts.send(10);
  return attempts;
}

/** After a trial in which all attempts were answered in time. */
function helped(): Attempts {
  const attempts = inTrial();
  attempts.now += 2 * TIMEOUT_MS;
  attempts.answered(8, 300);
  attempts.send(10);
  return attempts;
}

describe('timeouts', () => {
  it('of one and two requests reduce nothing', () => {
    const attempts = new Attempts();
    expect(attempts.timedOut(2)).toBe(0);
    expect(attempts.limits).toEqual([]);
    expect(attempts.evidence.isReduced).toBe(false);
  });

  it('that answers make up for reduce nothing', () => {
    const attempts = new Attempts();
    attempts.answered(90, 300);
    attempts.timedOut(50);
    expect(attempts.limits).toEqual([]);
  });

  it('of one request again and again reduce nothing', () => {
    const attempts = new Attempts();
    const request = { bytes: 1, tokens: 1, isSent: true, verdict: undefined, usage: undefined };
    for (let n = 0; n < 9; n += 1) {
      attempts.evidence.timedOut({ ...request, epoch: 0 }, 1, 0, TIMEOUT_MS);
    }
    const same = { ...request, epoch: 0 };
    const alone = new Attempts();
    for (let n = 0; n < 9; n += 1) alone.evidence.timedOut(same, 100, 0, TIMEOUT_MS);
    expect([...attempts.limits, ...alone.limits]).toEqual([]);
  });

  it('reduce the number to half of the attempts that are answered in time', () => {
    const attempts = new Attempts();
    attempts.overload();
    // 20 answers for 20 times half of the timeout, and 80 times the whole.
    expect(attempts.limit).toBeCloseTo(0.5 * 100 * (20 / 90));
    expect(attempts.evidence.reducedFrom).toBe(100);
  });

  it('use up no attempt, if they are the cause of a reduction or were sent before it', () => {
    const attempts = new Attempts();
    attempts.answered(20, 500);
    // The answers make up for ten of them.
    expect(attempts.timedOut(12)).toBe(0);
    expect(attempts.timedOut(68)).toBe(68);
  });

  it('lower the bound while attempts from before the reduction end', () => {
    const attempts = new Attempts();
    attempts.answered(20, 500);
    attempts.timedOut(14);
    const first = attempts.limit ?? 0;
    attempts.timedOut(66);
    expect(attempts.limit).toBeLessThan(first / 2);
  });

  it('leave room for the answers to attempts from before the reduction', () => {
    const attempts = new Attempts();
    attempts.answered(20, 500);
    attempts.timedOut(13);
    attempts.answered(20, 900);
    attempts.timedOut(47);
    // 20 answers that took half of the timeout, 20 that took 0.9 of it, and 60 timeouts.
    expect(attempts.limit).toBeCloseTo(0.5 * 100 * (40 / 88));
  });

  it('are forgotten after two rounds of answers', () => {
    const attempts = new Attempts();
    attempts.timedOut(2);
    expect(attempts.evidence.isWatching).toBe(true);
    attempts.answered(200, 300);
    expect(attempts.evidence.isWatching).toBe(false);
  });

  it('are compared with at least eight attempts', () => {
    const attempts = new Attempts();
    attempts.inFlight = 3;
    attempts.answered(6, 0);
    attempts.timedOut(8);
    expect(attempts.limits).toEqual([]);
    attempts.timedOut(1);
    expect(attempts.limits.length).toBeGreaterThan(0);
  });

  it('of attempts that are too old to be dated use up none after a reduction', () => {
    const attempts = inTrial();
    attempts.sentAt = Number.NaN;
    const { now } = attempts;
    expect(attempts.timedOut(5)).toBe(5);
    attempts.now = now;
    expect(attempts.evidence.isReduced).toBe(true);
  });

  it('of single attempts are kept for eight of them at most', () => {
    const attempts = new Attempts();
    attempts.inFlight = 1;
    attempts.timedOut(7);
    expect(attempts.evidence.isWatching).toBe(true);
    attempts.timedOut(1);
    expect(attempts.evidence.isWatching).toBe(false);
    expect(attempts.limits).toEqual([]);
  });

  it('of both attempts in flight, again and again, leave one', () => {
    const attempts = new Attempts();
    const both = [0, 1].map((epoch) => {
      const request = { bytes: 1, tokens: 1, isSent: true, verdict: undefined, usage: undefined };
      return { ...request, epoch };
    });
    for (const request of [...both, ...both]) {
      attempts.evidence.timedOut(request, 2, 0, TIMEOUT_MS);
    }
    expect(attempts.limit).toBe(1);
  });

  it('without any answer leave one attempt in flight', () => {
    const attempts = new Attempts();
    attempts.timedOut(20);
    expect(attempts.limit).toBe(1);
  });

  it('count with the time that they really took', () => {
    const limits: number[] = [];
    const evidence = new LoadEvidence({}, (limit) => limits.push(limit));
    expect(evidence.timeoutMs).toBe(Number.POSITIVE_INFINITY);
    const attempts = new Attempts();
    attempts.overload();
    for (let n = 0; n < 20; n += 1) evidence.answered(100, 0, 500, { now: () => 500 });
    for (let n = 0; n < 80; n += 1) {
      const completed = { bytes: 1, tokens: 1, isSent: true, verdict: undefined, usage: undefined };
      evidence.timedOut({ ...completed, epoch: 0 }, 100, 0, TIMEOUT_MS);
    }
    expect(limits.at(-1)).toBeCloseTo(attempts.limit ?? 0);
  });
});

describe('in a trial', () => {
  it('answers make no room', () => {
    expect(inTrial().answered(9, 300)).toEqual(Array.from({ length: 9 }, () => false));
  });

  it('the end comes after two timeouts and eight attempts', () => {
    const attempts = inTrial();
    attempts.answered(20, 300);
    attempts.now += 2 * TIMEOUT_MS - 1;
    expect(attempts.answered(1, 300)).toEqual([false]);
    attempts.now += 1;
    expect(attempts.answered(1, 300)).toEqual([true]);
    const few = inTrial();
    few.now += 2 * TIMEOUT_MS;
    expect(few.answered(8, 300)).toEqual([...Array.from({ length: 7 }, () => false), true]);
  });

  it('more answers in time show that the number was the cause', () => {
    const attempts = helped();
    expect(attempts.evidence.isReduced).toBe(true);
    expect(attempts.limit).toBeLessThan(12);
  });

  it('as many timeouts as before show that it was not', () => {
    const attempts = new Attempts();
    // A part of 0.75 is answered in time.
    attempts.answered(60, 500);
    attempts.timedOut(50);
    attempts.send(37);
    attempts.answered(6, 500);
    expect(attempts.timedOut(6)).toBe(0);
    expect(attempts.limit).toBe(Number.POSITIVE_INFINITY);
    expect(attempts.evidence.isReduced).toBe(false);
  });

  it('clearly more answers in time, but not enough, reduce the number further', () => {
    const attempts = inTrial();
    attempts.answered(4, 900);
    attempts.timedOut(4);
    expect(attempts.evidence.isReduced).toBe(true);
    expect(attempts.limit).toBeCloseTo(0.5 * 10 * (4 / 7.6));
  });

  it('too few more answers in time show that it was not', () => {
    const attempts = new Attempts();
    attempts.answered(60, 500);
    attempts.timedOut(50);
    attempts.send(37);
    attempts.timedOut(2);
    attempts.now += TIMEOUT_MS;
    attempts.answered(6, 700);
    expect(attempts.limit).toBe(Number.POSITIVE_INFINITY);
  });

  it('timeouts without answers show that the server still works on earlier requests', () => {
    const attempts = inTrial();
    expect(attempts.timedOut(3)).toBe(3);
    expect(attempts.limit).toBe(1);
    expect(attempts.evidence.reducedFrom).toBe(100);
  });

  it('with one attempt in flight, the first answer makes room', () => {
    const attempts = new Attempts();
    attempts.timedOut(20);
    attempts.send(1);
    expect(attempts.answered(1, 300)).toEqual([true]);
  });

  it('an answer shows that single attempts are answered in time', () => {
    const attempts = new Attempts();
    attempts.timedOut(20);
    attempts.send(1);
    attempts.timedOut(7);
    attempts.answered(1, 300);
    expect(attempts.timedOut(7)).toBe(7);
    expect(attempts.limit).toBe(1);
  });

  it('eight timeouts of single attempts show that the number was not the cause', () => {
    const attempts = new Attempts();
    attempts.timedOut(20);
    attempts.send(1);
    expect(attempts.timedOut(7)).toBe(7);
    expect(attempts.limit).toBe(1);
    expect(attempts.timedOut(1)).toBe(0);
    expect(attempts.limit).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('after a trial that has helped', () => {
  it('late answers make no room', () => {
    const attempts = helped();
    attempts.answered(8, 300);
    expect(attempts.answered(1, 490)).toEqual([true]);
    expect(attempts.answered(1, 510)).toEqual([false]);
  });

  it('slow answers that were slow from the beginning are not late', () => {
    const attempts = inTrial();
    attempts.now += 2 * TIMEOUT_MS;
    attempts.answered(16, 600);
    expect(attempts.answered(1, 700)).toEqual([true]);
    expect(attempts.answered(1, 910)).toEqual([false]);
  });

  it('one answer that was quick makes none late', () => {
    const attempts = inTrial();
    attempts.now += 2 * TIMEOUT_MS;
    attempts.answered(8, 50);
    attempts.answered(1, 50);
    attempts.answered(7, 600);
    expect(attempts.answered(1, 650)).toEqual([true]);
  });

  it('another overload reduces the number again', () => {
    const attempts = helped();
    attempts.inFlight = 60;
    attempts.timedOut(60);
    expect(attempts.limit).toBeLessThan(5);
    expect(attempts.evidence.reducedFrom).toBe(60);
  });

  it('timeouts with few in flight, and no better answers, show that it was not the cause', () => {
    const attempts = helped();
    attempts.inFlight = 60;
    attempts.answered(40, 500);
    attempts.timedOut(40);
    attempts.send(30);
    attempts.now += 2 * TIMEOUT_MS;
    attempts.answered(9, 100);
    attempts.send(29);
    attempts.answered(20, 800);
    attempts.timedOut(22);
    expect(attempts.limit).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('once the number is known not to be the cause', () => {
  function dismissed(): Attempts {
    const attempts = new Attempts();
    attempts.answered(60, 500);
    attempts.timedOut(50);
    attempts.send(37);
    attempts.answered(6, 500);
    attempts.timedOut(6);
    attempts.inFlight = 100;
    attempts.sentAt = attempts.now;
    return attempts;
  }

  it('as many timeouts use up attempts, and reduce nothing, for 40 timeouts', () => {
    const attempts = dismissed();
    for (let round = 0; round < 38; round += 1) {
      attempts.answered(60, 500);
      expect([round, attempts.timedOut(50)]).toEqual([round, 0]);
      attempts.send(100);
    }
    expect(attempts.evidence.isReduced).toBe(false);
    attempts.now += 2 * TIMEOUT_MS;
    attempts.answered(60, 500);
    attempts.timedOut(60);
    expect(attempts.evidence.isReduced).toBe(true);
  });

  it('an answer ends that, if none had come', () => {
    const attempts = new Attempts();
    attempts.timedOut(20);
    attempts.send(1);
    attempts.timedOut(8);
    attempts.send(100);
    attempts.timedOut(100);
    expect(attempts.evidence.isReduced).toBe(false);
    attempts.answered(1, 300);
    attempts.timedOut(10);
    expect(attempts.evidence.isReduced).toBe(true);
  });

  it('the requests that time out are kept for a round at most', () => {
    const attempts = new Attempts();
    attempts.timedOut(20);
    attempts.send(1);
    attempts.timedOut(8);
    attempts.send(100);
    attempts.timedOut(99);
    expect(attempts.evidence.isWatching).toBe(true);
    attempts.timedOut(1);
    expect(attempts.evidence.isWatching).toBe(false);
  });

  it('a round with far more timeouts reduces it earlier', () => {
    const attempts = dismissed();
    attempts.answered(100, 500);
    attempts.send(100);
    attempts.timedOut(400);
    expect(attempts.evidence.isReduced).toBe(true);
    attempts.send(5);
    expect(attempts.timedOut(3)).toBe(3);
    expect(attempts.limit).toBe(1);
  });
});

it('forgets the reduction when another bound is set', () => {
  const attempts = new Attempts();
  attempts.answered(60, 500);
  attempts.timedOut(50);
  attempts.send(10);
  attempts.timedOut(1);
  attempts.evidence.forget();
  expect(attempts.evidence.isReduced).toBe(false);
  expect(attempts.evidence.isWatching).toBe(false);
  expect(attempts.answered(1, 300)).toEqual([true]);
  attempts.answered(5, 500);
  attempts.timedOut(9);
  expect(attempts.limit).toBeLessThan(5);
});
