import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OutcomeWindow } from '../../src/policies/rolling-window.ts';

describe('a window of outcomes', () => {
  it('counts what has ended in the present tenth and the nine before it, and nothing else', () => {
    const script = fc.array(
      fc.record({ failed: fc.boolean(), laterMs: fc.constantFrom(0, 1, 9, 10, 35, 99, 100, 250) }),
      { maxLength: 60 },
    );
    const law = fc.property(script, fc.constantFrom(100, 70), fc.nat(1_000), (steps, ms, start) => {
      const window = new OutcomeWindow(ms);
      const ended: { at: number; failed: boolean }[] = [];
      const partOf = (at: number) => Math.floor(at / (ms / 10));
      let now = start;
      for (const { failed, laterMs } of steps) {
        now += laterMs;
        window.add(1, failed ? 1 : 0, now);
        ended.push({ at: now, failed });
        now += laterMs % 7;
        const recent = ended.filter(({ at }) => partOf(now) - partOf(at) < 10);
        expect(window.recent(now)).toEqual({
          requests: recent.length,
          failures: recent.filter((one) => one.failed).length,
        });
        // It is the rolling window but for a tenth.
        const exact = ended.filter(({ at }) => now - at < ms).length;
        const short = ended.filter(({ at }) => now - at < 0.9 * ms).length;
        expect(recent.length).toBeLessThanOrEqual(exact);
        expect(recent.length).toBeGreaterThanOrEqual(short);
      }
    });
    fc.assert(law);
  });

  it('is empty after a clear', () => {
    const window = new OutcomeWindow(100);
    window.add(3, 2, 5);
    window.clear();
    expect(window.recent(5)).toEqual({ requests: 0, failures: 0 });
  });
});
