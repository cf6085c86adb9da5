import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { createHttpSender } from '../../../src/batch/http/sender.ts';
import type { BatchRequest } from '../../../src/batch/request.ts';

it('a header replaces that of the same name, however it is capitalised', async (test) => {
  const seen: IncomingMessage['rawHeaders'][] = [];
  const server = createServer(({ rawHeaders }, response) => {
    seen.push(rawHeaders);
    response.end('{"choices": [{}]}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const sender = createHttpSender({
    baseUrl: `http://127.0.0.1:${port}/v1`,
    apiKey: 'sk-of-another-server',
    headers: { Authorization: 'Basic mine', 'Content-Type': 'application/json; charset=utf-8' },
    timeoutMs: 10_000,
  });
  test.onTestFinished(async () => {
    await sender.close();
    server.close();
  });
  const request = { id: 'a', url: '/v1/chat/completions', body: {} } as BatchRequest;
  await sender.send(request, { signal: new AbortController().signal } as never);
  const [headers = []] = seen;
  const valuesOf = (wanted: string) =>
    headers.filter((_, index) => index % 2 === 1 && headers[index - 1]?.toLowerCase() === wanted);
  expect(valuesOf('authorization')).toEqual(['Basic mine']);
  expect(valuesOf('content-type')).toEqual(['application/json; charset=utf-8']);
});

it('a slash at the end of the base URL is not sent twice', async (test) => {
  const seen: unknown[] = [];
  const server = createServer(({ url }, response) => {
    seen.push(url);
    response.end('{"choices": [{}]}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${port}/v1/?api-version=1`;
  const sender = createHttpSender({ baseUrl, apiKey: undefined, timeoutMs: 10_000 });
  test.onTestFinished(async () => {
    await sender.close();
    server.close();
  });
  const request = { id: 'a', url: '/v1/chat/completions', body: {} } as BatchRequest;
  await sender.send(request, { signal: new AbortController().signal } as never);
  expect(seen).toEqual(['/v1/chat/completions?api-version=1']);
});
