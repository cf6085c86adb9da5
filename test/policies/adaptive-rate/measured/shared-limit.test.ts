import { describe, expect, it } from 'vitest';
import { SharedLimit } from '../../../../src/policies/adaptive-rate/measured/shared-limit.ts';

/** Of a limit of 40 a second that is used up, at a pace of 5 a second. */
const STOP = { usedUpPerMs: 0.04, pacePerMs: 0.005, perMs: 0.005, isSure: true } as const;

function stopped(stop: Partial<typeof STOP> | object): SharedLimit {
  const shared = new SharedLimit();
  shared.stopped({ ...STOP, ...stop });
  return shared;
}

describe('a limit that others use too', () => {
  it.each([
    ['was not reported', { usedUpPerMs: 0 }],
    ['is used by this process nearly alone', { pacePerMs: 0.035, perMs: 0.035 }],
    ['is above a rate that is not sure', { isSure: false }],
  ])('is not assumed where it %s', (_, stop) => {
    expect(stopped(stop).paceAfter(100)).toBeUndefined();
  });

  it.each([0.001, 0.01])(
    'costs %f a part of its pace, and adds as much for each attempt',
    (own) => {
      const shared = stopped({ pacePerMs: own, perMs: own });
      const pace = shared.paceAfter(0) ?? 0;
      expect(pace).toBeCloseTo(0.9 * own, 9);
      expect(shared.paceAfter(200)).toBeCloseTo(pace + 200 * 2e-4 * STOP.usedUpPerMs, 9);
    },
  );

  it('is shared though the rate becomes unsure, until a stop says otherwise', () => {
    const shared = stopped({});
    shared.stopped({ ...STOP, isSure: false });
    expect(shared.paceAfter(0)).toBeDefined();
    shared.stopped({ ...STOP, usedUpPerMs: 0 });
    expect(shared.paceAfter(0)).toBeUndefined();
  });

  it('costs and adds as much more as the limit has grown', () => {
    const shared = stopped({});
    const [before, later] = [shared.paceAfter(0) ?? 0, shared.paceAfter(50) ?? 0];
    shared.scale(3);
    expect(shared.paceAfter(0)).toBeCloseTo(3 * before, 9);
    expect(shared.paceAfter(50)).toBeCloseTo(3 * later, 9);
  });

  it('is not begun far above what was measured', () => {
    expect(stopped({ pacePerMs: 0.02 }).paceAfter(0)).toBeCloseTo(0.9 * 1.5 * STOP.perMs, 9);
  });

  it('costs a part of what was measured, where reports held the pace far below that', () => {
    expect(stopped({ pacePerMs: 0.001 }).paceAfter(0)).toBeCloseTo(0.9 * STOP.perMs, 9);
  });

  it('is divided alike in the end, whoever had more', () => {
    const workers = [0.03, 0.01].map((perMs) => ({ shared: new SharedLimit(), perMs, sent: 0 }));
    for (let n = 0; n < 200; n += 1) {
      // Each is stopped after as many attempts: rejections hit all in proportion to what they send.
      for (const worker of workers) {
        const { perMs } = worker;
        worker.shared.stopped({ ...STOP, pacePerMs: perMs, perMs });
        worker.perMs = worker.shared.paceAfter(300) ?? 0;
      }
    }
    const [first, second] = workers.map(({ perMs }) => perMs);
    expect((first ?? 0) / (second ?? 1)).toBeCloseTo(1, 2);
  });
});
