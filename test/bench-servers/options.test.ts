import { describe, expect, it } from 'vitest';
import { clientNames } from '../../bench/servers/clients/index.ts';
import { serverNames } from '../../bench/servers/kinds/index.ts';
import { readOptions } from '../../bench/servers/options.ts';

describe('the command line', () => {
  it('runs every client against every server by default', () => {
    expect(readOptions([])).toEqual({
      json: false,
      isCold: false,
      servers: serverNames,
      clients: clientNames,
      requests: 300,
      parallel: 6,
      apartMs: 1_000,
      boundMs: Number.POSITIVE_INFINITY,
      peerBoundMs: Number.POSITIVE_INFINITY,
    });
  });

  it('chooses servers and clients by name, in the order of the table', () => {
    const args = ['--server', 'haproxy,nginx-conn*', '--client', 'p-queue,headgate'];
    const { servers, clients } = readOptions(args);
    expect(servers).toEqual(['nginx-conn', 'nginx-conn-503', 'haproxy']);
    expect(clients).toEqual(['headgate', 'p-queue']);
  });

  it('reads numbers and flags', () => {
    const options = readOptions([
      '--requests',
      '12',
      '--parallel',
      '1',
      '--apart',
      '0',
      '--bound',
      '9',
      '--json',
    ]);
    expect(options).toMatchObject({
      requests: 12,
      parallel: 1,
      apartMs: 0,
      boundMs: 9,
      peerBoundMs: 9,
      json: true,
    });
  });

  it('bounds the runs of peers otherwise where it is told to', () => {
    const { boundMs, peerBoundMs } = readOptions(['--bound', '9', '--peer-bound', '5']);
    expect([boundMs, peerBoundMs]).toEqual([9, 5]);
  });

  it.each([
    [['--server', 'apache'], '--server takes any of nginx-req, nginx-req-burst'],
    [['--client', 'curl'], '--client takes any of headgate, headgate-fetch'],
    [['--requests', '0'], '--requests must be an integer >= 1, got "0"'],
    [['--requests', '1.5'], '--requests must be an integer >= 1, got "1.5"'],
    [['--parallel', 'many'], '--parallel must be an integer >= 1, got "many"'],
    [['--nope'], '--nope'],
  ])('%j is refused', (args, reason) => {
    expect(() => readOptions(args)).toThrow(reason);
  });
});
