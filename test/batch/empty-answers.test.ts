import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, type TestContext } from 'vitest';
import type { ApiName } from '../../src/batch/endpoint.ts';
import { createHttpSender } from '../../src/batch/http/sender.ts';
import { type BatchRig, batchRig } from './rig.ts';

/** Sends prompts to a server that gives each of them the same body, with status 200. */
async function answered(
  test: TestContext,
  body: unknown,
  api: ApiName,
): Promise<ReturnType<BatchRig['run']>> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.end(JSON.stringify(body)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  const sender = createHttpSender({ baseUrl, apiKey: undefined, timeoutMs: 10_000 });
  test.onTestFinished(async () => {
    await sender.close();
    server.close();
  });
  const rig = await batchRig(test);
  rig.write(
    'in.jsonl',
    Array.from({ length: 20 }, (_, index) => ({ prompt: `p${index}` })),
  );
  return rig.run({ send: sender.send, api });
}

it.for([
  ['chat', {}],
  ['chat', { choices: [] }],
  ['responses', { id: 'resp' }],
  ['embeddings', { data: [] }],
  ['anthropic', { type: 'message' }],
] as const)('%s: a body without a result, %j, stops the run', async ([api, body], test) => {
  const report = await answered(test, body, api);
  expect(report).toMatchObject({ ok: 0, failed: 0, left: 20, stop: { reason: 'refused' } });
  expect(report.stop?.message).toBe(
    'the server answered 200: HTTP 200 with no result. Check --base-url',
  );
});

it.for([
  ['chat', { choices: [{ message: { content: null } }] }],
  ['responses', { output: [] }],
  ['responses', { output_text: 'A' }],
  ['embeddings', { data: [{ embedding: [1] }] }],
  ['anthropic', { content: [] }],
  // Some gateways answer every API in the form of one.
  ['anthropic', { choices: [{ message: { content: 'A' } }] }],
] as const)('%s: a body with a result, %j, is an answer', async ([api, body], test) => {
  const report = await answered(test, body, api);
  expect(report).toMatchObject({ ok: 20, failed: 0, left: 0 });
  expect(report.stop).toBeUndefined();
});
