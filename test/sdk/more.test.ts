import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { expectIdle } from '../limiter/harness.ts';
import { until } from '../simulator/http/client.ts';
import { MORE_CLIENTS } from './more-clients.ts';
import { first, PROMPTS, start } from './rig.ts';

// Real time: a real SDK over real sockets knows no other.

/** A second request at a time is one too many for this server, and it says so. */
const ONE_AT_A_TIME = { concurrency: { units: 1, queue: 0, status: 429 } } as const;

describe.each(MORE_CLIENTS)('a call of %s in limiter.run', (_name, make, tellsUsage) => {
  it('holds its slot until its answer has come', async () => {
    await using rig = await start(ONE_AT_A_TIME, undefined, { concurrency: 1 });
    const call = make(rig.server.url);
    const answers = await Promise.all(
      PROMPTS.map((prompt) => rig.limiter.run((context) => call(prompt, context))),
    );
    // What the simulator says, wherever the SDK has it.
    for (const answer of answers)
      expect(inspect(answer, { depth: 9 })).toMatch(/[a-z]+( [a-z]+){7}/);
    expect(rig.provider.stats()).toMatchObject({ rejected: 0, peakInFlight: 1 });
    expectIdle(rig.limiter);
  });

  it.each([429, 503, 500])('is sent again after %d, by the limiter alone', async (status) => {
    await using rig = await start({}, first(2, { fault: 'status', status }));
    const call = make(rig.server.url);
    await Promise.all(PROMPTS.map((prompt) => rig.limiter.run((context) => call(prompt, context))));
    expect(rig.server.requests).toHaveLength(PROMPTS.length + 2);
    expect(rig.sent.attempts).toBe(PROMPTS.length + 2);
    if (status === 429) expect(rig.limiter.feedback.epoch).toBeGreaterThan(0);
    expectIdle(rig.limiter);
  });

  it.each([400, 403])('fails at once after %d', async (status) => {
    await using rig = await start({}, () => ({ fault: 'status', status }));
    const call = make(rig.server.url);
    await expect(rig.limiter.run((context) => call('hello', context))).rejects.toBeDefined();
    expect(rig.sent.attempts).toBe(1);
    expectIdle(rig.limiter);
  });

  it.runIf(tellsUsage)('is charged for the tokens that the server has counted', async () => {
    await using rig = await start({}, undefined, { tokensPerMinute: 100_000 });
    const call = make(rig.server.url);
    await rig.limiter.run((context) => call('hello', context));
    const { inputTokens, outputTokens } = rig.provider.stats();
    expect(rig.limiter.snapshot().tokensUsed).toBe(inputTokens + outputTokens);
  });

  it('ends at the server when it is aborted', async () => {
    await using rig = await start({}, () => ({ fault: 'hang' }));
    const call = make(rig.server.url);
    const controller = new AbortController();
    const { signal } = controller;
    const ended = rig.limiter.run((context) => call('hello', context), { signal });
    await until(() => rig.server.requests.length === 1);
    controller.abort(new Error('enough'));
    await expect(ended).rejects.toThrow('enough');
    await until(() => rig.server.requests[0]?.aborted === true);
    expectIdle(rig.limiter);
  });
});
