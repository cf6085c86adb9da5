import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { RetryAfterTooLongError } from 'headgate';
import { classify, reportedLimits } from 'headgate/advanced';
import { afterEach, describe, expect, it } from 'vitest';
import { concernsAll } from '../../examples/batch/batch.ts';
import { ApiError, ConnectionError, createClient } from '../../examples/batch/client.ts';

const PROMPT = { id: 'a', index: 0, messages: [{ role: 'user', content: 'hi' }], maxTokens: 7 };
let close = () => {};
afterEach(() => close());

/** A client of a server that answers so. */
async function clientOf(listener: RequestListener, apiKey?: string) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  close = () => {
    server.close();
    server.closeAllConnections();
  };
  const { port } = server.address() as AddressInfo;
  const complete = createClient({ baseUrl: `http://127.0.0.1:${port}/v1`, model: 'm', apiKey });
  return (signal = new AbortController().signal) => complete(PROMPT, signal);
}

async function errorOf(status: number, body: string, headers = {}): Promise<unknown> {
  const complete = await clientOf((_, response) => response.writeHead(status, headers).end(body));
  return complete().catch((error: unknown) => error);
}

describe('createClient', () => {
  it('asks as OpenAI has it', async () => {
    let body = '';
    let key: string | undefined;
    const complete = await clientOf((request, response) => {
      key = request.headers.authorization;
      request.setEncoding('utf8').on('data', (text) => {
        body += text;
      });
      const usage = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };
      const answer = { choices: [{ message: { content: 'yes' } }], usage };
      request.on('end', () => response.end(JSON.stringify(answer)));
    }, 'key');
    const headers = expect.any(Headers);
    expect(await complete()).toEqual({ text: 'yes', tokens: 4, headers });
    expect(key).toBe('Bearer key');
    expect(JSON.parse(body)).toEqual({ model: 'm', messages: PROMPT.messages, max_tokens: 7 });
  });

  it.each([
    [400, '{"error":{"message":"too  long","code":"context"}}', 'answered 400: too long'],
    [500, '{"error":"broken"}', 'answered 500: broken'],
    [422, '{"detail":"no"}', 'answered 422: no'],
    [502, '<h1>Bad\nGateway</h1>', 'answered 502: <h1>Bad Gateway</h1>'],
    [503, '', 'answered 503: Service Unavailable'],
    [401, '{"message":"who?"}', 'answered 401: who? (no key was sent: OPENAI_API_KEY is not set)'],
    [200, '{"choices":[]}', 'answered 200: no choices[0].message.content in {"choices":[]}'],
  ])('repeats what the server says: %d %s', async (status, body, message) => {
    const error = await errorOf(status, body);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status, message: expect.stringContaining(message) });
  });

  it.each([
    [''],
    [',"usage":null'],
    [',"usage":{"total_tokens":-1}'],
    [',"usage":{"total_tokens":"4"}'],
  ])('knows no tokens where the server names none: %s', async (usage) => {
    const body = `{"choices":[{"message":{"content":null}}]${usage}}`;
    const complete = await clientOf((_, response) => response.end(body));
    expect(await complete()).toMatchObject({ text: '', tokens: undefined });
  });

  it('hands on the headers of an answer', async () => {
    const complete = await clientOf((_, response) => {
      const told = { 'x-ratelimit-limit-requests': '60', 'x-ratelimit-remaining-requests': '59' };
      response.writeHead(200, told).end('{"choices":[{"message":{"content":"yes"}}]}');
    });
    const { headers } = await complete();
    expect(reportedLimits(headers)).toMatchObject([{ unit: 'requests', limit: 60, remaining: 59 }]);
  });

  it('lets headgate read how long to wait', async () => {
    const error = await errorOf(429, '{}', { 'retry-after': '3' });
    expect(classify(error)).toMatchObject({ kind: 'throttled', retryAfterMs: 3000 });
  });

  it('tells a broken connection from a call that was aborted', async () => {
    const complete = await clientOf((request) => request.socket.destroy());
    const broken = await complete().catch((error: unknown) => error);
    expect(broken).toBeInstanceOf(ConnectionError);
    expect(classify(broken)).toMatchObject({ kind: 'failed', retry: true });
    await expect(complete(AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
  });
});

describe('concernsAll', () => {
  const quota = '{"error":{"message":"pay","code":"insufficient_quota"}}';

  it.each([
    [400, '', [false, false]],
    [401, '', [true, true]],
    [402, '', [true, true]],
    [403, '', [true, false]],
    [404, '', [true, false]],
    [429, '', [false, false]],
    [429, quota, [true, true]],
    [500, '', [false, false]],
  ])('%d %s: [before, after] the first success: %j', async (status, body, expected) => {
    const error = await errorOf(status, body);
    expect([concernsAll(error, false), concernsAll(error, true)]).toEqual(expected);
  });

  it('holds for a server that is not there, and for one that wants to be left alone', () => {
    const refused = Object.assign(new Error(), { code: 'ECONNREFUSED' });
    const reset = Object.assign(new Error(), { code: 'ECONNRESET' });
    const ofFetch = (cause: Error) =>
      new ConnectionError('http://h', new TypeError('fetch failed', { cause }));
    expect(concernsAll(ofFetch(refused), true)).toBe(true);
    expect(concernsAll(ofFetch(reset), true)).toBe(false);
    expect(concernsAll(ofFetch(reset), false)).toBe(true);
    expect(concernsAll(new RetryAfterTooLongError(3_600_000, 60_000, undefined), true)).toBe(true);
    expect(concernsAll(new Error('mine'), false)).toBe(false);
  });
});
