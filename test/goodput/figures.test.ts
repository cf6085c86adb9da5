import { describe, expect, it } from 'vitest';
import { cellsOf, failuresOf } from '../../bench/goodput/cells.ts';
import { dominated } from '../../bench/goodput/dominated.ts';
import { finishesOf, ratiosOf } from '../../bench/goodput/finish.ts';
import type { Answer, Job } from '../../bench/goodput/job.ts';
import { readOptions } from '../../bench/goodput/options.ts';
import { markdown } from '../../bench/goodput/report.ts';
import { complete } from '../../bench/goodput/scenario.ts';
import { chart } from '../../bench/goodput/svg.ts';

const scenario = complete({ name: 'one', about: '', provider: { concurrency: { units: 1 } } });
const job = (client: Job['client'], seed: number, kind: Job['kind'] = 'goodput'): Job => ({
  scenario,
  client,
  seed,
  kind,
});
const run = { goodput: 90, successes: 100, rejected: 1, lost: 0, waitP50Ms: 10, waitP99Ms: 20 };
const ok = (changes: Partial<typeof run> = {}): Answer => ({
  status: 'ok',
  kind: 'goodput',
  run: { ...run, ...changes },
});

describe('cells', () => {
  it('are means over the seeds, and count rejections over all', () => {
    const jobs = [job('omniscient', 1), job('omniscient', 2)];
    const answers = [ok(), ok({ goodput: 100, successes: 300, rejected: 7, waitP99Ms: 40 })];
    expect(cellsOf(jobs, answers)).toEqual({
      one: { omniscient: { goodput: 95, rejectedPerMille: 20, waitP50Ms: 10, waitP99Ms: 30 } },
    });
  });

  it('leave out what failed, which is told', () => {
    const jobs = [job('omniscient', 1), job('p-limit', 1)];
    const answers: Answer[] = [ok(), { status: 'failed', reason: 'no' }];
    expect(Object.keys(cellsOf(jobs, answers).one ?? {})).toEqual(['omniscient']);
    expect(failuresOf(jobs, answers)).toEqual({ 'one p-limit 1': 'no' });
  });
});

describe('dominated', () => {
  const cell = (goodput: number, rejectedPerMille: number) => ({
    goodput,
    rejectedPerMille,
    waitP50Ms: 0,
    waitP99Ms: 0,
  });

  it('finds peers that are better in both figures, and says who was told more', () => {
    const cells = {
      one: {
        'headgate-unknown': cell(97, 5),
        'fixed-50': cell(98, 4),
        'p-queue': cell(99, 0),
        'p-limit': cell(99, 6),
        cockatiel: cell(96, 1),
        omniscient: cell(100, 0),
      },
    };
    expect(dominated(cells)).toEqual([
      {
        scenario: 'one',
        client: 'headgate-unknown',
        by: 'fixed-50',
        moreGoodput: 1,
        lessRejected: 1,
        toldMore: false,
      },
      {
        scenario: 'one',
        client: 'headgate-unknown',
        by: 'p-queue',
        moreGoodput: 2,
        lessRejected: 5,
        toldMore: true,
      },
    ]);
  });

  it('takes a tie for no defeat', () => {
    const cells = { one: { 'headgate-known': cell(97, 5), 'p-queue': cell(97, 0) } };
    expect(dominated(cells)).toEqual([]);
  });
});

describe('finishing', () => {
  const finish = (finishedMs: number | undefined): Answer => ({
    status: 'ok',
    kind: 'finish',
    run: { finishedMs, successes: 10, rejected: 1 },
  });

  it('compares throttle() without options with the fastest peer', () => {
    const names = [
      'headgate-headers',
      'headgate-known',
      'p-queue',
      'p-limit',
      'omniscient',
    ] as const;
    const jobs = names.map((name) => job(name, 1, 'finish'));
    const finishes = finishesOf(jobs, [110, 50, 100, 120, 40].map(finish));
    expect(finishes.one?.['p-queue']).toEqual({ finishedMs: 100, rejectedPerMille: 100 });
    expect(ratiosOf(finishes)).toEqual([{ family: 'one', best: 'p-queue', ratio: 1.1 }]);
  });

  it('has no ratio for what did not finish', () => {
    const jobs = [job('headgate-headers', 1, 'finish'), job('p-queue', 1, 'finish')];
    const finishes = finishesOf(jobs, [finish(undefined), finish(100)]);
    expect(finishes.one?.['headgate-headers']?.finishedMs).toBeNull();
    expect(ratiosOf(finishes)).toEqual([]);
  });
});

describe('the table of the documentation', () => {
  it('has goodput and rejections in each cell, and a dash where there is none', () => {
    const options = { ...readOptions(['--client', 'omniscient,p-limit']), scenarios: [scenario] };
    const cells = cellsOf([job('omniscient', 1)], [ok({ goodput: 99.96, rejected: 12 })]);
    expect(markdown(options, cells)).toBe(
      '| client | one |\n| --- | --- |\n| p-limit | - |\n| omniscient | 100.0/120 |',
    );
  });
});

describe('the chart', () => {
  const cells = cellsOf([job('omniscient', 1)], [ok({ goodput: 50, rejected: 100 })]);
  const svg = chart(['one', 'two'], ['omniscient', 'p-limit'], cells);

  it('has a bar as long as the goodput, in the colour of the rejections', () => {
    expect(svg).toContain('width="33.0" height="36" rx="4" fill="#f0a868"');
    expect(svg).toContain('>50.0</text>');
    expect(svg).toContain('>1,000</text>');
  });

  it('is well-formed, and leaves empty what is missing', () => {
    expect(svg.match(/<text /g)).toHaveLength(svg.match(/<\/text>/g)?.length ?? 0);
    expect(svg).not.toMatch(/undefined|NaN/);
  });
});
