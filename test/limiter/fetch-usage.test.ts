import { describe, expect, it, vi } from 'vitest';
import { createLimiter, type LimiterOptions } from '../../src/index.ts';
import { type Answer, serve } from './server.ts';

const TOKENS: LimiterOptions = {
  adaptive: false,
  limits: { tokens: { limit: 1_000, windowMs: 3_600_000, charge: 'settle' } },
};

const json: Answer = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ usage: { prompt_tokens: 30, completion_tokens: 12 } }));
};

const events: Answer = (_, response) => {
  const start = { type: 'message_start', message: { usage: { input_tokens: 30 } } };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(`data: ${JSON.stringify(start)}\n\n`);
  response.end('data: {"usage":{"output_tokens":12}}\n\ndata: [DONE]\n\n');
};

const read = async (body: Response['body']) => {
  for await (const _ of body ?? []);
};

describe('the used tokens in an answer of limiter.fetch', () => {
  it.each<[string, Answer, (response: Response) => Promise<unknown>]>([
    ['read by json()', json, (response) => response.json()],
    ['read by text()', json, (response) => response.text()],
    ['read by bytes', json, (response) => response.arrayBuffer()],
    ['read by blob()', json, async (response) => (await response.blob()).text()],
    ['read in parts', json, ({ body }) => read(body)],
    ['of a clone', json, (response) => response.clone().json()],
    ['of a stream', events, ({ body }) => read(body)],
    ['of a stream that is read as a text', events, (response) => response.text()],
  ])('are charged: %s', async (_, answer, reading) => {
    const { url } = await serve(answer);
    const limiter = createLimiter(TOKENS);
    const response = await limiter.fetch(url, { method: 'POST', body: 'x'.repeat(400) });
    expect(limiter.snapshot().tokensUsed).toBe(100);
    await reading(response);
    await limiter.drain();
    expect(limiter.snapshot().tokensUsed).toBe(42);
  });

  it('are charged if the body is read only later', async () => {
    const { url } = await serve(json);
    const limiter = createLimiter(TOKENS);
    await limiter.fetch(url);
    await limiter.drain();
    expect(limiter.snapshot().tokensUsed).toBe(42);
  });

  it('are not read where nothing needs them', async () => {
    const { url } = await serve(json);
    const limiter = createLimiter({ adaptive: false });
    const response = await limiter.fetch(url);
    const parse = vi.spyOn(JSON, 'parse');
    expect(await response.text()).toContain('usage');
    await limiter.drain();
    expect(parse).not.toHaveBeenCalled();
    parse.mockRestore();
  });
});

describe('limiter.fetchWith', () => {
  it('gives each call its options', async () => {
    const { url } = await serve(json);
    const limiter = createLimiter(TOKENS);
    const response = await limiter.fetchWith({ tokens: 500 })(url, { method: 'POST', body: 'x' });
    expect(limiter.snapshot()).toMatchObject({ tokensUsed: 500, byteBudget: { used: 1 } });
    await response.text();
  });

  it('asks a function for the options of each call', async () => {
    const { url } = await serve(json);
    const limiter = createLimiter(TOKENS);
    const send = limiter.fetchWith((input, init) => {
      expect(input).toBe(url);
      return init === undefined ? undefined : { tokens: 7, bytes: 20 };
    });
    const first = await send(url, { method: 'POST' });
    expect(limiter.snapshot()).toMatchObject({ tokensUsed: 7, byteBudget: { used: 20 } });
    await first.text();
    await (await send(url)).text();
  });

  it('sends by priority', async () => {
    const order: (string | undefined)[] = [];
    const noting: Answer = (asked, response, ...rest) => {
      order.push(asked.url);
      json(asked, response, ...rest);
    };
    const { url } = await serve(noting);
    const limiter = createLimiter({ concurrency: 1 });
    const urgent = limiter.fetchWith({ priority: 1 });
    const calls = [limiter.fetch(`${url}/0`), limiter.fetch(`${url}/1`), urgent(`${url}/2`)];
    await Promise.all(calls.map(async (call) => (await call).text()));
    expect(order.map((path) => path?.at(-1))).toEqual(['0', '2', '1']);
  });

  it('refuses wrong options: at once, or in the call that they are for', async () => {
    const limiter = createLimiter();
    expect(() => limiter.fetchWith({ priority: 0.5 })).toThrow('priority');
    expect(() => limiter.fetchWith({ signal: 1 } as object)).toThrow('signal');
    const wrong = limiter.fetchWith(() => ({ signal: AbortSignal.timeout(5) }) as object);
    await expect(wrong('http://127.0.0.1')).rejects.toThrow('signal');
    const throwing = limiter.fetchWith(() => {
      throw new Error('mine');
    });
    await expect(throwing('http://127.0.0.1')).rejects.toThrow('mine');
    await expect(limiter.fetch('http://127.0.0.1', { signal: 1 as never })).rejects.toThrow(
      'signal',
    );
  });
});
