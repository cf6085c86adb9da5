/**
 * Measures the cost of an inspector: `npm run bench:inspector`. First the throughput of a saturated
 * pipeline of no-op tasks, without an inspector and with one that has 20 open pages, of which one
 * never reads. The goal is at least 0.97 of the throughput. Then the inspector's share of one core
 * at 10,000 requests a second. The goal is at most 1 %.
 *
 * Both variants run in one process, in many short pairs of alternating order, so that changes of
 * the machine affect both. On Linux the CPU time of the main thread is compared, which hardly
 * depends on other programs; elsewhere the elapsed time.
 */

import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { throttle } from 'headgate';
import { startInspector } from 'headgate/inspector';
import { concatMap, interval, lastValueFrom, range, take } from 'rxjs';
import { PAGES, Pages } from './pages.js';

const REQUESTS = 500_000;
const ROUNDS = Number(process.env.ROUNDS ?? 40);
/** The first pairs, which are not counted: the code is being compiled. */
const WARM_UP = 4;
const GOAL = 0.97;

/** One of this many tasks takes a turn of the event loop: the inspector could not run otherwise. */
const TURN_EVERY = 1_000;

const SLOW_PER_SECOND = 10_000;
const SLOW_SECONDS = 8;
const SLOW_ROUNDS = Math.ceil(ROUNDS / 8);
const CORE_GOAL = 0.01;

/** The CPU time of the main thread in ms; if the system does not report it, the elapsed time. */
function threadMs(): number {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return performance.now();
  }
}

interface Cost {
  /** Elapsed time, and CPU time of the main thread, in ms. */
  readonly wallMs: number;
  readonly threadMs: number;
}

type Work = () => Promise<unknown>;

async function costOf(work: Work): Promise<Cost> {
  const startedAt = performance.now();
  const ranAt = threadMs();
  await work();
  return { wallMs: performance.now() - startedAt, threadMs: threadMs() - ranAt };
}

function noOp(value: number): Promise<number> {
  if (value % TURN_EVERY !== 0) return Promise.resolve(value);
  return new Promise((resolve) => setImmediate(resolve, value));
}

/** Runs as many requests as possible. */
function saturated(): Promise<unknown> {
  return lastValueFrom(range(0, REQUESTS).pipe(throttle(noOp, { concurrency: 100 })));
}

/** Runs 10,000 requests a second. */
function slow(): Promise<unknown> {
  const perTick = SLOW_PER_SECOND / 100;
  const ticks = interval(10).pipe(
    take(SLOW_SECONDS * 100),
    concatMap(() => range(1, perTick)),
  );
  return lastValueFrom(ticks.pipe(throttle(noOp, { concurrency: 1_000 })));
}

async function inspected(pages: Pages, work: Work): Promise<Cost> {
  const inspector = await startInspector({ port: 0 });
  await pages.open(inspector.url);
  const cost = await costOf(work);
  await pages.close();
  await inspector.close();
  return cost;
}

/** Runs both variants, one after the other, in alternating order. */
async function pair(pages: Pages, round: number, work: Work): Promise<[Cost, Cost]> {
  if (round % 2 === 0) return [await costOf(work), await inspected(pages, work)];
  const second = await inspected(pages, work);
  return [await costOf(work), second];
}

/** The median with both quartiles. */
function spread(values: readonly number[], digits: number): string {
  const [low, middle, high] = [0.25, 0.5, 0.75].map((q) => quantile(values, q).toFixed(digits));
  return `${middle} (quartiles ${low} to ${high})`;
}

function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.round((sorted.length - 1) * q)] ?? Number.NaN;
}

/** CPU time of the main thread for a request, in nanoseconds. */
function nanoseconds(costs: readonly Cost[]): string {
  const each = costs.map((cost) => (cost.threadMs / REQUESTS) * 1e6);
  return quantile(each, 0.5).toFixed(0);
}

/** @returns whether the goal is reached */
async function measureSaturated(pages: Pages): Promise<boolean> {
  const pairs: [Cost, Cost][] = [];
  for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
    const both = await pair(pages, round, saturated);
    if (round >= WARM_UP) pairs.push(both);
  }
  const throughput = pairs.map(([alone, watched]) => alone.wallMs / watched.wallMs);
  const thread = pairs.map(([alone, watched]) => alone.threadMs / watched.threadMs);
  const alone = nanoseconds(pairs.map(([cost]) => cost));
  const watched = nanoseconds(pairs.map(([, cost]) => cost));
  const heap = Math.round(process.memoryUsage().heapUsed / 2 ** 20);
  console.log(`with ${PAGES} pages, ${ROUNDS} pairs, goal ${GOAL}; heap ${heap} MiB`);
  console.log(`  throughput:                 ${spread(throughput, 3)}`);
  console.log(`  work of the main thread:    ${spread(thread, 3)}`);
  console.log(`  ns of it for a request:     ${alone} alone, ${watched} inspected`);
  return quantile(thread, 0.5) >= GOAL;
}

/** @returns whether the goal is reached */
async function measureSlow(pages: Pages): Promise<boolean> {
  const cores: number[] = [];
  for (let round = 0; round < SLOW_ROUNDS; round += 1) {
    const [alone, watched] = await pair(pages, round, slow);
    cores.push((watched.threadMs - alone.threadMs) / watched.wallMs);
  }
  console.log(
    `at ${SLOW_PER_SECOND} requests/s, goal ${CORE_GOAL}: ${spread(cores, 4)} of a core more`,
  );
  return quantile(cores, 0.5) <= CORE_GOAL;
}

const pages = new Pages();
const isFast = await measureSaturated(pages);
const isCheap = await measureSlow(pages);
pages.end();
console.log(`load average of the last minute: ${loadavg()[0]?.toFixed(1)}`);
if (!isFast || !isCheap) process.exitCode = 1;
