import { describe, expect, it } from 'vitest';
import { ConcurrencyCapDetector } from '../../../../src/policies/adaptive-rate/concurrency/concurrency-cap-detector.ts';
import { attemptAt } from '../attempts.ts';

/** So many were accepted, with so many others in flight. */
function accepted(cap: ConcurrencyCapDetector, count: number, others: number): void {
  for (let n = 0; n < count; n += 1) {
    const sent = attemptAt(n, { others });
    sent.outcome = 'accepted';
    cap.isAccepted(sent);
    cap.settled(sent, 0);
  }
}

function stopped(cap: ConcurrencyCapDetector, others: number, isLikely = true): void {
  cap.stopped(others, isLikely);
}

/** A cap of ten that was found. */
function found(): ConcurrencyCapDetector {
  const cap = new ConcurrencyCapDetector();
  for (let n = 0; n < 3; n += 1) {
    accepted(cap, 20, 9);
    stopped(cap, 10);
  }
  return cap;
}

describe('a cap of what is in flight', () => {
  it('is not known at first', () => {
    expect(new ConcurrencyCapDetector().limit).toBeUndefined();
  });

  it('is not shown by two stops: the first one is like no other', () => {
    const cap = new ConcurrencyCapDetector();
    for (let n = 0; n < 2; n += 1) {
      accepted(cap, 50, 9);
      stopped(cap, 10);
    }
    expect(cap.limit).toBeUndefined();
    accepted(cap, 50, 9);
    stopped(cap, 10);
    expect(cap.limit).toBe(10);
  });

  it('is what was in flight beside a rejection that names one, and at least 1', () => {
    const shown = new ConcurrencyCapDetector();
    shown.told(12);
    expect(shown.limit).toBe(12);
    const none = new ConcurrencyCapDetector();
    none.told(0);
    expect(none.limit).toBe(1);
  });

  it('is found where rejections follow what is in flight', () => {
    expect(found().limit).toBe(10);
  });

  it.each([
    ['throttled', undefined, 10],
    ['overloaded', 1_000, 10],
    // By a 429 with a wait, a rate rejects more often than a cap.
    ['throttled', 1_000, undefined],
  ] as const)('rejects as %s, with a wait of %s ms: %s is found', (kind, retryAfterMs, limit) => {
    const cap = new ConcurrencyCapDetector();
    for (let n = 0; n < 3; n += 1) {
      accepted(cap, 20, 9);
      const sent = attemptAt(100 * n, { others: 10 });
      sent.mayBeByCap = true;
      cap.rejected(sent, { kind, retryAfterMs }, true, 0, 100 * n);
    }
    expect(cap.limit).toBe(limit);
  });

  it('is found though it is so small that it stops before eight are accepted', () => {
    const cap = new ConcurrencyCapDetector();
    for (let n = 0; n < 5; n += 1) {
      accepted(cap, 4, 4);
      stopped(cap, 5);
    }
    expect(cap.limit).toBe(5);
  });

  it('is not taken for one where stops that are unlike come between', () => {
    const cap = new ConcurrencyCapDetector();
    for (let n = 0; n < 20; n += 1) {
      accepted(cap, 4, 4);
      stopped(cap, n % 2 === 0 ? 5 : 40);
    }
    expect(cap.limit).toBeUndefined();
  });

  it('is not taken for one where as many in flight were accepted', () => {
    const cap = new ConcurrencyCapDetector();
    for (let n = 0; n < 20; n += 1) {
      accepted(cap, 20, 12);
      stopped(cap, 10);
    }
    expect(cap.limit).toBeUndefined();
  });

  it('is not taken for one where rejections come at any number in flight', () => {
    const cap = new ConcurrencyCapDetector();
    for (let n = 0; n < 20; n += 1) {
      accepted(cap, 20, 2);
      stopped(cap, n % 2 === 0 ? 5 : 40);
    }
    expect(cap.limit).toBeUndefined();
  });

  it('is not taken for one where rejections say something else', () => {
    const cap = new ConcurrencyCapDetector();
    for (let n = 0; n < 20; n += 1) {
      accepted(cap, 20, 9);
      stopped(cap, 10, false);
    }
    expect(cap.limit).toBeUndefined();
  });

  it('is exceeded by one after forty at the cap, and stays where that is rejected', () => {
    const cap = found();
    accepted(cap, 39, 9);
    expect(cap.limit).toBe(10);
    accepted(cap, 1, 9);
    expect(cap.limit).toBe(11);
    stopped(cap, 10);
    expect(cap.limit).toBe(10);
  });

  it('is exceeded the later the longer it has held', () => {
    const cap = found();
    const waits: number[] = [];
    for (let trial = 0; trial < 12; trial += 1) {
      let count = 0;
      for (; cap.limit === 10; count += 1) accepted(cap, 1, 9);
      waits.push(count);
      stopped(cap, 10);
    }
    expect(waits.slice(0, 4)).toEqual([40, 40, 40, 40]);
    expect(waits.at(-1)).toBe(404);
  });

  describe('whose rejections name a wait', () => {
    /** Attempts are accepted every 10 ms; returns after how many ms the cap is exceeded. */
    function triedAfter(cap: ConcurrencyCapDetector): number {
      const limit = cap.limit ?? 0;
      for (let ms = 0; ms < 100_000; ms += 10) {
        const sent = attemptAt(30_000 + ms, { others: limit - 1 });
        sent.outcome = 'accepted';
        cap.isAccepted(sent);
        cap.settled(sent, 0);
        if (cap.limit !== limit) return ms;
      }
      return Number.POSITIVE_INFINITY;
    }

    it('is exceeded only after forty times that wait', () => {
      const cap = found();
      expect(triedAfter(cap)).toBe(390);
      cap.stopped(10, true, 1_000);
      expect(triedAfter(cap)).toBe(40_000);
    });

    it('is exceeded as soon after a rejection far below it, which has another cause', () => {
      const cap = new ConcurrencyCapDetector();
      cap.told(10);
      cap.stopped(10, true, 100);
      accepted(cap, 1, 5);
      cap.stopped(2, true, 2_000);
      expect(triedAfter(cap)).toBe(4_000);
    });

    it('is exceeded by more at once, where more was accepted', () => {
      const cap = new ConcurrencyCapDetector();
      cap.told(10);
      cap.stopped(10, true, 1_000);
      expect(triedAfter(cap)).toBe(40_000);
      expect(cap.limit).toBe(11);
      expect(triedAfter(cap)).toBe(150);
    });
  });

  it('is tried again soon after it fell', () => {
    const cap = found();
    for (let trial = 0; trial < 12; trial += 1) {
      while (cap.limit === 10) accepted(cap, 1, 9);
      stopped(cap, 10);
    }
    accepted(cap, 1, 5);
    stopped(cap, 8);
    expect(cap.limit).toBe(8);
    accepted(cap, 40, 7);
    expect(cap.limit).toBe(9);
  });

  it('is not exceeded for what counts as accepted while earlier results are missing', () => {
    const cap = found();
    for (let n = 0; n < 1_000; n += 1) cap.isAccepted(attemptAt(n, { others: 9 }));
    expect(cap.limit).toBe(10);
  });

  it('rises where more is accepted', () => {
    const cap = found();
    accepted(cap, 40, 9);
    accepted(cap, 16, 10);
    expect(cap.limit).toBe(13);
  });

  it('is not exceeded for what is accepted below it', () => {
    const cap = found();
    accepted(cap, 1_000, 5);
    expect(cap.limit).toBe(10);
  });

  it('falls where fewer are let in', () => {
    const cap = found();
    accepted(cap, 1, 5);
    stopped(cap, 8);
    expect(cap.limit).toBe(8);
  });

  it('is disproved by rejections far below it, and needs more to be believed again', () => {
    const cap = found();
    for (let n = 0; n < 3; n += 1) {
      accepted(cap, 1, 1);
      stopped(cap, 2);
    }
    expect(cap.limit).toBeUndefined();
    for (let n = 0; n < 2; n += 1) {
      accepted(cap, 20, 9);
      stopped(cap, 10);
    }
    expect(cap.limit).toBeUndefined();
    accepted(cap, 20, 9);
    stopped(cap, 10);
    expect(cap.limit).toBe(10);
  });

  it('is not disproved by rejections in a row: that is an outage', () => {
    const cap = found();
    for (let n = 0; n < 20; n += 1) stopped(cap, 0);
    expect(cap.limit).toBe(10);
  });

  it('explains rejections with about as many in flight, and no others', () => {
    const cap = found();
    accepted(cap, 1, 5);
    expect([0, 6, 7, 10].map((others) => cap.explains(others))).toEqual([false, false, true, true]);
    stopped(cap, 10);
    expect(cap.explains(10)).toBe(false);
    expect(new ConcurrencyCapDetector().explains(10)).toBe(false);
  });
});

describe('a cap that is raised', () => {
  it('is raised by more and sooner while more is accepted', () => {
    const cap = new ConcurrencyCapDetector();
    cap.told(20);
    const steps: number[] = [];
    for (const count of [40, 21, 23, 27, 33]) {
      accepted(cap, count, (cap.limit ?? 0) - 1);
      steps.push(cap.limit ?? 0);
    }
    expect(steps).toEqual([21, 23, 27, 33, 41]);
    stopped(cap, 40);
    expect(cap.limit).toBe(33);
    accepted(cap, 39, 32);
    expect(cap.limit).toBe(33);
    accepted(cap, 1, 32);
    expect(cap.limit).toBe(34);
  });
});
