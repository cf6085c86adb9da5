import { afterEach, describe, expect, it } from 'vitest';
import { createProvider, type ProviderServer, serve } from '../../../src/simulator/index.ts';

const servers: ProviderServer[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function post(path: string, body: unknown, options: Parameters<typeof serve>[1] = {}) {
  const server = await serve(createProvider({ latency: 1 }), options);
  servers.push(server);
  const response = await fetch(`${server.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { response, text: await response.text() };
}

const CONTENTS = { contents: [{ role: 'user', parts: [{ text: 'eight letters, twice' }] }] };
const MESSAGES = { messages: [{ role: 'user', content: [{ text: 'eight letters, twice' }] }] };

describe('POST /v1beta/models/…:generateContent', () => {
  const path = '/v1beta/models/gemini:generateContent';

  it('answers as the Gemini API', async () => {
    const body = { ...CONTENTS, generationConfig: { maxOutputTokens: 3 } };
    const { text } = await post(path, body, { output: { mean: 64 } });
    expect(JSON.parse(text)).toEqual({
      candidates: [
        {
          content: { role: 'model', parts: [{ text: expect.stringMatching(/^\S+ \S+ \S+$/) }] },
          index: 0,
          finishReason: 'MAX_TOKENS',
        },
      ],
      usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 3, totalTokenCount: 8 },
      modelVersion: 'gemini',
      responseId: expect.any(String),
    });
  });

  it('streams the same, and its usage at last', async () => {
    const body = { ...CONTENTS, generationConfig: { maxOutputTokens: 3 } };
    const { text } = await post('/v1beta/models/gemini:streamGenerateContent?alt=sse', body);
    const chunks = text
      .trim()
      .split('\n\n')
      .map((event) => JSON.parse(event.replace(/^data: /, '')));
    expect(chunks).toHaveLength(4);
    expect(chunks.at(-1)).toMatchObject({
      candidates: [{ finishReason: 'MAX_TOKENS' }],
      usageMetadata: { totalTokenCount: 8 },
    });
  });

  it('refuses as it does', async () => {
    const faults = () => ({ fault: 'status', status: 429, retryAfterMs: 1_500 }) as const;
    const { response, text } = await post(path, CONTENTS, { faults });
    expect(response.status).toBe(429);
    expect(JSON.parse(text)).toMatchObject({
      error: {
        code: 429,
        status: 'RESOURCE_EXHAUSTED',
        details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '1.5s' }],
      },
    });
  });

  it.each([
    [{}, 400, 'INVALID_ARGUMENT', 'contents'],
    [{ contents: [{}] }, 400, 'INVALID_ARGUMENT', 'contents[0].parts'],
  ])('says what is wrong with %j', async (body, code, status, message) => {
    const { text } = await post(path, body);
    const expected = { code, status, message: expect.stringContaining(message) };
    expect(JSON.parse(text).error).toEqual(expected);
  });

  it('knows no other models than its own', async () => {
    const { text } = await post(path, CONTENTS, { models: ['another'] });
    expect(JSON.parse(text).error).toMatchObject({ code: 404, status: 'NOT_FOUND' });
  });
});

describe('POST /model/…/converse', () => {
  const path = '/model/anthropic.claude%3A0/converse';

  it('answers as Bedrock', async () => {
    const body = { ...MESSAGES, inferenceConfig: { maxTokens: 3 } };
    const { response, text } = await post(path, body, { output: { mean: 64 } });
    expect(response.headers.get('x-amzn-requestid')).toBeTruthy();
    expect(JSON.parse(text)).toEqual({
      output: {
        message: {
          role: 'assistant',
          content: [{ text: expect.stringMatching(/^\S+ \S+ \S+$/) }],
        },
      },
      stopReason: 'max_tokens',
      usage: { inputTokens: 5, outputTokens: 3, totalTokens: 8 },
      metrics: { latencyMs: expect.any(Number) },
    });
  });

  it.each([
    [429, 'ThrottlingException'],
    [503, 'ServiceUnavailableException'],
    [500, 'InternalServerException'],
  ])('refuses with %d as it does', async (status, name) => {
    const { response, text } = await post(path, MESSAGES, {
      faults: () => ({ fault: 'status', status }),
    });
    expect([response.status, response.headers.get('x-amzn-errortype')]).toEqual([status, name]);
    expect(Object.keys(JSON.parse(text))).toEqual(['message']);
  });

  it.each([
    [{}, 400, 'messages'],
    [{ messages: [{}] }, 400, 'messages.0.content'],
  ])('says what is wrong with %j', async (body, status, message) => {
    const { response, text } = await post(path, body);
    expect([response.status, response.headers.get('x-amzn-errortype')]).toEqual([
      status,
      'ValidationException',
    ]);
    expect(JSON.parse(text).message).toContain(message);
  });

  it('knows no other models than its own', async () => {
    const { response } = await post(path, MESSAGES, { models: ['another'] });
    expect(response.headers.get('x-amzn-errortype')).toBe('ResourceNotFoundException');
  });
});
