import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import OpenAI from 'openai';
import { of } from 'rxjs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createLimiter, type Limiter } from '../../src/index.ts';
import { seededRandom } from '../../src/simulator/random.ts';
import { expectIdle } from '../limiter/harness.ts';
import { aliveBytes, growthOf } from '../support/memory.ts';
import { isLong } from '../support/runs.ts';

// Real time and real sockets: what is tested is an interplay with Node's own `fetch`.

const REQUESTS = isLong ? 100_000 : 300;
const ROUNDS = 10;
const AT_ONCE = 100;
const GROWTH = 3_000_000;
const LONGEST_MS = 50;

const unhandled: unknown[] = [];
const note = (reason: unknown) => void unhandled.push(reason);
beforeEach(() => {
  unhandled.length = 0;
  process.on('unhandledRejection', note);
});
afterEach(() => void process.off('unhandledRejection', note));

const random = seededRandom(1);
const KINDS = [
  'ok',
  'ok',
  'ok',
  'ok',
  '429',
  '500',
  '400',
  'reset',
  'hang',
  'late',
  'cut',
] as const;

let resets = 0;

/** What becomes of a request: its path says so. */
const answer: RequestListener = (request, response) => {
  const [, kind, ms] = (request.url ?? '').split('/');
  const later = (end: () => void) => {
    const timer = setTimeout(end, Number(ms));
    response.on('close', () => clearTimeout(timer));
  };
  const body = '{"choices":[],"error":{"message":"no"}}';
  const head = (status: number) =>
    response.writeHead(status, { 'content-type': 'application/json', 'retry-after-ms': '1' });
  request.resume();
  if (kind === 'ok') head(200).end(body);
  else if (kind === 'reset') {
    // Every other one: a server that resets all connections is waited for, in real time.
    resets += 1;
    if (resets % 2 === 1) request.socket.destroy();
    else head(200).end(body);
  } else if (kind === 'late') {
    // The head at once, and the body of what says no later.
    head(Number(ms) % 2 === 0 ? 429 : 500).flushHeaders();
    later(() => response.end(body));
  } else if (kind === 'cut') {
    head(200).write(body.slice(0, 9));
    later(() => request.socket.destroy());
  } else if (kind !== 'hang') head(Number(kind)).end(body);
};

type Send = (limiter: Limiter, url: string, signal: AbortSignal) => Promise<unknown>;

/** Every way to send a request. */
const FORMS: readonly Send[] = [
  (limiter, url, given) =>
    limiter.run(async ({ signal }) => (await fetch(url, { signal })).text(), { signal: given }),
  (limiter, url, signal) => limiter.run(() => fetch(url, { signal }), { signal }).then(read),
  async (limiter, url, signal) => read(await limiter.fetch(url, { signal })),
  (limiter, url, given) =>
    new Promise((resolve) => {
      const sent = limiter.throttle((to: string, { signal }) => fetch(to, { signal }).then(read));
      const subscription = of(url)
        .pipe(sent)
        .subscribe({ error: resolve, complete: () => resolve('done') });
      given.addEventListener('abort', () => {
        subscription.unsubscribe();
        resolve('left');
      });
    }),
  (limiter, url, signal) => {
    const options = { apiKey: 'none', baseURL: url, fetch: limiter.fetch, maxRetries: 0 };
    const body = { model: 'some', messages: [] };
    return new OpenAI(options).chat.completions.create(body, { signal });
  },
];

/** The server sees the first two parts of a path alone, whatever an SDK adds. */
const read = (response: Response) => response.text();

/** Sends one request, and breaks it off at some moment, for which all wait that hang. */
async function sendOne(limiter: Limiter, url: string, index: number): Promise<void> {
  const controller = new AbortController();
  const kind = KINDS[Math.floor(random() * KINDS.length)];
  const path = `${url}/${kind}/${Math.floor(random() * LONGEST_MS)}`;
  const isPatient = kind !== 'hang' && random() < 0.7;
  const patienceMs = isPatient ? 100 * LONGEST_MS : random() * LONGEST_MS;
  const timer = setTimeout(() => controller.abort(), patienceMs);
  await FORMS[index % FORMS.length]?.(limiter, path, controller.signal).catch(() => undefined);
  clearTimeout(timer);
}

it(`${REQUESTS} requests over HTTP leave nothing held, and the heap flat`, async () => {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const limiter = createLimiter({
    concurrency: AT_ONCE / 2,
    adaptive: false,
    maxAttempts: 2,
    backoff: { backoffMs: 1, largeBackoffMs: 1, throttledForMs: 0, reopen: 'all' },
  });
  const sizes: number[] = [];
  let sent = 0;
  const sendSome = async (last: number) => {
    while (sent < last) {
      sent += 1;
      await sendOne(limiter, url, sent);
    }
  };
  for (let round = 1; round <= ROUNDS; round += 1) {
    const last = (round * REQUESTS) / ROUNDS;
    await Promise.all(Array.from({ length: AT_ONCE }, () => sendSome(last)));
    await limiter.run(() => 'the last');
    await expect.poll(() => limiter.snapshot().concurrency.inFlight).toBe(0);
    expectIdle(limiter);
    sizes.push(aliveBytes());
  }
  const growth = growthOf(sizes);
  console.log(`${REQUESTS} requests over HTTP:`, limiter.snapshot().ended, `${growth} bytes more`);
  expect(unhandled).toEqual([]);
  expect(growth).toBeLessThan(GROWTH);
  server.closeAllConnections();
  server.close();
});
