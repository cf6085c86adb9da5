import { describe, expect, it } from 'vitest';
import {
  BadAnswerError,
  CallTimeoutError,
  ConnectionError,
} from '../../src/batch/http/failures.ts';
import type { BatchResponse, Send } from '../../src/batch/index.ts';
import { answer, batchRig, prompts } from './rig.ts';

const says = (statusCode: number, message: string, code?: string): BatchResponse => ({
  statusCode,
  body: { error: { message, ...(code && { code }) } },
});

const INVALID_KEY: BatchResponse = {
  statusCode: 400,
  body: {
    error: {
      code: 400,
      message: 'API key not valid',
      status: 'INVALID_ARGUMENT',
      details: [{ reason: 'API_KEY_INVALID', domain: 'googleapis.com' }],
    },
  },
};

const refused = () =>
  new ConnectionError('cannot reach http://x: connect ECONNREFUSED', 'ECONNREFUSED');
const reset = () => new ConnectionError('cannot reach http://x: socket hang up', 'ECONNRESET');

describe('answers that concern all requests', () => {
  it.for([
    ['a wrong key', says(401, 'Incorrect API key'), 'Incorrect API key. Check the key'],
    ['a wrong key of Google', INVALID_KEY, 'API key not valid. Check the key'],
    ['a used-up quota', says(429, 'exceeded', 'insufficient_quota'), 'exceeded'],
    ['an account without money', says(402, 'Payment required'), "Check the account's billing"],
    ['an unknown model', says(404, 'no model m'), 'no model m. Check --model and --base-url'],
    ['no permission', says(403, 'not for you'), 'not for you'],
  ] as const)(
    '%s stops the run, and leaves the rest for later',
    async ([, response, words], test) => {
      let isUp = false;
      const rig = await batchRig(test, async (request, context) =>
        isUp ? answer(request, context) : response,
      );
      rig.write('in.jsonl', prompts(500));
      const report = await rig.run({ concurrency: 4 });
      expect(report.stop).toMatchObject({ reason: 'refused' });
      expect(report.stop?.message).toContain(words);
      expect(rig.sent.length).toBeLessThan(20);
      expect(report).toMatchObject({ ok: 0, failed: 0, left: 500 });
      isUp = true;
      expect(await rig.run()).toMatchObject({ ok: 500, doneBefore: 0, stop: undefined });
    },
  );

  it.for([
    ['the body alone', { id: 'c-1', choices: [] }, 'an object with id, choices'],
    ['nothing', undefined, 'undefined'],
    ['a Response', new Response('{}'), 'an object'],
  ] as const)('%s of `send` stops the run, and names its shape', async ([, value, got], test) => {
    const rig = await batchRig(test, async () => value as unknown as BatchResponse);
    rig.write('in.jsonl', prompts(500));
    const report = await rig.run({ concurrency: 4 });
    expect(report.stop).toEqual({
      reason: 'refused',
      message: `\`send\` must resolve with { statusCode, headers, body }, got ${got}`,
    });
    expect(rig.sent.length).toBeLessThan(20);
    expect(report).toMatchObject({ ok: 0, failed: 0, left: 500 });
  });

  it.for([Number.NaN, 0, -1, 100, 200.5, 1_000])(
    'a `statusCode` of %s stops the run',
    async (statusCode, test) => {
      const rig = await batchRig(test, async (request, context) => ({
        ...(await answer(request, context)),
        statusCode,
      }));
      rig.write('in.jsonl', prompts(500));
      const report = await rig.run({ concurrency: 4 });
      expect(report).toMatchObject({ ok: 0, failed: 0, left: 500, stop: { reason: 'refused' } });
      expect(report.stop?.message).toContain(`an HTTP status as \`statusCode\`, got ${statusCode}`);
      expect(rig.sent.length).toBeLessThan(20);
    },
  );

  it.for([
    ['a promise', Promise.resolve({ choices: [{}] }), 'a promise: await it'],
    ['text', '{"choices":[{"message":{"content":"four"}}]}', 'JSON as text: parse it'],
  ] as const)(
    'a body that is %s stops the run, and says what to do',
    async ([, body, got], test) => {
      const rig = await batchRig(test, async () => ({ statusCode: 200, body }));
      rig.write('in.jsonl', prompts(500));
      const report = await rig.run({ concurrency: 4 });
      expect(report).toMatchObject({ ok: 0, failed: 0, left: 500, stop: { reason: 'refused' } });
      expect(report.stop?.message).toContain(got);
      expect(rig.sent.length).toBeLessThan(20);
    },
  );

  it('a `send` that throws, and one that returns no promise, are called all the same', async (test) => {
    const send = ({ id }: { readonly id: string }) => {
      if (id === 'p1') throw new TypeError('no such field');
      return { statusCode: 200, body: { choices: [{ message: { content: id } }] } };
    };
    const rig = await batchRig(test, send as unknown as Send);
    rig.write('in.jsonl', prompts(3));
    expect(await rig.run()).toMatchObject({
      ok: 2,
      failed: 1,
      errors: [{ kind: 'TypeError', message: 'no such field' }],
    });
  });

  it('stop a run that continues a successful one, too', async (test) => {
    let isWrong = false;
    const rig = await batchRig(test, async (request, context) =>
      isWrong ? says(404, 'no such path') : answer(request, context),
    );
    rig.write('in.jsonl', prompts(500));
    await rig.run({ limit: 3 });
    isWrong = true;
    const report = await rig.run({ concurrency: 4 });
    expect(report).toMatchObject({ doneBefore: 3, failed: 0, left: 497 });
    expect(report.stop).toMatchObject({ reason: 'refused' });
    expect(report.stop?.message).toContain('no such path. Check --model and --base-url');
    expect(rig.sent.length).toBeLessThan(20);
    expect(rig.results()).toHaveLength(3);
    isWrong = false;
    expect(await rig.run()).toMatchObject({ ok: 497, doneBefore: 3, stop: undefined });
  });

  it('fail only their lines near the end of a successful run', async (test) => {
    const rig = await batchRig(test, async (request, context) =>
      request.id > 'p5' ? says(404, 'no such file') : answer(request, context),
    );
    rig.write('in.jsonl', prompts(10));
    await rig.run({ limit: 6 });
    expect(await rig.run()).toMatchObject({ doneBefore: 6, failed: 4, left: 0, stop: undefined });
    expect(await rig.run({ retryFailed: true })).toMatchObject({ failed: 4, left: 0 });
  });

  it('fail only one request if others succeed', async (test) => {
    const rig = await batchRig(test, async (request, context) =>
      request.id === 'p7' ? says(404, 'no such file') : answer(request, context),
    );
    rig.write('in.jsonl', prompts(20));
    expect(await rig.run({ concurrency: 1 })).toMatchObject({ ok: 19, failed: 1, stop: undefined });
  });
});

describe('a server that is down', () => {
  it('is reported if it was never reached, with the tried address', async (test) => {
    const rig = await batchRig(test, () => Promise.reject(refused()));
    rig.write('in.jsonl', prompts(100));
    const report = await rig.run({ unreachableMs: 700 });
    expect(report.stop?.reason).toBe('unreachable');
    expect(report.stop?.message).toMatch(
      /^the server does not answer \(\d+ attempts?, the last: cannot reach http:\/\/x: connect ECONNREFUSED\)/,
    );
    expect(report).toMatchObject({ ok: 0, failed: 0, left: 100 });
    expect(rig.results()).toEqual([]);
  });

  it.for([
    ['refuses connections', refused],
    ['breaks connections', reset],
    ['hides behind a gateway', () => says(502, 'Bad gateway')],
    ['shows a page', () => new BadAnswerError('http://x', 200)],
  ] as const)(
    'in the middle is waited for where it %s, and nothing is lost',
    async ([, fail], test) => {
      let downUntil = Number.POSITIVE_INFINITY;
      let calls = 0;
      const rig = await batchRig(test, async (request, context) => {
        calls += 1;
        if (calls === 150) downUntil = Date.now() + 1_500;
        if (calls >= 150 && Date.now() < downUntil) {
          const failure = fail();
          if (failure instanceof Error) throw failure;
          return failure;
        }
        return answer(request, context);
      });
      rig.write('in.jsonl', prompts(400));
      const batch = rig.open({ concurrency: 8 });
      const running = batch.run();
      const states = new Set<boolean>();
      const timesLeft = new Set<number | undefined>();
      const timer = setInterval(() => {
        const { downForMs, etaMs } = batch.progress();
        states.add(downForMs > 0);
        if (downForMs > 0) timesLeft.add(etaMs);
      }, 50);
      const report = await running;
      clearInterval(timer);
      // Of those in flight as it went down, a few may have used up their attempts before it showed.
      expect(report.ok + report.failed).toBe(400);
      expect(report.failed).toBeLessThanOrEqual(1);
      expect(states.has(true)).toBe(true);
      expect([...timesLeft]).toEqual([undefined]);
    },
  );

  it('is given up after its bound, and the rest is left for later', async (test) => {
    let calls = 0;
    const rig = await batchRig(test, async (request, context) => {
      calls += 1;
      if (calls > 20) throw refused();
      return answer(request, context);
    });
    rig.write('in.jsonl', prompts(50));
    const report = await rig.run({ concurrency: 4, outageMs: 600 });
    expect(report.stop?.reason).toBe('outage');
    expect(report.stop?.message).toContain('the server has not answered for 1 s');
    expect(report).toMatchObject({ ok: 20, failed: 0, left: 30 });
  });
});

describe('requests that take too long', () => {
  it('fail after three attempts, however many fail in a row', async (test) => {
    const rig = await batchRig(test, async () => {
      throw new CallTimeoutError('no answer within 1 s');
    });
    rig.write('in.jsonl', prompts(4));
    const report = await rig.run({ random: () => 0 });
    expect(report).toMatchObject({ failed: 4, attempts: 12, stop: undefined });
    expect(report.errors).toMatchObject([{ kind: 'ETIMEDOUT', count: 4 }]);
  });

  it('that are not JSON fail one request if the server has answered others', async (test) => {
    const rig = await batchRig(test, async (request, context) => {
      if (request.id !== 'p3') return answer(request, context);
      throw new BadAnswerError('http://x', 200);
    });
    rig.write('in.jsonl', prompts(6));
    const report = await rig.run({ concurrency: 1, random: () => 0 });
    expect(report).toMatchObject({ ok: 5, failed: 1, attempts: 8, left: 0, stop: undefined });
  });
});

describe('a bound of the cost', () => {
  it('is never exceeded by spent and reserved money, over several runs', async (test) => {
    const rig = await batchRig(test);
    rig.write(
      'in.jsonl',
      prompts(100).map(({ id }) => ({ id, prompt: 'four'.repeat(100), max_tokens: 50 })),
    );
    // An answer costs 0.0002: 100 tokens in, 50 out.
    const options = { prices: { '*': { in: 1, out: 2 } }, concurrency: 8 };
    const first = await rig.run({ ...options, maxCost: 0.005 });
    expect(first.stop).toMatchObject({ reason: 'budget' });
    expect(first.stop?.message).toContain('--max-cost 0.005: raise it to go on');
    expect(first.cost?.spent).toBeLessThanOrEqual(0.005);
    expect(first.ok).toBeGreaterThan(15);
    const second = await rig.run({ ...options, maxCost: 0.005 });
    expect(second.ok).toBeLessThanOrEqual(2);
    const third = await rig.run({ ...options, maxCost: 1 });
    expect(third.ok + third.doneBefore).toBe(100);
    expect(third.cost?.spent).toBeCloseTo(0.02, 9);
  });
});

describe('requests whose cost is estimated far too high', () => {
  /** An answer costs 0.0002, and is estimated at 0.002 until the first answer. */
  const options = { prices: { '*': { in: 1, out: 2 } }, concurrency: 8 };

  it('wait for those in flight, and do not end the run', async (test) => {
    const rig = await batchRig(test, async (request, context) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      return answer(request, context);
    });
    rig.write('in.jsonl', prompts(40));
    const report = await rig.run({ ...options, maxCost: 0.0085 });
    expect(report).toMatchObject({ ok: 40, stop: undefined });
    expect(report.cost?.spent).toBeCloseTo(0.008, 9);
  });

  it('are estimated by the results of earlier runs', async (test) => {
    const rig = await batchRig(test);
    const prompt = 'four'.repeat(100);
    rig.write(
      'in.jsonl',
      prompts(40).map(({ id }) => ({ id, prompt })),
    );
    await rig.run({ ...options, limit: 5 });
    // The cost of 5 answers is left: half of the first estimate of one.
    const report = await rig.run({ ...options, maxCost: 0.002 });
    expect(report).toMatchObject({ doneBefore: 5, stop: { reason: 'budget' } });
    expect(report.ok).toBeGreaterThanOrEqual(4);
    expect(report.cost?.spent).toBeLessThanOrEqual(0.002);
  });

  it('are not awaited beyond their deadline', async (test) => {
    const rig = await batchRig(test, async (request, context) => {
      await new Promise((resolve) => setTimeout(resolve, 400));
      return answer(request, context);
    });
    rig.write('in.jsonl', prompts(3));
    const report = await rig.run({ ...options, maxCost: 0.0021, deadlineMs: 100, drainMs: 0 });
    expect(report.ok + report.failed + (report.left ?? 0)).toBe(3);
    expect(report.ok).toBe(0);
  });
});

describe('a run that is stopped', () => {
  it('lets requests in flight end, and sends nothing more', async (test) => {
    const stopping = new AbortController();
    const rig = await batchRig(test, async (request, context) => {
      if (rig.sent.length === 5) stopping.abort();
      await new Promise((resolve) => setTimeout(resolve, 50));
      return answer(request, context);
    });
    rig.write('in.jsonl', prompts(50));
    const report = await rig.run({ concurrency: 5, signal: stopping.signal });
    expect(report).toMatchObject({ ok: 5, left: 45, stop: { reason: 'interrupted' } });
    expect(rig.results()).toHaveLength(5);
  });

  it('aborts requests that take longer than the bound', async (test) => {
    const stopping = new AbortController();
    let aborted = 0;
    const rig = await batchRig(test, async (_request, { signal }) => {
      if (rig.sent.length === 3) stopping.abort();
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          aborted += 1;
          reject(signal.reason);
        });
      });
    });
    rig.write('in.jsonl', prompts(10));
    const options = { concurrency: 3, signal: stopping.signal, drainMs: 100 };
    expect(await rig.run(options)).toMatchObject({ ok: 0, failed: 0, left: 10 });
    expect(aborted).toBe(3);
  });
});

describe('429s', () => {
  it('are waited out, and are counted apart from failures', async (test) => {
    let arrived = 0;
    const rig = await batchRig(test, async (request, context) => {
      arrived += 1;
      if (arrived <= 30 || arrived > 33) return answer(request, context);
      return { ...says(429, 'slow down'), headers: { 'retry-after': '1' } };
    });
    rig.write('in.jsonl', prompts(60));
    const report = await rig.run();
    expect(report).toMatchObject({ ok: 60, failed: 0 });
    expect(report.rejected).toBe(3);
    expect(report.retried).toBe(report.rejected);
  });
});
