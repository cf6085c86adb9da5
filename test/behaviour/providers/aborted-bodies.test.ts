import OpenAI from 'openai';
import { of } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLimiter, throttle } from '../../../src/index.ts';
import { type Answer, closing, serve } from '../../limiter/server.ts';

// Real time and real sockets: the fault was an interplay with Node's own `fetch`.

const MOMENTS = 200;
const LONGEST_MS = 50;
/** More than is read of a body. */
const TOO_LONG = 'x'.repeat(100 * 1024);

/** Breaks off the request of a path. */
const breakOffs = new Map<string, () => void>();

/**
 * Sends the head at once. The path says how many ms later the body comes, and the end of the
 * request; an SDK adds to it.
 */
const lateBody: Answer = ({ url = '' }, response) => {
  const [, lateMs, abortMs, n] = url.split('/').map(Number);
  response.writeHead(Number(lateMs) % 2 === 0 ? 429 : 500, { 'content-type': 'application/json' });
  response.flushHeaders();
  const timer = setTimeout(() => response.end('{"error":{"message":"no"}}'), lateMs);
  response.on('close', () => clearTimeout(timer));
  setTimeout(() => breakOffs.get(`/${lateMs}/${abortMs}/${n}`)?.(), abortMs);
};

const unhandled: unknown[] = [];
const note = (reason: unknown) => void unhandled.push(reason);
beforeEach(() => {
  unhandled.length = 0;
  process.on('unhandledRejection', note);
});
afterEach(() => void process.off('unhandledRejection', note));

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Sends a request to the address and returns what breaks it off. */
type Send = (url: string) => () => void;

/** One for each request: a 429 would hold up the others. */
const limiter = () => createLimiter({ adaptive: false });

const FORMS: Readonly<Record<string, Send>> = {
  'throttle, unsubscribed': (url) => {
    const request = of(url).pipe(throttle((to, { signal }) => fetch(to, { signal })));
    const subscription = request.subscribe({ error: () => undefined });
    return () => subscription.unsubscribe();
  },
  'run, aborted': aborted((url, given) =>
    limiter().run(({ signal }) => fetch(url, { signal }), { signal: given }),
  ),
  'run, whose task alone knows the signal': aborted((url, signal) =>
    limiter().run(() => fetch(url, { signal })),
  ),
  'limiter.fetch, aborted': aborted((url, signal) => limiter().fetch(url, { signal })),
  'the openai SDK with limiter.fetch, aborted': aborted((url, signal) =>
    new OpenAI({
      apiKey: 'none',
      baseURL: url,
      maxRetries: 0,
      fetch: limiter().fetch,
    }).chat.completions.create({ model: 'some', messages: [] }, { signal }),
  ),
};

function aborted(call: (url: string, signal: AbortSignal) => Promise<unknown>): Send {
  return (url) => {
    const controller = new AbortController();
    call(url, controller.signal).catch(() => undefined);
    return () => controller.abort();
  };
}

describe('a request that is aborted while the body of an error arrives', () => {
  it.each(Object.entries(FORMS))('leaves no rejection unhandled: %s', async (_form, send) => {
    const { url, seen } = await serve(lateBody);
    for (let n = 0; n < MOMENTS; n += 1) {
      const path = `${(n * 7) % LONGEST_MS}/${(n * 11) % LONGEST_MS}/${n}`;
      breakOffs.set(`/${path}`, send(url + path));
      // Not all at once: a busy server would answer all of them late.
      await pause(2);
    }
    // A busy machine takes longer until the last request has arrived.
    await vi.waitFor(() => expect(seen.length).toBeGreaterThanOrEqual(MOMENTS), {
      timeout: 20_000,
    });
    await pause(4 * LONGEST_MS);
    expect(unhandled).toEqual([]);
  });

  it('leaves none either when the body was too long to be read whole', async () => {
    const { url } = await serve((_request, response) => {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.write(TOO_LONG);
    });
    const controller = new AbortController();
    const response = await limiter().run(() => fetch(url, { signal: controller.signal }));
    expect(response.status).toBe(400);
    controller.abort();
    await pause(LONGEST_MS);
    expect(unhandled).toEqual([]);
  });

  it('lets go of the connection', async () => {
    let isClosed!: () => void;
    const closed = new Promise<void>((resolve) => {
      isClosed = resolve;
    });
    const { url } = await serve((_request, response) => {
      response.writeHead(429, { 'content-type': 'application/json' }).flushHeaders();
      response.on('close', isClosed);
    });
    const controller = new AbortController();
    const answer = limiter().run(() => fetch(url), { signal: controller.signal });
    await pause(LONGEST_MS);
    controller.abort();
    await expect(answer).rejects.toThrow();
    await closed;
    expect(closing).toHaveLength(1);
  });
});
