import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { BatchRequest } from '../../src/batch/index.ts';
import { answer, type BatchRig, batchRig, jsonLines } from './rig.ts';

/** What is sent of a file. */
async function requestsOf(
  rig: BatchRig,
  options: Parameters<BatchRig['run']>[0],
): Promise<BatchRequest[]> {
  const requests: BatchRequest[] = [];
  await rig.run({
    ...options,
    existing: 'overwrite',
    concurrency: 1,
    send: async (request, context) => {
      requests.push(request);
      return answer(request, context);
    },
  });
  return requests;
}

const message = (content: string) => [{ role: 'user', content }];

describe('lines of input', () => {
  it('are OpenAI batch lines, bodies, or prompts, with every field of a body', async (test) => {
    const rig = await batchRig(test);
    rig.write('in.jsonl', [
      {
        custom_id: 'a',
        method: 'POST',
        url: '/v1/responses',
        body: { model: 'own', input: 'A', tools: [{ type: 'x' }] },
      },
      { id: 7, messages: message('B'), temperature: 0.2, response_format: { type: 'json_object' } },
      { prompt: 'C', max_tokens: 5, metadata: { row: 3 } },
    ]);
    expect(await requestsOf(rig, {})).toMatchObject([
      { id: 'a', url: '/v1/responses', body: { model: 'own', input: 'A', tools: [{ type: 'x' }] } },
      {
        id: '7',
        url: '/v1/chat/completions',
        body: {
          model: 'm',
          messages: message('B'),
          temperature: 0.2,
          response_format: { type: 'json_object' },
        },
      },
      {
        id: 'line-3',
        body: { model: 'm', messages: message('C'), max_tokens: 5 },
        metadata: { row: 3 },
      },
    ]);
    expect(rig.results()[2]).toMatchObject({ custom_id: 'line-3', metadata: { row: 3 } });
  });

  it.for([
    ['chat', '/v1/chat/completions', { messages: message('A') }],
    ['responses', '/v1/responses', { input: 'A' }],
    ['embeddings', '/v1/embeddings', { input: 'A' }],
    ['anthropic', '/v1/messages', { messages: message('A'), max_tokens: 1024 }],
  ] as const)('become requests of %s', async ([api, url, body], test) => {
    const rig = await batchRig(test);
    rig.write('in.jsonl', '{"prompt": "A"}\n');
    expect(await requestsOf(rig, { api })).toMatchObject([{ url, body: { model: 'm', ...body } }]);
  });

  it('are lines of text, with a byte order mark, CRLF, and no newline at the end', async (test) => {
    const rig = await batchRig(test);
    rig.write('in.jsonl', '\uFEFFWrite a poem\r\n\r\nAnd "another"');
    const requests = await requestsOf(rig, { format: 'text' });
    expect(requests.map(({ id, body }) => [id, body.messages])).toEqual([
      ['line-1', message('Write a poem')],
      ['line-3', message('And "another"')],
    ]);
  });

  it('are rows of a table, with a template', async (test) => {
    const rig = await batchRig(test);
    const csv = 'id,name,text\r\na1,Ann,"Hello, ""you"""\r\na2,Bob,"two\nlines"\r\n';
    const input = rig.write('in.csv', csv);
    const template = 'To {{name}}: {{ text }}!';
    const requests = await requestsOf(rig, { input, template });
    expect(requests.map(({ id, body }) => [id, body.messages])).toEqual([
      ['a1', message('To Ann: Hello, "you"!')],
      ['a2', message('To Bob: two\nlines!')],
    ]);
    expect(requests[0]?.metadata).toEqual({ id: 'a1', name: 'Ann', text: 'Hello, "you"' });
    const tsv = rig.write('in.tsv', 'prompt\tn\nHi\t1\n');
    expect(await requestsOf(rig, { input: tsv })).toMatchObject([{ id: 'line-2' }]);
  });

  it('are rows that are numbered by the lines of the file, of Windows too', async (test) => {
    const rig = await batchRig(test);
    for (const end of ['\n', '\r\n']) {
      const csv = ['"the', 'text",n', '"two', 'lines",1', 'one,2', ''].join(end);
      const input = rig.write('in.csv', csv);
      const requests = await requestsOf(rig, { input, template: '{{n}}' });
      expect(requests.map(({ id }) => id)).toEqual(['line-4', 'line-5']);
    }
  });

  it('come from gzip data, and from several files of a pattern', async (test) => {
    const rig = await batchRig(test);
    rig.write('part-1.jsonl.gz', gzipSync(jsonLines([{ prompt: 'A' }, { prompt: 'B' }])));
    rig.write('part-2.jsonl', jsonLines([{ prompt: 'C' }]));
    const requests = await requestsOf(rig, { input: rig.path('part-*') });
    expect(requests.map(({ id }) => id.replace(rig.folder, ''))).toEqual([
      '/part-1.jsonl.gz:1',
      '/part-1.jsonl.gz:2',
      '/part-2.jsonl:1',
    ]);
    const [first] = await requestsOf(rig, { input: rig.path('part-*'), limit: 1 });
    expect(first?.body.messages).toEqual(message('A'));
  });

  it('may be longer than what is read at once', async (test) => {
    const rig = await batchRig(test);
    const long = 'ä'.repeat(300_000);
    rig.write('in.jsonl', [{ prompt: long }, { prompt: 'B' }]);
    const requests = await requestsOf(rig, {});
    expect(requests.map(({ body }) => body.messages)).toEqual([message(long), message('B')]);
  });
});

describe('a line of results', () => {
  it('is that of OpenAI, with what headgate knows beside it', async (test) => {
    const rig = await batchRig(test);
    rig.write('in.jsonl', [{ id: 'a', prompt: 'hello' }]);
    await rig.run({ prices: { '*': { in: 1, out: 2 } } });
    expect(rig.results()).toEqual([
      {
        id: expect.stringMatching(/^batch_req_[0-9a-f]{24}$/),
        custom_id: 'a',
        response: { status_code: 200, request_id: 'req-1', body: expect.anything() },
        error: null,
        headgate: {
          attempts: 1,
          waited_ms: expect.any(Number),
          duration_ms: expect.any(Number),
          usage: { input_tokens: 100, cached_input_tokens: 0, output_tokens: 50 },
          cost: 0.0002,
          hash: expect.stringMatching(/^[0-9a-f]{32}$/),
        },
      },
    ]);
  });

  it('counts cached tokens, of OpenAI within the input and of Anthropic beside it', async (test) => {
    const usages = [
      { prompt_tokens: 100, completion_tokens: 10, prompt_tokens_details: { cached_tokens: 80 } },
      { input_tokens: 20, output_tokens: 10, cache_read_input_tokens: 80 },
    ];
    const rig = await batchRig(test);
    rig.write('in.jsonl', [{ prompt: '0' }, { prompt: '1' }]);
    const prices = { m: { in: 1, cached: 0.1, out: 2 } };
    let index = 0;
    await rig.run({
      prices,
      concurrency: 1,
      send: async () => ({ statusCode: 200, body: { usage: usages[index++] } }),
    });
    for (const { headgate } of rig.results()) {
      const usage = { input_tokens: 100, cached_input_tokens: 80, output_tokens: 10 };
      expect(headgate.usage).toEqual(usage);
      expect(headgate.cost).toBeCloseTo((20 + 8 + 20) / 1e6, 12);
    }
  });

  it('counts no more cached tokens than input, so that no answer lowers what was spent', async (test) => {
    const rig = await batchRig(test);
    rig.write('in.jsonl', [{ prompt: '0' }]);
    const usage = { prompt_tokens: 10, prompt_tokens_details: { cached_tokens: 1e9 } };
    await rig.run({
      prices: { m: { in: 1, cached: 0.1, out: 2 } },
      send: async () => ({ statusCode: 200, body: { usage } }),
    });
    const [result] = rig.results();
    expect(result?.headgate.usage).toMatchObject({ input_tokens: 10, cached_input_tokens: 10 });
    expect(result?.headgate.cost).toBeCloseTo(1 / 1e6, 12);
  });
});
