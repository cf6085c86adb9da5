import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { createLimiter, throttle } from 'headgate';
import { Subject } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ask, type Served, serveInspector } from './support.ts';

let served: Served;
let port: string;

beforeEach(async () => {
  served = await serveInspector({ controls: true });
  port = new URL(served.url).port;
});

afterEach(() => served.close());

describe('the Host of a request', () => {
  it.each(['127.0.0.1', 'localhost', '[::1]', '192.168.1.7'])('may be %s', async (name) => {
    const { status } = await ask(served.url, { headers: { host: `${name}:${port}` } });
    expect(status).toBe(200);
  });

  it.each([
    'rebound.example',
    'localhost.rebound.example',
    '127.0.0.1.rebound.example',
    'user@127.0.0.1',
  ])('may not be "%s"', async (name) => {
    for (const path of ['/', '/events', '/requests', '/request?id=1', '/control']) {
      const { status } = await ask(`${served.url}${path}`, { headers: { host: name } });
      expect(status).toBe(403);
    }
  });
});

describe('the Origin of a request', () => {
  it.each(['http://evil.example', 'null', 'http://127.0.0.1:1'])(
    'may not be %s',
    async (origin) => {
      for (const path of ['/events', '/requests', '/request?id=1']) {
        const { status } = await ask(`${served.url}${path}`, { headers: { origin } });
        expect(status).toBe(403);
      }
    },
  );

  it('may not be another site, as the browser says it', async () => {
    for (const site of ['cross-site', 'same-site']) {
      const headers = { 'sec-fetch-site': site };
      expect((await ask(`${served.url}/events`, { headers })).status).toBe(403);
      expect((await ask(`${served.url}/requests`, { headers })).status).toBe(403);
    }
  });

  it('may be the page behind a proxy that serves HTTPS', async () => {
    const origin = served.url.replace('http:', 'https:');
    expect((await ask(`${served.url}/requests`, { headers: { origin } })).status).toBe(200);
    const other = { origin: 'https://evil.example' };
    expect((await ask(`${served.url}/requests`, { headers: other })).status).toBe(403);
  });

  it('may be the page', async () => {
    const headers = { origin: served.url, 'sec-fetch-site': 'same-origin' };
    expect((await ask(`${served.url}/requests`, { headers })).status).toBe(200);
  });
});

it('a proxy is asked not to hold events back', async () => {
  const request = get(`${served.url}/events`);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  expect(response.headers['x-accel-buffering']).toBe('no');
  request.destroy();
});

describe('every answer', () => {
  it.each(['/', '/requests', '/nowhere', '/control'])(
    'of %s has the headers of a safe page',
    async (path) => {
      const { headers } = await ask(`${served.url}${path}`);
      const policy = String(headers['content-security-policy']);
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|https?:|\*/);
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['referrer-policy']).toBe('no-referrer');
      expect(headers['cross-origin-resource-policy']).toBe('same-origin');
      expect(headers['cache-control']).toBe('no-store');
      expect(headers['access-control-allow-origin']).toBeUndefined();
    },
  );

  it('to an unknown path is an error', async () => {
    expect((await ask(`${served.url}/../package.json`)).status).toBe(404);
    expect((await ask(served.url, { method: 'POST' })).status).toBe(405);
    expect((await ask(`${served.url}/requests`, { method: 'DELETE' })).status).toBe(405);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write('GET http://[ HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n');
    const [data] = await once(socket, 'data');
    expect(String(data)).toMatch(/^HTTP\/1\.1 400 /);
    socket.destroy();
  });
});

describe('a command', () => {
  const json = { 'content-type': 'application/json' };
  const body = (command: object) => JSON.stringify(command);
  const concurrencyOf = (limiter: ReturnType<typeof createLimiter>) =>
    limiter.snapshot().concurrency.limit;

  function send(headers: Readonly<Record<string, string>>, command: object | string) {
    const text = typeof command === 'string' ? command : body(command);
    return ask(`${served.url}/control`, {
      method: 'POST',
      headers: { ...json, ...headers },
      body: text,
    });
  }

  const authorised = () => ({ authorization: `Bearer ${served.token?.text}` });

  it('is executed only with the token', async () => {
    const limiter = createLimiter({ name: 'controlled', concurrency: 5 });
    const gate = served.monitor.summaries.find(({ name }) => name === 'controlled')?.id;
    const command = { gate, action: 'configure', settings: { concurrency: 7 } };
    for (const authorization of ['', 'Bearer', 'Bearer wrong', `Basic ${served.token?.text}`]) {
      expect((await send({ authorization }, command)).status).toBe(401);
    }
    expect((await send({}, command)).status).toBe(401);
    expect((await send({ ...authorised(), origin: 'http://evil.example' }, command)).status).toBe(
      403,
    );
    expect((await send({ ...authorised(), host: 'evil.example' }, command)).status).toBe(403);
    expect(concurrencyOf(limiter)).toBe(5);
    expect((await send(authorised(), command)).status).toBe(200);
    expect(concurrencyOf(limiter)).toBe(7);
    limiter.close();
  });

  it('is refused without `controls`', async () => {
    const shown = await serveInspector();
    const command = body({ gate: 1, action: 'drain' });
    const { status, body: why } = await ask(`${shown.url}/control`, {
      method: 'POST',
      headers: { ...json, ...authorised() },
      body: command,
    });
    expect([status, why]).toEqual([403, 'The inspector was started without `controls`.\n']);
    await shown.close();
  });

  it('names its wrong field', async () => {
    const limiter = createLimiter({ name: 'wrong', concurrency: 5, requestsPerMinute: 10 });
    const gate = served.monitor.summaries.find(({ name }) => name === 'wrong')?.id;
    const wrong = async (command: object | string) => {
      const { status, body: why } = await send(authorised(), command);
      return `${status} ${why.trim()}`;
    };
    expect(await wrong('{')).toMatch(/^400 /);
    expect(await wrong({ gate: 'one', action: 'drain' })).toBe(
      '400 `gate` must be an integer >= 1, got "one"',
    );
    expect(await wrong({ gate, action: 'explode' })).toContain('`action` must be one of');
    expect(await wrong({ gate, action: 'configure', settings: { concurrency: 0 } })).toBe(
      '400 `settings.concurrency` must be an integer >= 1, got 0',
    );
    expect(await wrong({ gate, action: 'configure', settings: { 'limits.none': 2 } })).toBe(
      '400 `settings.limits.none` is no setting of this gate',
    );
    expect(await wrong({ gate: 999_999, action: 'drain' })).toMatch(/^404 /);
    expect(await wrong('x'.repeat(5_000))).toBe('413 At most 4096 bytes.');
    const plain = { ...authorised(), 'content-type': 'text/plain' };
    expect((await send(plain, '{}')).status).toBe(415);
    expect(limiter.snapshot().state).toBe('running');
    limiter.close();
  });

  it('pauses and resumes a limiter, and a stream', async () => {
    const limiter = createLimiter({ name: 'pausable' });
    const requests = new Subject<number>();
    const results: number[] = [];
    const stream = requests
      .pipe(throttle(async (value) => value, { name: 'pausable stream' }))
      .subscribe((value) => results.push(value));
    const idOf = (name: string) => served.monitor.summaries.find((each) => each.name === name)?.id;
    const act = async (name: string, action: string) => {
      const { status } = await send(authorised(), { gate: idOf(name), action });
      expect(status).toBe(200);
      served.look();
      return served.monitor.summaries.find((each) => each.name === name)?.condition;
    };
    expect(await act('pausable', 'pause')).toBe('paused');
    expect(await act('pausable stream', 'pause')).toBe('paused');
    expect(limiter.snapshot().state).toBe('paused');
    requests.next(1);
    const sent = limiter.run(async () => 2);
    await new Promise(setImmediate);
    expect(results).toEqual([]);
    expect(await act('pausable', 'resume')).not.toBe('paused');
    expect(await act('pausable stream', 'resume')).not.toBe('paused');
    expect(await sent).toBe(2);
    expect(results).toEqual([1]);
    stream.unsubscribe();
    limiter.close();
  });

  it('changes limits, and drains', async () => {
    const limiter = createLimiter({ name: 'limited', requestsPerMinute: 10 });
    const gate = served.monitor.summaries.find(({ name }) => name === 'limited')?.id;
    const settings = { 'limits.requests': 25 };
    expect((await send(authorised(), { gate, action: 'configure', settings })).status).toBe(200);
    expect(limiter.snapshot().rateLimit?.requests?.limit).toBe(25);
    expect((await send(authorised(), { gate, action: 'drain' })).status).toBe(200);
    expect(limiter.snapshot().state).toBe('closed');
  });
});

describe('pages that read', () => {
  function open(): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      get(`${served.url}/events`, resolve).on('error', reject);
    });
  }

  it('do not ask for headers alone', async () => {
    expect((await ask(`${served.url}/events`, { method: 'HEAD' })).status).toBe(405);
    expect(served.server.readerCount).toBe(0);
  });

  it('are at most 32', async () => {
    const open32 = await Promise.all(Array.from({ length: 32 }, open));
    expect(open32.map(({ statusCode }) => statusCode)).toEqual(Array(32).fill(200));
    expect((await ask(`${served.url}/events`)).status).toBe(503);
    const [first] = open32;
    first?.destroy();
    // The server learns of it by its own event.
    while ((await probe()) !== 200) await new Promise(setImmediate);
  });

  async function probe(): Promise<number | undefined> {
    const response = await open();
    response.destroy();
    return response.statusCode;
  }

  it('get a frame when something has changed, otherwise once a second', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_000 });
    const limiter = createLimiter({ name: 'still' });
    const page = await open();
    let text = '';
    page.on('data', (chunk: Buffer) => {
      text += String(chunk);
    });
    const frames = () => text.split('event: frame').length - 1;
    const reached = async (count: number) => {
      while (frames() < count) await new Promise(setImmediate);
    };
    await reached(1);
    served.look();
    await reached(2);
    served.look();
    served.look();
    limiter.pause();
    served.look();
    await reached(3);
    served.look();
    vi.setSystemTime(2_100);
    served.look();
    await reached(4);
    page.destroy();
    limiter.close();
    vi.useRealTimers();
    expect(frames()).toBe(4);
  });

  it('are disconnected if they do not read, and the others are not', async () => {
    const limiter = createLimiter({ name: 'x'.repeat(200) });
    const deaf = connect(Number(port), '127.0.0.1').pause();
    deaf.write(`GET /events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
    const other = await open();
    let frames = 0;
    other.on('data', () => {
      frames += 1;
    });
    while (served.server.readerCount < 2) await new Promise(setImmediate);
    // What the sockets hold is full after some thousand frames; 40 more are left out.
    for (let look = 0; served.server.readerCount > 1; look += 1) {
      expect(look).toBeLessThan(1_000_000);
      // A frame that says nothing new would not be sent.
      if (look % 2 === 0) limiter.pause();
      else limiter.resume();
      served.look();
      await new Promise(setImmediate);
    }
    deaf.destroy();
    const before = frames;
    limiter.configure({ concurrency: 7 });
    served.look();
    while (frames === before) await new Promise(setImmediate);
    other.destroy();
    limiter.close();
  });
});
