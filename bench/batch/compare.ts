/**
 * Runs one file of prompts against nginx, which takes 20 requests a second, and prints the time, what
 * was lost and the 429s: `node build/bench/batch/compare.js [lines]`.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type BatchClient, cookbookRules, headgate, pLimitAndSdk } from './clients.ts';
import { hasNginx, startNginx } from './nginx.ts';

const PER_SECOND = 20;
const BURST = 10;
const CALL_MS = 50;

const CLIENTS: Readonly<Record<string, BatchClient>> = {
  headgate,
  'cookbook rules, told the limit': cookbookRules,
  'p-limit(50) + SDK retries': pLimitAndSdk,
};

const lines = Number(process.argv[2] ?? 100);
const prompts = Array.from({ length: lines }, (_, index) => `prompt ${index}`);
const ideal = (lines - BURST) / PER_SECOND;

async function measure(name: string, client: BatchClient): Promise<void> {
  let accepted = 0;
  const backend = createServer((request, response) => {
    accepted += 1;
    request.resume();
    setTimeout(() => {
      response.setHeader('content-type', 'application/json');
      response.end('{"choices":[{"message":{"role":"assistant","content":"yes"}}]}');
    }, CALL_MS);
  });
  await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve));
  const { port } = backend.address() as AddressInfo;
  const nginx = await startNginx(port, PER_SECOND, BURST);
  try {
    const startedAt = performance.now();
    const answered = await client(nginx.url, prompts);
    const seconds = (performance.now() - startedAt) / 1_000;
    const rejected = (await nginx.requests()) - accepted;
    console.log(
      `${name.padEnd(32)} ${seconds.toFixed(1).padStart(6)} s  ` +
        `${(seconds / ideal).toFixed(2)} of the ideal  ${String(lines - answered).padStart(4)} lost  ` +
        `${String(rejected).padStart(5)} x 429`,
    );
  } finally {
    await nginx.close();
    backend.close();
    backend.closeAllConnections();
  }
}

if (hasNginx) {
  console.log(`${lines} prompts, nginx: ${PER_SECOND} requests/s, burst ${BURST}`);
  for (const [name, client] of Object.entries(CLIENTS)) await measure(name, client);
} else console.log('nginx is not on this machine: apt-get install nginx-light');
