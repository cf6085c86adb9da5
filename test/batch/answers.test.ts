import { describe, expect, it } from 'vitest';
import { ConnectionError } from '../../src/batch/http/failures.ts';
import type { BatchResponse } from '../../src/batch/index.ts';
import { answer, batchRig, prompts } from './rig.ts';

/** Deeply nested lists, which can be parsed but not written. */
const deep = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));
const LEVELS = 20_000;

describe('a response without an answer fails its line', () => {
  it.for<[name: string, response: BatchResponse, code: string, message: string]>([
    [
      'an error with status 200',
      { statusCode: 200, body: { error: { message: 'overloaded', code: 'busy' } } },
      '200 busy',
      'overloaded',
    ],
    [
      'one that asks to be sent again',
      { statusCode: 200, body: { error: { message: 'slow down', code: 'rate_limit_exceeded' } } },
      '200 rate_limit_exceeded',
      'slow down',
    ],
    ['a text', { statusCode: 200, body: { error: 'no model', choices: [] } }, '200', 'no model'],
    ['null', { statusCode: 200, body: null }, '200', 'HTTP 200 with null, which is no answer'],
    ['a list', { statusCode: 200, body: [] }, '200', 'HTTP 200 with a list, which is no answer'],
    [
      'a redirect',
      { statusCode: 308, headers: { location: 'https://x/v1' }, body: { message: 'moved' } },
      '308',
      'HTTP 308, a redirect to https://x/v1, which is not followed',
    ],
    [
      'a redirect that repeats the query of the request',
      { statusCode: 301, headers: { location: 'https://x/v1?key=secret' }, body: null },
      '301',
      'HTTP 301, a redirect to https://x/v1, which is not followed',
    ],
  ])('%s', async ([_name, response, code, message], test) => {
    const rig = await batchRig(test, async (request, context) =>
      request.id === 'p1' ? response : answer(request, context),
    );
    rig.write('in.jsonl', prompts(3));
    const report = await rig.run({ concurrency: 1 });
    expect(report).toMatchObject({ ok: 2, failed: 1, attempts: 3, stop: undefined });
    expect(rig.results()[1]).toMatchObject({ error: { code, message } });
    // Without any success, the lines are not the cause.
    const none = await batchRig(test, async () => response);
    none.write('in.jsonl', prompts(30));
    const stopped = await none.run({ concurrency: 1 });
    expect(stopped).toMatchObject({ failed: 0, left: 30, stop: { reason: 'refused' } });
    expect(stopped.stop?.message).toContain(message);
  });

  it.for<[name: string, body: unknown]>([
    ['a 429', { error: { message: 'Provider returned error', code: 429 } }],
    ['a 502, in text', { error: { message: 'Provider returned error', code: '502' } }],
    [
      'a 503 in its choice',
      { choices: [{ message: { content: '' }, error: { message: 'down', code: 503 } }] },
    ],
    [
      'a 429 beside an empty message',
      { choices: [{ message: { content: null } }], error: { message: 'slow down', code: 429 } },
    ],
  ])('and is sent again if its error states %s', async ([_name, body], test) => {
    const rig = await batchRig(test, async (request, context) =>
      request.id === 'p1' && context.attempt === 1
        ? { statusCode: 200, body }
        : answer(request, context),
    );
    rig.write('in.jsonl', prompts(3));
    const report = await rig.run({ concurrency: 1 });
    expect(report).toMatchObject({ ok: 3, failed: 0, attempts: 4 });
  });

  it('and is not sent again if its error states a 400', async (test) => {
    const body = { error: { message: 'too long', code: 400 } };
    const rig = await batchRig(test, async (request, context) =>
      request.id === 'p1' ? { statusCode: 200, body } : answer(request, context),
    );
    rig.write('in.jsonl', prompts(3));
    const report = await rig.run({ concurrency: 1 });
    expect(report).toMatchObject({ ok: 2, failed: 1, attempts: 3, stop: undefined });
  });

  it('but not if there are results besides the error', async (test) => {
    const body = { error: { message: 'cut' }, output: [{ content: [{ text: 'a' }] }] };
    const rig = await batchRig(test, async () => ({ statusCode: 200, body }));
    rig.write('in.jsonl', prompts(1));
    expect(await rig.run()).toMatchObject({ ok: 1, failed: 0 });
  });
});

describe('a failure before the first success', () => {
  const gone = { statusCode: 404, body: { error: { message: 'no such model' } } };

  it('fails only its line if another line succeeds', async (test) => {
    const rig = await batchRig(test, async (request, context) =>
      ['p0', 'p1'].includes(request.id) ? gone : answer(request, context),
    );
    rig.write('in.jsonl', prompts(20));
    const report = await rig.run({ concurrency: 1 });
    expect(report).toMatchObject({ ok: 18, failed: 2, stop: undefined });
    expect(rig.results()).toHaveLength(20);
  });

  it('stops a run of few lines too', async (test) => {
    const rig = await batchRig(test, async () => gone);
    rig.write('in.jsonl', prompts(1));
    expect(await rig.run()).toMatchObject({ failed: 0, left: 1, stop: { reason: 'refused' } });
  });
});

it('a thrown value that cannot be converted to text fails its line', async (test) => {
  const rig = await batchRig(test, () => Promise.reject(Object.create(null)));
  rig.write('in.jsonl', prompts(1));
  expect(await rig.run()).toMatchObject({ failed: 1, left: 0, stop: undefined });
});

describe('an answer that cannot be kept fails its line', () => {
  it('if it is nested too deeply to be written', async (test) => {
    const rig = await batchRig(test, async (request, context) =>
      request.id === 'p1'
        ? { statusCode: 200, body: { choices: [deep(LEVELS)] } }
        : answer(request, context),
    );
    rig.write('in.jsonl', prompts(3));
    expect(await rig.run()).toMatchObject({ ok: 2, failed: 1, stop: undefined });
    const error = { code: 'ANSWER_TOO_DEEP' };
    expect(rig.results()).toContainEqual(
      expect.objectContaining({ custom_id: 'p1', error: expect.objectContaining(error) }),
    );
  });

  it('if `send` resolves with a value that JSON cannot represent', async (test) => {
    const circle: Record<string, unknown> = {};
    circle.choices = [circle];
    const bodies: Record<string, unknown> = { p0: { choices: [1n] }, p1: circle };
    const rig = await batchRig(test, async (request, context) =>
      request.id in bodies
        ? { statusCode: 200, body: bodies[request.id] }
        : answer(request, context),
    );
    rig.write('in.jsonl', prompts(3));
    const report = await rig.run();
    expect(report).toMatchObject({ ok: 1, failed: 2, left: 0, stop: undefined });
    expect(report.errors).toMatchObject([{ kind: 'ANSWER_NOT_JSON', count: 2 }]);
    expect(rig.results()).toHaveLength(3);
  });

  it('if its line would be too long to be read again', async (test) => {
    const content = 'x'.repeat(64 * 1024 * 1024);
    const rig = await batchRig(test, async (request, context) =>
      request.id === 'p1'
        ? { statusCode: 200, body: { choices: [{ message: { content } }] } }
        : answer(request, context),
    );
    rig.write('in.jsonl', prompts(3));
    expect(await rig.run()).toMatchObject({ ok: 2, failed: 1 });
    expect(await rig.run()).toMatchObject({ doneBefore: 2, failedBefore: 1, stop: undefined });
  });
});

it('a line that is nested too deeply is reported by its number', async (test) => {
  const rig = await batchRig(test);
  const nested = '['.repeat(LEVELS) + ']'.repeat(LEVELS);
  for (const field of ['input', 'metadata']) {
    const value = field === 'input' ? nested : `{"a": ${nested}}`;
    rig.write('in.jsonl', `{"prompt": "a"}\n{"prompt": "b", "${field}": ${value}}\n`);
    await expect(rig.run()).rejects.toThrow('in.jsonl:2: the line is nested too deeply');
  }
});

it('a refused certificate stops the run, and fails no line', async (test) => {
  const rig = await batchRig(test, async () => {
    const code = 'DEPTH_ZERO_SELF_SIGNED_CERT';
    throw new ConnectionError('cannot reach https://x: self-signed certificate', code);
  });
  rig.write('in.jsonl', prompts(50));
  const report = await rig.run();
  expect(report).toMatchObject({ failed: 0, left: 50, stop: { reason: 'unreachable' } });
  expect(report.stop?.message).toContain('self-signed certificate. Check --base-url; NODE_EXTRA');
});
