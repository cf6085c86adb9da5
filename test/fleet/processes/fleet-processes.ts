import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, type TestContext } from 'vitest';
import type { LimiterOptions } from '../../../src/index.ts';
import type { RedisStoreOptions } from '../../../src/redis/index.ts';

/** The settings of a worker. */
export interface WorkerSettings {
  readonly kind: 'node-redis' | 'ioredis';
  /** The port of Redis, or of a proxy in front of it. */
  readonly port: number;
  readonly password?: string;
  readonly offlineQueue?: boolean;
  /** The port of the provider. */
  readonly serverPort: number;
  /** The number of requests that wait or are in flight at any time. */
  readonly lanes: number;
  readonly store: RedisStoreOptions;
  readonly limits: LimiterOptions;
  /** Whether the worker sends its own time to the store. Only with node-redis. */
  readonly hasClock?: boolean;
}

/** How a worker ended. */
interface Report {
  readonly begun: number;
  readonly ended: number;
  readonly failed: number;
  readonly errors: readonly string[];
}

/** A line of a worker. */
interface Fact {
  readonly ready?: boolean;
  readonly event?: string;
  readonly awayMs?: number;
  readonly warning?: string;
  readonly unhandled?: string;
  readonly report?: Report;
}

const PROGRAM = new URL('./worker.mjs', import.meta.url);
/** Real time passes: what must happen does so in this time, on the busiest machine. */
const SOON_MS = 60_000;

let copied: string | undefined;

/**
 * The program, where it finds the package. Each test file has one copy of its own, made once: a
 * process that starts while the file is written anew would read an empty one.
 */
function programInPackage(): string {
  if (copied === undefined) {
    const folder = join(inject('packageFolder'), `fleet-${process.pid}`);
    mkdirSync(folder);
    copied = join(folder, 'worker.mjs');
    copyFileSync(PROGRAM, copied);
  }
  return copied;
}

/** A process that is a worker of a fleet. */
export class FleetProcess {
  readonly name: string;
  readonly process: ChildProcess;
  readonly facts: Fact[] = [];
  /** When it last reached its store again. */
  backAt: number | undefined = undefined;

  private constructor(name: string, program: string, settings: WorkerSettings) {
    this.name = name;
    this.process = spawn(
      process.execPath,
      ['--no-warnings', program, JSON.stringify({ name, ...settings })],
      {
        stdio: ['pipe', 'pipe', 'inherit'],
      },
    );
    this.process.stdin?.on('error', () => {});
    const lines = createInterface({ input: this.process.stdout as NodeJS.ReadableStream });
    lines.on('line', (line) => {
      const fact: Fact = JSON.parse(line);
      if (fact.event === 'storeBack') this.backAt = Date.now();
      this.facts.push(fact);
    });
  }

  /** It is killed with the test, if it is still there. */
  static async start(test: TestContext, name: string, settings: WorkerSettings) {
    const worker = new FleetProcess(name, programInPackage(), settings);
    test.onTestFinished(() => void worker.process.kill('SIGKILL'));
    const isThere = () => worker.facts.some(({ ready }) => ready);
    await until(() => isThere() || worker.process.exitCode !== null, `${name} is ready`);
    if (!isThere()) throw new Error(`${name} could not begin`);
    return worker;
  }

  count(event: string): number {
    return this.facts.filter((fact) => fact.event === event).length;
  }

  get warnings(): readonly string[] {
    return this.facts.flatMap(({ warning }) => warning ?? []);
  }

  tell(what: { skipMs?: number; stop?: true; finish?: true; configure?: LimiterOptions }): void {
    this.process.stdin?.write(`${JSON.stringify(what)}\n`);
  }

  signal(signal: NodeJS.Signals): void {
    this.process.kill(signal);
  }

  async kill(): Promise<void> {
    const end = once(this.process, 'exit');
    this.signal('SIGKILL');
    await end;
  }

  /**
   * Ends the worker as its user would. Checks that every request has ended once and nothing keeps
   * it alive.
   */
  async finish(): Promise<Report> {
    this.tell({ finish: true });
    await until(() => this.process.exitCode !== null, `${this.name} has ended`);
    expect(this.process.exitCode).toBe(0);
    const report = this.facts.at(-1)?.report;
    expect(report).toBeDefined();
    expect(this.facts.filter(({ unhandled }) => unhandled !== undefined)).toEqual([]);
    return report as Report;
  }
}

/** Waits for a condition that must become true. */
export async function until(isSo: () => boolean, what: string): Promise<void> {
  for (const giveUpAt = Date.now() + SOON_MS; !isSo(); await sleep(5)) {
    if (Date.now() < giveUpAt) continue;
    throw new Error(`not within ${SOON_MS} ms: ${what}`);
  }
}

/** How long it takes until something is so, in ms. */
export async function timeUntil(isSo: () => boolean, what: string): Promise<number> {
  const from = performance.now();
  await until(isSo, what);
  return Math.round(performance.now() - from);
}
