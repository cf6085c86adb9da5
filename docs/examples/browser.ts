import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLimiter, QueueFullError } from 'headgate';

const limiter = createLimiter({ concurrency: 20, maxQueue: 1_000 });

// Stands for the stream of an SDK, which gets the signal.
async function* ask(signal: AbortSignal) {
  for (const text of ['Hello,', 'world.']) {
    signal.throwIfAborted();
    yield text;
  }
}

const server = createServer(async (_, response) => {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  try {
    await limiter.run(
      async ({ signal, doNotRetry }) => {
        for await (const text of ask(signal)) {
          doNotRetry(); // the browser gets a part of the answer
          if (!response.write(`data: ${text}\n\n`)) await once(response, 'drain', { signal });
        }
        signal.throwIfAborted(); // the streams of some SDKs end without an error
      },
      { signal: gone.signal, timeoutMs: 120_000, priority: 10 },
    );
    response.end();
  } catch (error) {
    if (response.headersSent) response.destroy();
    else response.writeHead(error instanceof QueueFullError ? 503 : 502).end();
  }
});

await once(server.listen(0, '127.0.0.1'), 'listening');
const { port } = server.address() as AddressInfo;
const answer = await fetch(`http://127.0.0.1:${port}`).then((response) => response.text());
console.log(answer.split('\n').filter(Boolean).join(' ')); // data: Hello, data: world.
server.close();
