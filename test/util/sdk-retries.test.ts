import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startTelemetry } from '../../src/telemetry/node.ts';
import { REQUESTS_OF_FETCH, warnOfSdkRetries } from '../../src/util/sdk-retries.ts';

const servers: Server[] = [];
const warnings: string[] = [];

beforeEach(() => {
  vi.spyOn(process, 'emitWarning').mockImplementation((text) => void warnings.push(String(text)));
});
afterEach(() => {
  vi.restoreAllMocks();
  warnings.length = 0;
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

/** Answers each request with a 429 that allows another one at once. */
async function rejecting(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(429, { 'retry-after-ms': '1', 'content-type': 'application/json' });
    response.end('{"error":{"message":"slow down"}}');
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const messages = [{ role: 'user' as const, content: 'hello' }];

const ask = {
  openai: (baseURL: string, options: { maxRetries?: number }) =>
    new OpenAI({ apiKey: 'none', baseURL, ...options }).chat.completions
      .create({ model: 'm', messages })
      .catch(() => {}),
  anthropic: (baseURL: string, options: { maxRetries?: number }) =>
    new Anthropic({ apiKey: 'none', baseURL, ...options }).messages
      .create({ model: 'm', max_tokens: 9, messages })
      .catch(() => {}),
};

it.each(['openai', 'anthropic'] as const)('warns once of the retries of %s', async (sdk) => {
  const url = await rejecting();
  subscribe(REQUESTS_OF_FETCH, warnOfSdkRetries);
  await ask[sdk](url, { maxRetries: 0 });
  expect(warnings).toEqual([]);
  await ask[sdk](url, {});
  await ask[sdk](url, {});
  unsubscribe(REQUESTS_OF_FETCH, warnOfSdkRetries);
  expect(warnings).toEqual([
    `headgate: an SDK has sent a request to ${url} again by itself. If its calls go through headgate, set its maxRetries to 0: headgate does not see the answers that the SDK retries`,
  ]);
});

/** A request as Node publishes it. */
function publish(origin: string): void {
  channel('undici:request:create').publish({
    request: { origin, headers: ['x-stainless-retry-count', '1'] },
  });
}

it('startTelemetry watches for them until its shutdown', async () => {
  const telemetry = await startTelemetry({ serviceName: 'test', prometheusPort: 0 });
  publish('http://measured');
  await telemetry.shutdown();
  publish('http://afterwards');
  expect(warnings.map((text) => /http:\S+/.exec(text)?.[0])).toEqual(['http://measured']);
});
