import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import type { Send } from '../../src/batch/index.ts';
import { createProvider, serve } from '../../src/simulator/index.ts';
import { batchRig, prompts } from './rig.ts';

function sendWith(client: OpenAI): Send {
  return async ({ body }, { signal }) => {
    const { data, response } = await client
      .post('/chat/completions', { body, signal })
      .withResponse();
    const headers = Object.fromEntries(response.headers);
    return { statusCode: response.status, headers, body: data };
  };
}

describe('runBatch with an SDK', () => {
  it('waits out 429s, and keeps its answers', async (test) => {
    const provider = createProvider({
      limits: [{ unit: 'requests', algorithm: 'token-bucket', limit: 20, windowMs: 500 }],
    });
    const server = await serve(provider);
    test.onTestFinished(() => server.close());
    const client = new OpenAI({ apiKey: 'k', baseURL: `${server.url}/v1`, maxRetries: 0 });
    const rig = await batchRig(test, sendWith(client));
    rig.write('in.jsonl', prompts(60));
    const report = await rig.run();
    expect(report).toMatchObject({ ok: 60, failed: 0 });
    expect(report.retried).toBe(report.rejected);
  });

  it('stops for a refused key, and for a server that cannot be reached', async (test) => {
    const server = await serve(createProvider({ apiKeys: ['right'] }));
    const client = new OpenAI({ apiKey: 'wrong', baseURL: `${server.url}/v1`, maxRetries: 0 });
    const rig = await batchRig(test, sendWith(client));
    rig.write('in.jsonl', prompts(10));
    const refused = await rig.run();
    expect(refused.stop).toMatchObject({ reason: 'refused' });
    expect(refused.stop?.message).toContain('the server answered 401: No API key was given');
    await server.close();
    const gone = await rig.run({ unreachableMs: 300 });
    expect(gone).toMatchObject({ ok: 0, failed: 0, left: 10, stop: { reason: 'unreachable' } });
  });
});
