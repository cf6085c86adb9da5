import { describe, expect, it, vi } from 'vitest';
import { RequestGroups } from '../../src/batch/groups/request-groups.ts';
import type { BatchRequest, BatchResponse, Send } from '../../src/batch/index.ts';
import { batchRig } from './rig.ts';

const texts = (count: number, more: (index: number) => object = () => ({})) =>
  Array.from({ length: count }, (_, index) => ({
    id: `t${index}`,
    input: `text ${index}`,
    ...more(index),
  }));

/** The vector of a text is its number; answers come in the wrong order, with their index. */
const embed: Send = async ({ body }) =>
  embedded(Array.isArray(body.input) ? body.input : [body.input]);

function embedded(inputs: readonly unknown[]): BatchResponse {
  const data = inputs.map((input, index) => ({
    object: 'embedding',
    index,
    embedding: [Number(String(input).split(' ')[1])],
  }));
  const tokens = inputs.length * 3;
  const usage = { prompt_tokens: tokens, total_tokens: tokens };
  return { statusCode: 200, body: { object: 'list', model: 'm', data: data.reverse(), usage } };
}

const refuse = (statusCode: number, message: string): BatchResponse => ({
  statusCode,
  body: { error: { message } },
});

const options = { api: 'embeddings', groupSize: 10 } as const;

describe('lines for embeddings', () => {
  it('are sent as groups, and each has its own vector, usage and cost', async (test) => {
    const groups: BatchRequest[] = [];
    const rig = await batchRig(test, (request, context) => {
      groups.push(request);
      return embed(request, context);
    });
    rig.write(
      'in.jsonl',
      texts(25, (index) => ({ metadata: { row: index } })),
    );
    const prices = { '*': { in: 1_000_000, out: 0 } };
    const report = await rig.run({ ...options, prices, maxCost: 1_000 });
    expect(report).toMatchObject({ ok: 25, failed: 0, attempts: 3, inputTokens: 75 });
    expect(groups.map(({ members }) => members?.length)).toEqual([10, 10, 5]);
    expect(groups[0]?.body).toEqual({ model: 'm', input: texts(10).map(({ input }) => input) });
    const results = rig.results();
    expect(results).toHaveLength(25);
    for (const { custom_id, response, metadata, headgate } of results) {
      const row = Number(custom_id.slice(1));
      expect(metadata).toEqual({ row });
      expect(response?.body).toMatchObject({ data: [{ index: 0, embedding: [row] }] });
      expect(headgate).toMatchObject({ attempts: 1, usage: { input_tokens: 3 }, cost: 3 });
    }
    expect(report.cost?.spent).toBe(75);
    // Lines with a result are not sent again, grouped or not.
    expect(await rig.run({ ...options, groupSize: 1 })).toMatchObject({ doneBefore: 25, ok: 0 });
  });

  it('share the usage of their group by their length, with exact sums', async (test) => {
    const rig = await batchRig(test, async () => {
      const response = embedded(['a 0', 'a 1', 'a 2']);
      return { ...response, body: { ...Object(response.body), usage: { prompt_tokens: 1_001 } } };
    });
    rig.write('in.jsonl', [{ input: 'a' }, { input: 'word '.repeat(1_000) }, { input: 'a' }]);
    expect(await rig.run(options)).toMatchObject({ ok: 3, inputTokens: 1_001 });
    const used = rig.results().map(({ headgate }) => headgate.usage?.input_tokens ?? -1);
    expect(used[1]).toBeGreaterThan(960);
    expect(Math.min(...used)).toBeGreaterThan(0);
  });

  it('share the usage of a group of empty texts, too', async (test) => {
    const rig = await batchRig(test, async ({ members = [] }) => {
      const response = embedded(members.map(({ place }) => `empty ${place.split(':')[1]}`));
      return { ...response, body: { ...Object(response.body), usage: { prompt_tokens: 9 } } };
    });
    rig.write('in.jsonl', [{ input: '' }, { input: '' }, { input: '' }]);
    const prices = { '*': { in: 1_000_000, out: 0 } };
    const report = await rig.run({ ...options, prices });
    expect(report).toMatchObject({ ok: 3, inputTokens: 9, cost: { spent: 9 } });
    expect(rig.results().map(({ headgate }) => headgate.cost)).toEqual([3, 3, 3]);
  });

  it('share the tokens that came from a cache', async (test) => {
    const rig = await batchRig(test, async ({ members = [] }) => {
      const response = embedded(members.map((_, index) => `text ${index}`));
      const usage = { prompt_tokens: 30, prompt_tokens_details: { cached_tokens: 15 } };
      return { ...response, body: { ...Object(response.body), usage } };
    });
    rig.write('in.jsonl', texts(3));
    expect(await rig.run(options)).toMatchObject({ ok: 3, inputTokens: 30, cachedTokens: 15 });
  });

  it('with other models or options are in other groups, and lists of texts are not grouped', async (test) => {
    const rig = await batchRig(test, embed);
    rig.write('in.jsonl', [
      ...texts(6, (index) => ({ dimensions: index % 2 === 0 ? 8 : 16 })),
      { id: 'list', input: ['text 7', 'text 8'] },
    ]);
    expect(await rig.run(options)).toMatchObject({ ok: 7, attempts: 3 });
  });

  it('that fail because of one line are sent again in halves, until that line is alone', async (test) => {
    const rig = await batchRig(test, async (request, context) => {
      const isBad = JSON.stringify(request.body.input).includes('text 37"');
      return isBad ? refuse(400, 'too long') : embed(request, context);
    });
    rig.write('in.jsonl', texts(100));
    const report = await rig.run(options);
    expect(report).toMatchObject({ ok: 99, failed: 1, stop: undefined });
    expect(rig.results().filter(({ error }) => error !== null)).toMatchObject([
      { custom_id: 't37', error: { message: 'too long' } },
    ]);
    expect(rig.results()).toHaveLength(100);
    expect(report.attempts).toBeLessThanOrEqual(10 + 2 * 4);
  });

  it('are sent alone to a server that does not accept lists', async (test) => {
    const rig = await batchRig(test, async (request, context) =>
      Array.isArray(request.body.input) ? refuse(422, 'not a string') : embed(request, context),
    );
    rig.write('in.jsonl', texts(1_000));
    const report = await rig.run(options);
    expect(report).toMatchObject({ ok: 1_000, failed: 0 });
    expect(report.attempts).toBeLessThan(1_200);
  });

  it('are sent alone if the answer does not have one vector for each', async (test) => {
    const rig = await batchRig(test, async (request, context) =>
      Array.isArray(request.body.input)
        ? { statusCode: 200, body: { data: [{ index: 0, embedding: [0] }] } }
        : embed(request, context),
    );
    rig.write('in.jsonl', texts(20));
    expect(await rig.run(options)).toMatchObject({ ok: 20, failed: 0 });
    for (const { custom_id, response } of rig.results()) {
      const row = Number(custom_id.slice(1));
      expect(response?.body).toMatchObject({ data: [{ embedding: [row] }] });
    }
  });

  it('fail together if each would fail, and are retried together after 429s', async (test) => {
    let rejected = 0;
    const rig = await batchRig(test, async (request, context) => {
      if (rejected < 3) {
        rejected += 1;
        return { ...refuse(429, 'slow down'), headers: { 'retry-after': '0' } };
      }
      return request.members?.some(({ id }) => id === 't3')
        ? refuse(409, 'not now')
        : embed(request, context);
    });
    rig.write('in.jsonl', texts(20));
    const report = await rig.run({ ...options, maxAttempts: 4 });
    expect(report).toMatchObject({ ok: 10, failed: 10, rejected: 3 });
  });

  it('are in groups that take at most a share of the tokens of a minute', async (test) => {
    const sizes: number[] = [];
    const rig = await batchRig(test, (request, context) => {
      sizes.push(request.members?.length ?? 1);
      return embed(request, context);
    });
    // About 100 tokens each.
    const inputs = texts(8).map((line) => ({ ...line, input: `text 1 ${'word '.repeat(100)}` }));
    rig.write('in.jsonl', inputs);
    await rig.run({ ...options, tokensPerMinute: 2_000 });
    expect(Math.max(...sizes)).toBeGreaterThan(1);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(5);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(8);
  });

  it('that come slowly wait for others no longer than a second', async () => {
    vi.useFakeTimers();
    try {
      const groups = new RequestGroups({ maxItems: 100, maxTokens: 1_000 });
      const requests = groups.from(slowly(), new AbortController().signal);
      const next = requests.next();
      await vi.advanceTimersByTimeAsync(1_000);
      expect((await next).value.members).toHaveLength(3);
    } finally {
      vi.useRealTimers();
    }
  });
});

/** A source with three lines that never ends. */
async function* slowly(): AsyncGenerator<BatchRequest> {
  for (const { id, input } of texts(3)) {
    yield { id, url: '/v1/embeddings', body: { model: 'm', input }, place: 'stdin:1', hash: id };
  }
  await new Promise(() => {});
}
