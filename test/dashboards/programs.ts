import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../../bench/servers/free-port.ts';
import { findProgram } from '../../bench/servers/program.ts';

const START_MS = 60_000;

/** How each says its version, and whether CI has it. */
const PROGRAMS = {
  promtool: { version: '--version', isInCi: true },
  prometheus: { version: '--version', isInCi: true },
  chromium: { version: '--version', isInCi: true },
  jaeger: { version: 'version', isInCi: false },
  nginx: { version: '-v', isInCi: true },
  haproxy: { version: '-v', isInCi: true },
  'redis-server': { version: '--version', isInCi: true },
} as const;

/**
 * Whether a program can be run. If it is required (in CI), its tests run in any case, and fail.
 * Otherwise a line says which tests are skipped.
 */
export function canRun(program: keyof typeof PROGRAMS): boolean {
  const { version, isInCi } = PROGRAMS[program];
  try {
    execFileSync(findProgram(program) ?? program, [version], { stdio: 'ignore' });
    return true;
  } catch {
    if (isInCi && process.env.CI === 'true') return true;
    tellOnce(`${program} is not on the PATH: what needs it is left out`);
    return false;
  }
}

/** The configuration of tests, which asks too, is read once for each project. */
function tellOnce(line: string): void {
  const { TOLD_MISSING: told = '' } = process.env;
  if (told.includes(line)) return;
  process.env.TOLD_MISSING = `${told}${line}\n`;
  console.warn(line);
}

/** Runs promtool. @returns what it printed; rejects with that if it found something wrong */
export async function promtool(...args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)('promtool', args);
  return stdout + stderr;
}

/** Runs promtool with a text as its input. @returns its output, also after a failure */
export async function promtoolReading(text: string, ...args: readonly string[]): Promise<string> {
  const child = spawn('promtool', args, { stdio: 'pipe' });
  const printed: Buffer[] = [];
  child.stdout.on('data', (data: Buffer) => printed.push(data));
  child.stderr.on('data', (data: Buffer) => printed.push(data));
  child.stdin.end(text);
  await once(child, 'close');
  return Buffer.concat(printed).toString();
}

/** One series and its value at this moment. */
export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [time: number, value: string];
}

/** One series over time. */
export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [time: number, value: string])[];
}

export interface Prometheus {
  /** The values between two times in seconds, `step` seconds apart. */
  range(expression: string, from: number, to: number, step: number): Promise<readonly Series[]>;
  query(expression: string): Promise<readonly Sample[]>;
  /** The series that a selector matches, by their labels. */
  series(selector: string): Promise<readonly Readonly<Record<string, string>>[]>;
  stop(): Promise<void>;
}

/** Starts a private Prometheus, with its data in a temporary folder. */
export async function startPrometheus(config: string): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'headgate-prometheus-'));
  const file = join(folder, 'prometheus.yml');
  await writeFile(file, config);
  const address = `127.0.0.1:${await freePort()}`;
  const child = spawn(
    'prometheus',
    [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=${address}`,
    ],
    { stdio: 'ignore' },
  );
  const stop = async () => {
    await ended(child);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await once(child, 'spawn');
    await answering(`http://${address}/-/ready`, child);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    query: async (query) => {
      const { result } = await ask<{ result: Sample[] }>(address, 'query', { query });
      return result;
    },
    range: async (query, from, to, step) => {
      const fields = { query, start: `${from}`, end: `${to}`, step: `${step}` };
      const { result } = await ask<{ result: Series[] }>(address, 'query_range', fields);
      return result;
    },
    series: (selector) => ask(address, 'series', { 'match[]': selector }),
    stop,
  };
}

async function ask<T>(address: string, path: string, fields: Record<string, string>): Promise<T> {
  const body = new URLSearchParams(fields);
  const response = await fetch(`http://${address}/api/v1/${path}`, { method: 'POST', body });
  const answer = (await response.json()) as { data: T; error?: string };
  if (!response.ok) throw new Error(`${answer.error}: ${Object.values(fields).join(' ')}`);
  return answer.data;
}

/** Waits until a program that was started answers at an address. */
export async function answering(url: string, child: ChildProcess): Promise<void> {
  const giveUpAt = Date.now() + START_MS;
  while (Date.now() < giveUpAt) {
    if (child.exitCode !== null) throw new Error(`${child.spawnfile} ended with ${child.exitCode}`);
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok) return;
    await sleep(100);
  }
  throw new Error(`${child.spawnfile} was not ready after ${START_MS} ms`);
}

/** Ends a started program, and kills it if it does not end. */
export async function ended(child: ChildProcess): Promise<void> {
  const hasEnded = child.exitCode !== null || child.signalCode !== null;
  if (child.pid === undefined || hasEnded) return;
  const end = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), START_MS);
  await end;
  clearTimeout(timer);
}
