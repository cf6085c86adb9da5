import { describe, expect, it } from 'vitest';
import { Outage, Probes } from '../../src/policies/outage.ts';

it('lets another probe go as soon as the one in flight has ended', () => {
  const probes = new Probes();
  expect([probes.isOut, probes.nextAt(false)]).toEqual([false, Number.NEGATIVE_INFINITY]);
  const first = probes.send(100);
  expect([probes.isOut, probes.nextAt(false)]).toEqual([true, Number.POSITIVE_INFINITY]);
  expect(probes.ended(first)).toBe(true);
  expect(probes.isOut).toBe(false);
});

it('waits for a silent probe in an outage 10 s, and for each further one twice as long', () => {
  const probes = new Probes();
  probes.send(0);
  expect(probes.nextAt(true)).toBe(10_000);
  probes.send(10_000);
  expect(probes.nextAt(true)).toBe(30_000);
  probes.forget();
  probes.send(50_000);
  expect(probes.nextAt(true)).toBe(60_000);
});

it('takes no notice of the end of a probe that was given up', () => {
  const probes = new Probes();
  const silent = probes.send(0);
  probes.send(10_000);
  expect(probes.ended(silent)).toBe(false);
  expect(probes.isOut).toBe(true);
});

/** @returns the outage after its third failed connection, at this time */
function begun(at: number, outage = new Outage(60_000)): Outage {
  expect([outage.failed(at), outage.failed(at), outage.failed(at)]).toEqual([false, false, true]);
  return outage;
}

it('probes after 500 ms, and after each failed probe twice as late, up to 8 s', () => {
  const outage = begun(1_000);
  expect(outage.probeAt).toBe(1_500);
  // Attempts that were sent before fail late.
  outage.failed(1_400);
  expect([outage.failedProbes, outage.probeAt]).toEqual([0, 1_500]);
  const gaps = Array.from({ length: 6 }, () => {
    const { probeAt } = outage;
    outage.failed(probeAt);
    return outage.probeAt - probeAt;
  });
  expect(gaps).toEqual([1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
});

it('leaves nothing to the next outage when an answer ends it', () => {
  const outage = begun(1_000);
  outage.refused(3);
  outage.failed(1_500);
  expect([outage.answered(2), outage.isOn, outage.isRefused]).toEqual([false, true, true]);
  expect([outage.answered(3), outage.isOn, outage.isRefused]).toEqual([true, false, false]);
  expect([outage.isDoubted, outage.probeAt]).toEqual([false, Number.NEGATIVE_INFINITY]);
  begun(5_000, outage);
  expect(outage.snapshot(6_000)).toEqual({ sinceMs: 1_000, leftMs: 59_000, failedProbes: 0 });
  // Connections were reset, not refused: any answer ends it.
  expect(outage.answered(0)).toBe(true);
});

it('lets requests wait anew if it ended more than 8 s ago, and nothing was sent since', () => {
  const outage = begun(0);
  expect(outage.leftMs(59_000)).toBe(1_000);
  expect(outage.leftMs(68_000)).toBe(-8_000);
  outage.failed(68_000);
  expect(outage.leftMs(76_000)).toBe(-16_000);
  expect(outage.leftMs(76_001)).toBe(60_000);
});

describe('connections that a server closes to reject requests', () => {
  /** An outage of resets, which an answer to an attempt of this epoch ends. */
  function resets(outage: Outage, at: number, { failedProbes = 0, answered = 1 } = {}): void {
    begun(at, outage);
    outage.began(1);
    for (let n = 0; n < failedProbes; n += 1) outage.failed(outage.probeAt);
    outage.answered(answered);
  }

  it('are known after two outages that the first probe has ended', () => {
    const outage = new Outage(60_000);
    resets(outage, 0);
    expect(outage.rejected(1_000)).toBe(false);
    resets(outage, 1_000);
    expect(outage.rejected(2_000)).toBe(true);
  });

  it('are known after two outages that an answer to an attempt from before has ended', () => {
    const outage = new Outage(60_000);
    for (const at of [0, 5_000]) resets(outage, at, { failedProbes: 2, answered: 0 });
    expect(outage.rejected(8_000)).toBe(true);
  });

  it('are not assumed after outages in which probes failed, or a connection was refused', () => {
    const outage = new Outage(60_000);
    for (const at of [0, 5_000, 10_000]) resets(outage, at, { failedProbes: 1 });
    expect(outage.rejected(15_000)).toBe(false);
    const closed = new Outage(60_000);
    for (const at of [0, 1_000]) resets(closed, at);
    closed.refused(2);
    expect(closed.rejected(2_000)).toBe(false);
  });

  it('are forgotten after a minute without one, or without an answer', () => {
    const quietUntil = (now: number) => {
      const quiet = new Outage(60_000);
      for (const at of [0, 1_000]) resets(quiet, at);
      return quiet.rejected(now);
    };
    expect([quietUntil(61_000), quietUntil(61_001)]).toEqual([true, false]);
    const silent = new Outage(60_000);
    for (const at of [0, 1_000]) resets(silent, at);
    for (let at = 2_000; at <= 52_000; at += 10_000) expect(silent.rejected(at)).toBe(true);
    expect([silent.rejected(62_000), silent.rejected(62_001)]).toEqual([true, false]);
  });
});
