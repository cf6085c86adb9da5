import { describe, expect, it } from 'vitest';
import { generatedClientNames } from '../../../bench/goodput/generated/clients/index.ts';
import { readGenerated } from '../../../bench/goodput/generated/options.ts';
import { readOptions } from '../../../bench/goodput/options.ts';

describe('the command line of generated providers', () => {
  it('runs consecutive seeds with headgate alone', () => {
    expect(readGenerated(['--generated', '3', '--seed', '40'])).toMatchObject({
      kind: 'space',
      seeds: [40, 41, 42],
      clients: ['headgate'],
      concurrency: 2_000,
      json: false,
    });
  });

  it('runs all clients, or some', () => {
    const clients = (text: string) => readGenerated(['--generated', '1', '--client', text]);
    expect(clients('all')).toMatchObject({ clients: generatedClientNames });
    expect(clients('known,aimd')).toMatchObject({ clients: ['aimd', 'known'] });
  });

  it('shows one run where the scenario is a number', () => {
    const args = ['--scenario', '17', '--trace', '--svg', 'a.svg', '--client', 'aimd'];
    expect(readGenerated(args)).toMatchObject({
      kind: 'trace',
      seed: 17,
      client: 'aimd',
      trace: true,
      svg: 'a.svg',
    });
    expect(readGenerated(['--scenario', '17'])).toMatchObject({ trace: false, svg: undefined });
  });

  it('lets both processes stall', () => {
    expect(readGenerated(['--generated', '1', '--stalls', '80/10'])).toMatchObject({
      stalls: { stalledMs: 80, runningMs: 10 },
    });
    expect(readGenerated(['--scenario', '7'])).toMatchObject({ stalls: undefined });
  });

  it('leaves all else to the named scenarios', () => {
    expect(readGenerated([])).toBeUndefined();
    expect(readGenerated(['--scenario', 'tb,sw'])).toBeUndefined();
  });

  it.each([
    [['--generated', '0'], '--generated must be an integer >= 1, got "0"'],
    [['--generated', '2', '--seed', '1,2'], '--seed must be an integer >= 0, got "1,2"'],
    [['--generated', '2', '--concurrency', '0'], '--concurrency must be an integer >= 1, got "0"'],
    [
      ['--scenario', '7', '--stalls', '80'],
      '--stalls must be two integers >= 1 such as 50/50, got',
    ],
    [['--scenario', '7', '--stalls', '0/9'], '--stalls must be two integers >= 1 such as 50/50'],
    [
      ['--scenario', '7', '--stalls', '8/9', '--client', 'p-limit'],
      '--stalls needs clients that are given a clock, got --client "p-limit"',
    ],
    [['--generated', '2', '--client', 'no'], '--client takes any of headgate, headgate-known'],
    [['--generated', '2', '--trace'], '--trace goes with --scenario SEED alone, got "true"'],
    [['--generated', '2', '--seconds', '9'], '--seconds goes with the named scenarios alone'],
    [['--scenario', '7', '--client', 'all'], '--client must be one client with --scenario SEED'],
    [['--scenario', '7', '--svg', 'a.png'], '--svg must be a file that ends in .svg, got "a.png"'],
    [['--scenario', '7', '--seed', '2'], '--seed goes with --generated or the named scenarios'],
  ])('refuses %j', (args, reason) => {
    expect(() => readGenerated(args)).toThrow(reason);
  });

  it.each([
    [['--scenario', 'tb', '--trace'], '--trace goes with --scenario SEED alone'],
    [['--stalls', '5/5'], '--stalls goes with --generated or --scenario SEED alone'],
    [['--concurrency', '5'], '--concurrency goes with --generated or --scenario SEED alone'],
  ])('refuses %j with the named scenarios', (args, reason) => {
    expect(() => readOptions(args)).toThrow(reason);
  });
});
