import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReportedLimit } from '../../../../src/model/feedback.ts';
import { OtherLimits } from '../../../../src/policies/adaptive-rate/units/other-limits.ts';

const HOUR = 3_600_000;
const LIMIT = { unit: 'requests', limit: 100, windowMs: HOUR } as const;

/** Reports of requests that are sent so many ms apart, and answered within `longestMs` each. */
function report(
  limits: OtherLimits,
  { apartMs, longestMs }: { readonly apartMs: number; readonly longestMs: number },
  resetAt: (decidedAt: number) => number,
  isResetTime = false,
): void {
  for (let n = 0; n < 50; n += 1) {
    const at = n * apartMs;
    const now = at + longestMs * ((n * 7) % 10) * 0.1;
    const decidedAt = (at + now) / 2;
    const resetMs =
      Math.ceil((resetAt(decidedAt) - (isResetTime ? now : decidedAt)) / 1_000) * 1_000;
    limits.report({ ...LIMIT, resetMs, ...(isResetTime && { isResetTime }) }, at, now);
  }
}

const pace = fc.record({
  apartMs: fc.integer({ min: 1_000, max: 20_000 }),
  longestMs: fc.integer({ min: 5, max: 60_000 }),
});

describe('limits that are reported beside the one that sets the pace', () => {
  it('refill gradually where they are whole again later with each request', () => {
    fc.assert(
      fc.property(pace, fc.boolean(), ({ apartMs }, isResetTime) => {
        const limits = new OtherLimits();
        report(limits, { apartMs, longestMs: 500 }, (decidedAt) => decidedAt + HOUR, isResetTime);
        expect(limits.refillsGradually(LIMIT)).toBe(true);
      }),
    );
  });

  it('do not where the end of their window stays, however late answers come', () => {
    fc.assert(
      fc.property(
        pace,
        fc.boolean(),
        fc.integer({ min: 60_000, max: HOUR }),
        (given, isResetTime, windowMs) => {
          const limits = new OtherLimits();
          const endOf = (at: number) => (Math.floor(at / windowMs) + 1) * windowMs;
          report(limits, given, endOf, isResetTime);
          expect(limits.refillsGradually(LIMIT)).toBe(false);
        },
      ),
    );
  });

  it('are forgotten, the oldest first, where each answer reports another window', () => {
    const limits = new OtherLimits();
    report(limits, { apartMs: 5_000, longestMs: 50 }, (at) => at + HOUR);
    for (let n = 1; n < 16; n += 1) limits.report({ ...LIMIT, windowMs: n, resetMs: n }, 0, 0);
    expect(limits.refillsGradually(LIMIT)).toBe(true);
    limits.report({ ...LIMIT, windowMs: 16, resetMs: 16 }, 0, 0);
    expect(limits.refillsGradually(LIMIT)).toBeUndefined();
  });

  it('are told apart by unit and window, and are unknown before a report', () => {
    const limits = new OtherLimits();
    report(limits, { apartMs: 5_000, longestMs: 50 }, (at) => at + HOUR);
    const others: ReportedLimit[] = [
      { ...LIMIT, windowMs: 60_000 },
      { ...LIMIT, unit: 'tokens' },
    ];
    for (const other of others) expect(limits.refillsGradually(other)).toBeUndefined();
    limits.report({ ...LIMIT, windowMs: 60_000 }, 0, 0);
    expect(limits.refillsGradually({ ...LIMIT, windowMs: 60_000 })).toBeUndefined();
  });
});
