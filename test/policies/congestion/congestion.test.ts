import { describe, expect, it } from 'vitest';
import type { Verdict } from '../../../src/model/feedback.ts';
import { Congestion } from '../../../src/policies/congestion/congestion.ts';

const OK: Verdict = { kind: 'ok' };
const TIMEOUT: Verdict = { kind: 'failed', timedOut: true };

/** Attempts with a timeout of 1 s, sent at 0 and ended at `now`. */
function sent() {
  const backoff = { outage: { count: 0 } };
  const context = { startLimit: 16, backoff, timeouts: { timeoutMs: 1_000 } };
  const congestion = new Congestion(context);
  const clock = {
    at: 0,
    readings: 0,
    now(): number {
      clock.readings += 1;
      return clock.at;
    },
  };
  /** @returns whether the last one makes room */
  const end = (count: number, verdict: Verdict | undefined, inFlight: number, sentAt = 0) => {
    let makesRoom = false;
    for (let n = 0; n < count; n += 1) {
      const completed = { bytes: 1, tokens: 1, isSent: true, verdict, usage: undefined, epoch: 0 };
      makesRoom = congestion.ended(completed, inFlight, sentAt, false, clock);
    }
    return makesRoom;
  };
  return { congestion, clock, end, outage: backoff.outage };
}

describe('congestion', () => {
  it('reads no clock for answers until an attempt times out', () => {
    const { clock, end } = sent();
    expect(end(100, OK, 50)).toBe(true);
    expect(clock.readings).toBe(0);
    clock.at = 1_000;
    end(1, TIMEOUT, 50);
    expect(clock.readings).toBe(1);
    end(1, OK, 50);
    expect(clock.readings).toBe(2);
  });

  it('makes no room for a timeout or a broken connection', () => {
    const { end } = sent();
    expect(end(1, TIMEOUT, 50)).toBe(false);
    expect(end(1, { kind: 'failed', connection: 'broken' }, 50)).toBe(false);
    expect(end(1, { kind: 'failed' }, 50)).toBe(true);
    expect(end(1, { kind: 'throttled', status: 429 }, 50)).toBe(true);
    expect(end(1, undefined, 50)).toBe(true);
  });

  it('doubles after a reduction up to half of what was in flight, and rises by a quarter', () => {
    const { congestion, clock, end } = sent();
    clock.at = 1_000;
    end(40, TIMEOUT, 40);
    expect([congestion.limit, congestion.isReduced]).toEqual([1, true]);
    for (let n = 0; n < 100 && congestion.limit < 20; n += 1) {
      end(1, OK, Math.floor(congestion.limit), 1_000);
    }
    expect(congestion.limit).toBe(20);
    end(4, OK, 20, 1_000);
    expect(congestion.limit).toBe(21);
  });

  it('rises with neither errors nor answers to attempts that exceed the bound', () => {
    const { congestion, clock, end } = sent();
    clock.at = 1_000;
    end(40, TIMEOUT, 40);
    end(9, OK, 5, 1_000);
    end(1, { kind: 'failed', status: 500 }, 1, 1_000);
    expect(congestion.limit).toBe(1);
    // Attempts from before the reduction never raise it.
    end(19, OK, 20);
    end(1, TIMEOUT, 20);
    expect(congestion.limit).toBe(1);
  });

  it('counts answers with errors as answers, and rejections as none', () => {
    const answers = (verdict: Verdict) => {
      const { congestion, clock, end } = sent();
      end(20, verdict, 40);
      clock.at = 1_000;
      end(20, TIMEOUT, 40);
      return congestion.limit;
    };
    expect(answers({ kind: 'failed', status: 400 })).toBeGreaterThan(5);
    expect(answers({ kind: 'throttled', status: 429 })).toBe(1);
    expect(answers({ kind: 'failed' })).toBe(1);
  });

  it('forgets timeouts when an outage begins', () => {
    const { congestion, clock, end, outage } = sent();
    clock.at = 1_000;
    end(40, TIMEOUT, 40);
    outage.count = 1;
    end(1, { kind: 'failed', connection: 'refused' }, 40);
    expect(congestion.isReduced).toBe(false);
    expect(congestion.limit).toBe(16);
  });
});
