import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readOptions } from '../../bench/goodput/options.ts';

const names = (args: string[]) => readOptions(args).scenarios.map(({ name }) => name);

describe('the command line', () => {
  it('runs everything with seeds that nothing was tuned with', () => {
    const { seeds, kind, clients } = readOptions([]);
    expect(seeds).toEqual([101, 102, 103]);
    expect(kind).toBe('goodput');
    expect(clients).toContain('omniscient');
    expect(clients).not.toContain('bottleneck-bucket');
  });

  it('chooses scenarios and clients by name', () => {
    expect(names(['--scenario', 'sw*,tb'])).toEqual(['sw', 'swCnt', 'tb']);
    const { clients } = readOptions(['--client', 'headgate-u*,omniscient']);
    expect(clients).toEqual(['headgate-unknown', 'omniscient']);
  });

  it('takes the families of providers with --finish', () => {
    expect(names(['--finish'])).toEqual(['openai', 'anthropic', 'tinker']);
    expect(readOptions(['--finish']).clients).toContain('bottleneck-bucket');
  });

  it('shortens runs', () => {
    const [scenario] = readOptions(['--scenario', 'tb', '--seconds', '7']).scenarios;
    expect(scenario?.seconds).toBe(7);
  });

  it('reads scenarios from files', () => {
    const folder = mkdtempSync(join(tmpdir(), 'headgate-'));
    const path = join(folder, 'mine.json');
    try {
      writeFileSync(
        path,
        '{"name": "mine", "about": "", "provider": {"concurrency": {"units": 2}}}',
      );
      expect(names(['--scenario', `tb,${path}`])).toEqual(['tb', 'mine']);
      writeFileSync(path, '{"name": "mine", "about": ""}');
      expect(() => names(['--scenario', path])).toThrow(`${path}: \`provider\` must be an object`);
    } finally {
      rmSync(folder, { recursive: true });
    }
    expect(() => names(['--scenario', path])).toThrow(`${path}: cannot be read`);
  });

  it.each([
    [['--scenario', 'nope'], '--scenario takes any of tb, q1s'],
    [['--client', 'nope'], '--client takes any of headgate-unknown'],
    [['--seed', '1,x'], '--seed must be an integer >= 0, got "x"'],
    [['--seconds', '0'], '--seconds must be an integer >= 1, got "0"'],
    [['--threads', '-1'], '--threads'],
    [['--chart', 'a.png'], '--chart must be a file that ends in .svg, got "a.png"'],
    [['--nope'], '--nope'],
  ])('%j is refused', (args, reason) => {
    expect(() => readOptions(args)).toThrow(reason);
  });
});
