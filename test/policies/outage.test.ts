import { expect, it } from 'vitest';
import { Probes } from '../../src/policies/outage.ts';

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
