/**
 * What an inspector costs: a saturated pipeline of no-op tasks, alone and with 20 pages open, one of
 * which never reads, in pairs whose order alternates. `npm run bench:inspector`; the goal is at
 * least 0.97 of the throughput. Then the part of one core that it takes at 10,000 requests a
 * second, of which the goal is at most 1 %.
 *
 * Where the system tells the time that the main thread ran (Linux), that is compared too: unlike
 * throughput it does not depend on what else the machine does.
 */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { throttle } from 'headgate';
import { startInspector } from 'headgate/inspector';
import { concatMap, interval, lastValueFrom, range, take } from 'rxjs';

const PAGES = 20;
const REQUESTS = 1_500_000;
const ROUNDS = Number(process.env.ROUNDS ?? 15);
const GOAL = 0.97;

/** One task in so many takes a turn of the event loop: else the inspector would never run. */
const TURN_EVERY = 1_000;

const SLOW_PER_SECOND = 10_000;
const SLOW_SECONDS = 8;
const CORE_GOAL = 0.01;

/** Milliseconds that the main thread has run; else those of the clock. */
function threadMs(): number {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return performance.now();
  }
}

interface Cost {
  /** Milliseconds of the clock, and of the main thread. */
  readonly wallMs: number;
  readonly threadMs: number;
}

async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const startedAt = performance.now();
  const ranAt = threadMs();
  await work();
  return { wallMs: performance.now() - startedAt, threadMs: threadMs() - ranAt };
}

function noOp(value: number): Promise<number> {
  if (value % TURN_EVERY !== 0) return Promise.resolve(value);
  return new Promise((resolve) => setImmediate(resolve, value));
}

/** As many requests as there can be. */
function saturated(): Promise<unknown> {
  return lastValueFrom(range(0, REQUESTS).pipe(throttle(noOp, { concurrency: 100 })));
}

/** 10,000 requests a second. */
function slow(): Promise<unknown> {
  const perTick = SLOW_PER_SECOND / 100;
  const ticks = interval(10).pipe(
    take(SLOW_SECONDS * 100),
    concatMap(() => range(1, perTick)),
  );
  return lastValueFrom(ticks.pipe(throttle(noOp, { concurrency: 1_000 })));
}

/** The pages are in a process of their own, as browsers are. */
async function read(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const deaf = connect(Number(port), hostname).pause();
  deaf.write(`GET /events HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`);
  for (let page = 1; page < PAGES; page += 1) {
    const [response] = (await once(get(`${url}/events`), 'response')) as [IncomingMessage];
    response.resume();
  }
  process.send?.('open');
}

async function inspected(work: () => Promise<unknown>): Promise<Cost> {
  const inspector = await startInspector({ port: 0 });
  const pages = fork(fileURLToPath(import.meta.url), [inspector.url]);
  await once(pages, 'message');
  const cost = await costOf(work);
  pages.kill();
  await inspector.close();
  return cost;
}

/** Both ways, one after the other; which is first alternates. */
async function pair(round: number, work: () => Promise<unknown>): Promise<[Cost, Cost]> {
  if (round % 2 === 0) return [await costOf(work), await inspected(work)];
  const second = await inspected(work);
  return [await costOf(work), second];
}

/** The median, with the quartiles around it. */
function spread(values: readonly number[], digits: number): string {
  const [low, middle, high] = [0.25, 0.5, 0.75].map((q) => quantile(values, q).toFixed(digits));
  return `${middle} (quartiles ${low} to ${high})`;
}

function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.round((sorted.length - 1) * q)] ?? Number.NaN;
}

async function measure(): Promise<void> {
  await saturated();
  const throughput: number[] = [];
  const thread: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const [alone, watched] = await pair(round, saturated);
    throughput.push(alone.wallMs / watched.wallMs);
    thread.push(alone.threadMs / watched.threadMs);
    const perSecond = [alone, watched].map(({ wallMs }) => Math.round((REQUESTS / wallMs) * 1_000));
    console.log(`${perSecond[0]} alone, ${perSecond[1]} inspected, requests/s`);
  }
  const heap = Math.round(process.memoryUsage().heapUsed / 2 ** 20);
  console.log(`with ${PAGES} pages, goal ${GOAL}; heap ${heap} MiB`);
  console.log(`  throughput:                 ${spread(throughput, 3)}`);
  console.log(`  work of the main thread:    ${spread(thread, 3)}`);
  const cores: number[] = [];
  for (let round = 0; round < Math.ceil(ROUNDS / 3); round += 1) {
    const [alone, watched] = await pair(round, slow);
    cores.push((watched.threadMs - alone.threadMs) / watched.wallMs);
  }
  console.log(
    `at ${SLOW_PER_SECOND} requests/s, goal ${CORE_GOAL}: ${spread(cores, 4)} of a core more`,
  );
  if (quantile(thread, 0.5) < GOAL || quantile(cores, 0.5) > CORE_GOAL) process.exitCode = 1;
}

const [url] = process.argv.slice(2);
await (url === undefined ? measure() : read(url));
