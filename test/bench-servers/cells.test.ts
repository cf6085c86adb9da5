import { describe, expect, it } from 'vitest';
import { type Cell, cellOf, ratioOf } from '../../bench/servers/cells.ts';
import type { ClientName } from '../../bench/servers/clients/index.ts';
import { lineOf, ratiosOf } from '../../bench/servers/report.ts';

const run = {
  successes: 300,
  rejected: 12,
  errors: 0,
  ms: 20_000.4,
  isEnded: true,
  ends: { ended: 300, failed: 0, again: 0 },
};

const cell = (ms: number, successes = 300): Cell => cellOf({ ...run, ms, successes }, 300, 10_000);

const row = (...cells: [ClientName, Cell][]) => new Map(cells);

describe('a cell', () => {
  it('says how much longer it took than the ideal', () => {
    expect(cellOf(run, 300, 15_000)).toEqual({ ...run, ms: 20_000, lost: 0, overIdeal: 1.333 });
  });

  it('counts what never succeeded', () => {
    expect(cellOf({ ...run, successes: 290 }, 300, 15_000).lost).toBe(10);
  });

  it('has no such figure where the limit holds nothing back', () => {
    expect(cellOf(run, 300, 0).overIdeal).toBeNull();
  });

  it('is a line of progress', () => {
    expect(lineOf('nginx p-limit', cell(1_250))).toBe('nginx p-limit: 300 in 1.3 s, 12 rejected');
    const bad = { ...cell(90_000, 290), errors: 2 };
    expect(lineOf('nginx p-limit', bad)).toBe(
      'nginx p-limit: 290 in 90.0 s, 12 rejected, 10 lost, 2 errors',
    );
  });
});

describe('the ratio to the best', () => {
  it('is that to the fastest client that loses nothing', () => {
    const cells = row(
      ['headgate', cell(30_000)],
      ['p-limit', cell(9_000, 299)],
      ['p-queue', cell(20_000)],
    );
    expect(ratioOf(cells, 'headgate')).toEqual({ best: 'p-queue', ratio: 1.5 });
    expect(ratioOf(cells, 'p-queue')).toEqual({ best: 'p-queue', ratio: 1 });
  });

  it('is none for a client that loses some, or where all do', () => {
    const some = row(['headgate', cell(10_000, 1)], ['p-queue', cell(20_000)]);
    expect(ratioOf(some, 'headgate')).toEqual({ best: 'p-queue', ratio: null });
    expect(ratioOf(row(['headgate', cell(10_000, 1)]), 'headgate')).toBeUndefined();
  });

  it('is told of each of headgate’s clients that ran', () => {
    const cells = row(
      ['headgate', cell(30_000)],
      ['headgate-known', cell(24_000)],
      ['p-queue', cell(20_000)],
    );
    expect(ratiosOf(new Map([['haproxy', cells]]))).toEqual([
      { server: 'haproxy', client: 'headgate', best: 'p-queue', ratio: 1.5 },
      { server: 'haproxy', client: 'headgate-known', best: 'p-queue', ratio: 1.2 },
    ]);
  });
});
