/**
 * Runs one file of prompts against servers of other projects. Prints the time, the number of lost
 * prompts and of 429s: `node build/bench/batch/compare.js [lines] [server]`.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type BatchClient, cookbookRules, headgate, pLimitAndSdk } from './clients.ts';
import { LIMITING_SERVERS, type LimitingServer, missing } from './limiters.ts';

const CALL_MS = 50;

const CLIENTS: Readonly<Record<string, BatchClient>> = {
  headgate,
  'cookbook rules, told the limit': cookbookRules,
  'p-limit(50) + SDK retries': pLimitAndSdk,
};

const [lineCount = '300', only] = process.argv.slice(2);
const lines = Number(lineCount);
const prompts = Array.from({ length: lines }, (_, index) => `prompt ${index}`);

async function measure(name: string, client: BatchClient, server: LimitingServer): Promise<void> {
  const backend = createServer((request, response) => {
    request.resume();
    setTimeout(() => {
      response.setHeader('content-type', 'application/json');
      response.end('{"choices":[{"message":{"role":"assistant","content":"yes"}}]}');
    }, CALL_MS);
  });
  await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve));
  const { port } = backend.address() as AddressInfo;
  const { url, close } = await server.start(port);
  try {
    const startedAt = performance.now();
    const { answered, rejected } = await client(url, prompts);
    const seconds = (performance.now() - startedAt) / 1_000;
    const ratio = (seconds * 1_000) / server.idealMs(lines, CALL_MS);
    console.log(
      `  ${name.padEnd(32)} ${seconds.toFixed(1).padStart(6)} s  ` +
        `${ratio.toFixed(2)} of the ideal  ${String(lines - answered).padStart(4)} lost  ` +
        `${String(rejected).padStart(5)} x 429`,
    );
  } finally {
    await close();
    backend.close();
    backend.closeAllConnections();
  }
}

for (const [name, server] of Object.entries(LIMITING_SERVERS)) {
  if (only !== undefined && only !== name) continue;
  console.log(`${lines} prompts, ${name}: ${server.about}`);
  const why = missing(server);
  if (why !== undefined) console.log(`  left out: ${why}`);
  else for (const [peer, client] of Object.entries(CLIENTS)) await measure(peer, client, server);
}
