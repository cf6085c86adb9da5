/**
 * What an inspector costs: a saturated pipeline of no-op tasks, alone and with 20 pages open, one of
 * which never reads. `npm run bench:inspector`; the goal is a throughput of at least 0.97.
 */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { throttle } from 'headgate';
import { startInspector } from 'headgate/inspector';
import { lastValueFrom, range } from 'rxjs';

const PAGES = 20;
const REQUESTS = 400_000;
const ROUNDS = 9;
const GOAL = 0.97;

async function requestsPerSecond(): Promise<number> {
  const startedAt = performance.now();
  const sent = range(0, REQUESTS).pipe(throttle(async (value) => value, { concurrency: 100 }));
  await lastValueFrom(sent);
  return (REQUESTS / (performance.now() - startedAt)) * 1_000;
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

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

async function measure(): Promise<void> {
  await requestsPerSecond();
  const ratios: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = await requestsPerSecond();
    const inspector = await startInspector({ port: 0 });
    const pages = fork(fileURLToPath(import.meta.url), [inspector.url]);
    await once(pages, 'message');
    const inspected = await requestsPerSecond();
    pages.kill();
    await inspector.close();
    const after = await requestsPerSecond();
    ratios.push(inspected / ((before + after) / 2));
    console.log(
      `${Math.round(before)} alone, ${Math.round(inspected)} inspected, ${Math.round(after)} alone, requests/s`,
    );
  }
  const ratio = median(ratios);
  const heap = Math.round(process.memoryUsage().heapUsed / 2 ** 20);
  console.log(`with ${PAGES} pages: ${ratio.toFixed(3)} (goal: ${GOAL}), heap ${heap} MiB`);
  if (ratio < GOAL) process.exitCode = 1;
}

const [url] = process.argv.slice(2);
await (url === undefined ? measure() : read(url));
