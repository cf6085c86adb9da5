import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createLimiter, throttle } from 'headgate';
import pLimit from 'p-limit';
import { range } from 'rxjs';
import { expectEqual } from '../expect.ts';
import { CONCURRENCY, type HttpJob } from '../job.ts';

const SERVER = fileURLToPath(new URL('../http-server.js', import.meta.url));

type Read = (response: Response) => Promise<void>;
/** Sends one request. */
type Send = (fetching: typeof fetch) => Promise<Response>;
type Sending = (send: Send, count: number, read: Read) => Promise<unknown>;

const clients: Readonly<Record<HttpJob['client'], Sending>> = {
  'p-limit': (send, count, read) => {
    const limit = pLimit(CONCURRENCY);
    const call = async () => read(await send(fetch));
    return Promise.all(Array.from({ length: count }, () => limit(call)));
  },
  throttle: (send, count, read) =>
    new Promise<void>((resolve, reject) => {
      range(0, count)
        .pipe(throttle(async () => read(await send(fetch)), { concurrency: CONCURRENCY }))
        .subscribe({ complete: resolve, error: reject });
    }),
  'limiter.fetch': (send, count, read) => {
    const limiter = createLimiter({ concurrency: CONCURRENCY });
    const call = async () => read(await send(limiter.fetch));
    return Promise.all(Array.from({ length: count }, call));
  },
};

/** Nanoseconds for a request to a server in another process, until its body was read as JSON. */
export async function http({ client, hasSignals, tasks, warmUp }: HttpJob): Promise<number> {
  const server = fork(SERVER, { execArgv: [] });
  const [port] = await once(server, 'message');
  const url = `http://127.0.0.1:${port}/`;
  const send: Send = hasSignals
    ? (fetching) => fetching(url, { signal: new AbortController().signal })
    : (fetching) => fetching(url);
  let ended = 0;
  const read: Read = async (response) => {
    const answer: unknown = await response.json();
    if (typeof answer === 'object' && answer !== null && 'choices' in answer) ended += 1;
  };
  await clients[client](send, warmUp, read);
  ended = 0;
  const start = performance.now();
  await clients[client](send, tasks, read);
  const elapsedMs = performance.now() - start;
  expectEqual('answers read', ended, tasks);
  server.disconnect();
  return (elapsedMs * 1e6) / tasks;
}
