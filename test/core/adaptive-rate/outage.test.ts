import { describe, expect, it } from 'vitest';
import { Outage } from '../../../src/core/adaptive-rate/outage.ts';

/** An outage in which a rejection takes 40 ms, and jitter is what is given. */
function rig(jitter = 0.5) {
  const ended: { lastedMs: number; at: number }[] = [];
  const outage = new Outage(
    () => jitter,
    (lastedMs, at) => ended.push({ lastedMs, at }),
  );
  let order = 0;
  let inRow = false;
  const sent = (now: number) => {
    outage.sent(order, now);
    order += 1;
    return order - 1;
  };
  const reject = (attempt: number, at: number, tells = false, takesMs = 40) => {
    outage.rejected({ order: attempt, at }, inRow, order, at + takesMs, tells);
    inRow = true;
  };
  return {
    outage,
    ended,
    sent,
    reject,
    accepted: () => {
      inRow = false;
    },
    /** Sent and rejected, three times: out from 150 on. */
    out: () => {
      for (let now = 0; now < 150; now += 50) reject(sent(now), now, false, now < 100 ? 40 : 50);
    },
  };
}

describe('an outage', () => {
  it('begins with the third rejection in a row', () => {
    const { outage, sent, reject } = rig();
    reject(sent(0), 0);
    reject(sent(50), 50);
    expect(outage.isOn).toBe(false);
    expect(outage.wait(100)).toBe(0);
    reject(sent(100), 100);
    expect(outage.isOn).toBe(true);
    expect(outage.wait(140)).toBe(1_000);
  });

  it('does not begin where something was accepted between', () => {
    const { outage, sent, reject, accepted } = rig();
    for (let now = 0; now < 1_000; now += 100) {
      reject(sent(now), now);
      reject(sent(now + 50), now + 50);
      accepted();
    }
    expect(outage.isOn).toBe(false);
  });

  it('does not begin with rejections that tell how long to wait', () => {
    const { outage, sent, reject } = rig();
    for (let now = 0; now < 1_000; now += 100) reject(sent(now), now, true);
    expect(outage.isOn).toBe(false);
    // One that tells nothing is not the first in a row.
    reject(sent(1_000), 1_000);
    expect(outage.isOn).toBe(true);
  });

  it.each([
    ['', 40],
    [', answered at once', 0],
  ])('does not begin with rejections of what was sent together%s', (_how, takesMs) => {
    const { outage, sent, reject } = rig();
    for (const round of [0, 100]) {
      for (const attempt of Array.from({ length: 40 }, () => sent(round))) {
        reject(attempt, round, false, takesMs);
      }
      expect(outage.isOn).toBe(false);
    }
    reject(sent(200), 200, false, takesMs);
    expect(outage.isOn).toBe(true);
  });

  it('sends single probes, each twice as late as the last, up to 8 s', () => {
    const { outage, out, sent, reject } = rig();
    out();
    let now = 150;
    const waits: number[] = [];
    for (let n = 0; n < 5; n += 1) {
      const waitMs = outage.wait(now);
      waits.push(waitMs);
      now += waitMs;
      expect(outage.wait(now - 1)).toBe(1);
      expect(outage.wait(now)).toBe(0);
      const probe = sent(now);
      expect(outage.wait(now)).toBeGreaterThan(0);
      reject(probe, now);
      now += 40;
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 8_000]);
  });

  it.each([
    [0, 750],
    [1, 1_250],
  ])('spreads probes: chance of %d waits %d ms', (jitter, waitMs) => {
    const { outage, out } = rig(jitter);
    out();
    expect(outage.wait(150)).toBe(waitMs);
  });

  it('begins with a second again after it has ended', () => {
    const { outage, out, sent, reject, accepted } = rig();
    out();
    reject(sent(1_150), 1_150);
    outage.accepted(sent(3_200), 3_300);
    expect(outage.isOn).toBe(false);
    accepted();
    for (let now = 4_000; now < 4_150; now += 50) reject(sent(now), now);
    expect(outage.wait(4_140)).toBe(1_000);
  });

  it('ends when a probe is accepted, and tells how long it lasted until that was sent', () => {
    const { outage, ended, out, sent } = rig();
    out();
    outage.accepted(sent(1_150), 1_900);
    expect(outage.isOn).toBe(false);
    expect(outage.wait(1_900)).toBe(0);
    // Since the rejection that showed it was sent.
    expect(ended).toEqual([{ lastedMs: 1_050, at: 1_150 }]);
    outage.accepted(10, 2_000);
    expect(ended).toHaveLength(1);
  });

  it('does not end with an answer to what was sent before', () => {
    const { outage, sent, out } = rig();
    const early = sent(0);
    out();
    outage.accepted(early, 200);
    expect(outage.isOn).toBe(true);
  });

  it('takes a probe on which nothing comes for accepted, after a quarter of a second', () => {
    const { outage, ended, out, sent } = rig();
    out();
    sent(1_150);
    expect(outage.wait(1_150)).toBe(250);
    expect(outage.wait(1_399)).toBe(1);
    expect(outage.wait(1_400)).toBe(0);
    expect(ended).toEqual([{ lastedMs: 1_050, at: 1_150 }]);
  });

  it('waits four times as long as rejections take', () => {
    const { outage, sent, ended } = rig();
    for (let n = 0; n < 100; n += 1) {
      const at = n * 2_000;
      outage.rejected({ order: sent(at), at }, n > 0, n + 1, at + 1_000, false);
    }
    sent(300_000);
    expect(outage.wait(300_000)).toBeCloseTo(4_000, -1);
    expect(ended).toEqual([]);
  });

  it('waits no longer than half a minute, whatever a rejection took', () => {
    const { outage, sent } = rig();
    for (let n = 0; n < 3; n += 1) {
      const at = n * 4_000_000;
      outage.rejected({ order: sent(at), at }, n > 0, n + 1, at + 3_600_000, false);
    }
    sent(20_000_000);
    expect(outage.wait(20_000_000)).toBe(30_000);
  });

  it('goes on when what was sent before is rejected late', () => {
    const { outage, out, sent, reject } = rig();
    const early = sent(0);
    out();
    expect(outage.wait(150)).toBe(1_000);
    reject(early, 500);
    expect(outage.wait(550)).toBe(600);
  });

  it('lets the next one probe at once where a probe is given up', () => {
    const { outage, out, sent } = rig();
    out();
    const probe = sent(1_150);
    outage.withdrawn(probe - 1, 1_160);
    expect(outage.wait(1_160)).toBe(240);
    outage.withdrawn(probe, 1_170);
    expect(outage.isOn).toBe(true);
    expect(outage.wait(1_170)).toBe(0);
  });
});
