/** The options of the command line. */
import { parseArgs } from 'node:util';
import { choose, readInteger } from '../arguments.ts';
import { type ClientName, clientNames, isClientName } from './clients/index.ts';
import { isServerName, type ServerName, serverNames } from './kinds/index.ts';

const REQUESTS = 300;

/**
 * Runs at a time. Together they send at most a hundred requests a second, which two cores can do.
 */
const PARALLEL = 6;

/** The delay between starts, so that the initial burst of one run does not delay another. */
const APART_MS = 1_000;

export const USAGE = `usage: npm run bench:servers -- [options]
  --server a,b    servers by name; a * at the end stands for anything
  --client a,b    clients by name; a * at the end stands for anything
  --requests N    default ${REQUESTS}: requests of each client
  --parallel N    default ${PARALLEL}: runs at a time
  --apart N       default ${APART_MS}: between the starts of two runs, in milliseconds
  --cold          runs all clients in one process, and does not warm them up: for a quick test
  --bound N       by default four times the ideal and a minute: the longest run, in milliseconds
  --peer-bound N  by default as --bound: that of clients that are not headgate's
  --json          prints one object last`;

export interface Options {
  readonly json: boolean;
  readonly servers: readonly ServerName[];
  readonly clients: readonly ClientName[];
  readonly requests: number;
  readonly parallel: number;
  readonly apartMs: number;
  /** Whether clients share a process without warm-up. The figures are then meaningless. */
  readonly isCold: boolean;
  /** The time limit of headgate's clients; Infinity: the default of each run. */
  readonly boundMs: number;
  /** The time limit of other clients. */
  readonly peerBoundMs: number;
}

/** @throws UsageError; TypeError of `parseArgs` */
export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: 'boolean', default: false },
      server: { type: 'string', default: '*' },
      client: { type: 'string', default: '*' },
      requests: { type: 'string', default: `${REQUESTS}` },
      parallel: { type: 'string', default: `${PARALLEL}` },
      apart: { type: 'string', default: `${APART_MS}` },
      cold: { type: 'boolean', default: false },
      bound: { type: 'string' },
      'peer-bound': { type: 'string' },
    },
  });
  const boundMs =
    values.bound === undefined ? Number.POSITIVE_INFINITY : readInteger('--bound', values.bound, 1);
  const peerBound = values['peer-bound'];
  return {
    json: values.json,
    servers: choose('--server', values.server, serverNames).filter(isServerName),
    clients: choose('--client', values.client, clientNames).filter(isClientName),
    requests: readInteger('--requests', values.requests, 1),
    parallel: readInteger('--parallel', values.parallel, 1),
    apartMs: readInteger('--apart', values.apart, 0),
    isCold: values.cold,
    boundMs,
    peerBoundMs: peerBound === undefined ? boundMs : readInteger('--peer-bound', peerBound, 1),
  };
}
