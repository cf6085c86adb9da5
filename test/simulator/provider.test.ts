import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { createProvider } from '../../src/simulator/provider.ts';
import type { ProviderOptions } from '../../src/simulator/provider-options.ts';
import {
  type ModelRequest,
  type ProviderAnswer,
  ProviderError,
} from '../../src/simulator/provider-types.ts';

const request: ModelRequest = { inputTokens: 10, maxTokens: 5 };
const window = { unit: 'requests', algorithm: 'sliding-window', windowMs: 1000 } as const;

function setUp(options: ProviderOptions = {}) {
  const clock = new ManualClock(1234);
  return { clock, provider: createProvider({ clock, ...options }) };
}

const statuses = (answers: readonly ProviderAnswer[]) => answers.map(({ status }) => status);

describe('answers', () => {
  it('says what was used, after its latency', async () => {
    const { clock, provider } = setUp({ latency: { meanMs: 100, sigma: 0, perOutputTokenMs: 10 } });
    const answer = provider.submit({ ...request, outputTokens: 3, bytes: 64 });
    expect(provider.stats()).toMatchObject({ accepted: 1, inFlight: 1, completed: 0, bytes: 64 });
    clock.advance(130);
    expect(await answer).toEqual({
      status: 200,
      kind: 'ok',
      usage: { inputTokens: 10, outputTokens: 3 },
      limits: [],
      latencyMs: 130,
    });
    expect(provider.stats()).toMatchObject({ inFlight: 0, completed: 1, outputTokens: 3 });
    expect(clock.pendingTimers).toBe(0);
  });

  it('is the same for the same seed', async () => {
    const run = async (seed: number) => {
      const { clock, provider } = setUp({ seed, latency: { meanMs: 3400 } });
      const answers = Array.from({ length: 20 }, () => provider.submit(request));
      clock.runAll();
      return (await Promise.all(answers)).map(({ latencyMs }) => latencyMs);
    };
    expect(await run(1)).toEqual(await run(1));
    expect(await run(1)).not.toEqual(await run(2));
  });

  it('rejects what a limit does not allow, late if asked to', async () => {
    const { clock, provider } = setUp({ limits: [{ ...window, limit: 1 }], rejectLatencyMs: 40 });
    await provider.submit(request);
    clock.advance(300);
    const rejected = provider.submit(request);
    clock.advance(40);
    expect(await rejected).toMatchObject({
      status: 429,
      kind: 'throttled',
      code: 'rate_limit_exceeded',
      limit: 'requests',
      retryAfterMs: 700,
      latencyMs: 40,
      limits: [{ name: 'requests', unit: 'requests', limit: 1, remaining: 0, resetMs: 700 }],
    });
    expect(provider.stats()).toMatchObject({ rejected: 1, rejectedBy: { requests: 1 } });
  });

  it('says nothing of waiting to a request that never fits', async () => {
    const limit = { unit: 'tokens', algorithm: 'fixed-window', limit: 14, windowMs: 1000 } as const;
    const { provider } = setUp({ limits: [limit] });
    const answer = await provider.submit(request);
    expect(answer.status).toBe(429);
    expect(answer.retryAfterMs).toBeUndefined();
  });

  it('refuses malformed requests', async () => {
    const { provider } = setUp();
    await expect(provider.submit({ inputTokens: -1, maxTokens: 1 })).rejects.toThrow(
      '`inputTokens`',
    );
    await expect(provider.submit({ ...request, outputTokens: 6 })).rejects.toThrow(
      'at most `maxTokens`',
    );
    expect(provider.stats().submitted).toBe(0);
  });
});

describe('retryAfter', () => {
  const told = async (retryAfter: NonNullable<ProviderOptions['retryAfter']>) => {
    const { provider } = setUp({ limits: [{ ...window, limit: 1 }], retryAfter });
    await provider.submit(request);
    const answers = await Promise.all(Array.from({ length: 50 }, () => provider.submit(request)));
    return answers.map(({ retryAfterMs }) => retryAfterMs);
  };

  it('is exact, missing, constant or misleading', async () => {
    expect(new Set(await told('exact'))).toEqual(new Set([1000]));
    expect(new Set(await told('none'))).toEqual(new Set([undefined]));
    expect(new Set(await told(20))).toEqual(new Set([20]));
    const misleading = (await told('misleading')).map((ms) => ms ?? Number.NaN);
    expect(Math.min(...misleading)).toBeLessThan(500);
    expect(Math.max(...misleading)).toBeGreaterThan(1500);
  });
});

describe('countRejected', () => {
  it('lets rejections take room in the window', async () => {
    const accepted = async (countRejected: boolean) => {
      const { clock, provider } = setUp({ limits: [{ ...window, limit: 5 }], countRejected });
      for (let tick = 0; tick < 500; tick++) {
        void provider.submit(request);
        clock.advance(20);
      }
      return provider.stats().accepted;
    };
    expect(await accepted(false)).toBe(50);
    expect(await accepted(true)).toBe(5);
  });

  it('tells when the next request will fit, that rejection counted', async () => {
    const { clock, provider } = setUp({ limits: [{ ...window, limit: 1 }], countRejected: true });
    await provider.submit(request);
    clock.advance(400);
    expect((await provider.submit(request)).retryAfterMs).toBe(1000);
    clock.advance(1000);
    expect((await provider.submit(request)).kind).toBe('ok');
  });
});

describe('concurrency', () => {
  const options: ProviderOptions = { concurrency: { units: 2, queue: 1 }, latency: 100 };

  it('serves in parallel, queues in order, and turns away beyond the queue', async () => {
    const { clock, provider } = setUp(options);
    const answers = [1, 2, 3, 4].map(() => provider.submit(request));
    expect(provider.stats()).toMatchObject({ inFlight: 3, peakInFlight: 3, queued: 1 });
    clock.runAll();
    const done = await Promise.all(answers);
    expect(statuses(done)).toEqual([200, 200, 200, 503]);
    expect(done.map(({ latencyMs }) => latencyMs)).toEqual([100, 100, 200, 0]);
    expect(done[3]?.kind).toBe('overloaded');
    expect(provider.stats().rejectedBy).toEqual({ concurrency: 1 });
  });

  it('charges no limit for a request that finds the queue full', async () => {
    const { clock, provider } = setUp({ ...options, limits: [{ ...window, limit: 4 }] });
    for (let sent = 0; sent < 10; sent++) void provider.submit(request);
    clock.advance(100);
    expect(await provider.submit({ ...request, signal: AbortSignal.abort() }).catch(() => 0)).toBe(
      0,
    );
    const answer = provider.submit(request);
    clock.advance(200);
    expect((await answer).limits[0]?.remaining).toBe(0);
    expect((await answer).kind).toBe('ok');
  });

  it('frees the unit of an aborted request, and its place in the queue', async () => {
    const { clock, provider } = setUp(options);
    const controllers = [1, 2, 3].map(() => new AbortController());
    const ends = controllers.map(({ signal }) =>
      provider.submit({ ...request, signal }).then(
        () => 'ok',
        (error: Error) => error.message,
      ),
    );
    controllers[2]?.abort(new Error('left the queue'));
    expect(provider.stats()).toMatchObject({ inFlight: 2, queued: 0, aborted: 1 });
    const next = provider.submit(request);
    clock.advance(50);
    controllers[0]?.abort(new Error('left its unit'));
    expect(provider.stats()).toMatchObject({ inFlight: 2, queued: 0, aborted: 2 });
    clock.runAll();
    expect((await next).latencyMs).toBe(150);
    expect(await Promise.all(ends)).toEqual(['left its unit', 'ok', 'left the queue']);
    expect(provider.stats()).toMatchObject({ inFlight: 0, completed: 2 });
  });

  it('holds nothing and has no timer when all is over, whatever happens', async () => {
    const steps = fc.array(fc.record({ gapMs: fc.nat(60), abortMs: fc.option(fc.nat(300)) }), {
      maxLength: 40,
    });
    await fc.assert(
      fc.asyncProperty(steps, fc.nat(), async (script, seed) => {
        const { clock, provider } = setUp({
          ...options,
          seed,
          latency: { meanMs: 100 },
          rejectLatencyMs: 20,
          failures: [
            { fault: 'error', probability: 0.2 },
            { fault: 'reset', probability: 0.2 },
          ],
          limits: [{ ...window, limit: 8 }],
        });
        const ends: Promise<unknown>[] = [];
        for (const { gapMs, abortMs } of script) {
          clock.advance(gapMs);
          const controller = new AbortController();
          ends.push(provider.submit({ ...request, signal: controller.signal }).catch(() => 0));
          if (abortMs !== null) clock.setTimer(() => controller.abort(), abortMs);
          const { inFlight, queued } = provider.stats();
          expect(inFlight - queued).toBeLessThanOrEqual(2);
          expect(queued).toBeLessThanOrEqual(1);
        }
        clock.runAll();
        await Promise.all(ends);
        const { submitted, completed, failed, aborted, rejected, inFlight } = provider.stats();
        expect(inFlight).toBe(0);
        expect(completed + failed + aborted + rejected).toBe(submitted);
        expect(clock.pendingTimers).toBe(0);
      }),
      { numRuns: 50 },
    );
  });
});

describe('what goes wrong', () => {
  it('answers nobody in a storm, and needs no Retry-After', async () => {
    const { clock, provider } = setUp({
      limits: [{ ...window, limit: 10 }],
      storms: [
        { fromMs: 1000, toMs: 2000 },
        { fromMs: 3000, toMs: 4000, status: 429, retryAfterMs: 250 },
      ],
    });
    const seen: unknown[] = [];
    for (const ms of [999, 1, 999, 1, 1000, 1000]) {
      clock.advance(ms);
      const { status, kind, retryAfterMs } = await provider.submit(request);
      seen.push([status, kind, retryAfterMs]);
    }
    expect(seen).toEqual([
      [200, 'ok', undefined],
      [503, 'overloaded', undefined],
      [503, 'overloaded', undefined],
      [200, 'ok', undefined],
      [429, 'throttled', 250],
      [200, 'ok', undefined],
    ]);
    expect(provider.stats().capacity.requests).toBeCloseTo(20, 9);
  });

  it('fails by chance as often as it was told to', async () => {
    const { clock, provider } = setUp({
      failures: [
        { fault: 'error', probability: 0.2, status: 502 },
        { fault: 'reset', probability: 0.1 },
        { fault: 'hang', probability: 0.1 },
      ],
    });
    const counts = new Map<number, number>();
    for (let sent = 0; sent < 5000; sent++) {
      void provider.submit(request).then(({ status }) => {
        counts.set(status, (counts.get(status) ?? 0) + 1);
      });
    }
    await clock.advanceAsync(0);
    expect(Math.abs((counts.get(502) ?? 0) - 1000)).toBeLessThan(100);
    expect(Math.abs((counts.get(0) ?? 0) - 500)).toBeLessThan(80);
    expect(Math.abs(provider.stats().inFlight - 500)).toBeLessThan(80);
  });

  it('ends a hanging request by its signal', async () => {
    const { provider } = setUp({ failures: [{ fault: 'hang', probability: 1 }] });
    const controller = new AbortController();
    const answer = provider.submit({ ...request, signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(answer).rejects.toThrow('enough');
    expect(provider.stats()).toMatchObject({ aborted: 1, inFlight: 0 });
  });

  it('is out of quota for good', async () => {
    const { provider } = setUp({ quota: { tokens: 20 } });
    const answers = [1, 2, 3].map(() => provider.submit(request));
    const [, , last] = await Promise.all(answers);
    expect(last).toMatchObject({ status: 429, kind: 'fatal', code: 'insufficient_quota' });
    expect(last?.retryAfterMs).toBeUndefined();
  });

  it('lets in whoever has a key', async () => {
    const { provider } = setUp({ apiKeys: ['good'], limits: [{ ...window, limit: 1 }] });
    const wrong = await provider.submit({ ...request, apiKey: 'bad' });
    expect(wrong).toMatchObject({
      status: 401,
      kind: 'fatal',
      code: 'invalid_api_key',
      limits: [],
    });
    expect((await provider.submit({ ...request, apiKey: 'good' })).kind).toBe('ok');
    expect([undefined, 'bad', 'good'].map((key) => provider.authorises(key))).toEqual([
      false,
      false,
      true,
    ]);
  });
});

describe('submitOrThrow', () => {
  it('throws what client libraries throw', async () => {
    const { provider } = setUp({ limits: [{ ...window, limit: 1 }] });
    const { headers } = await provider.submitOrThrow(request);
    expect(headers).toEqual({
      'x-ratelimit-limit-requests': '1',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '1s',
    });
    const error = await provider.submitOrThrow(request).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ProviderError);
    expect(error).toMatchObject({
      status: 429,
      code: 'rate_limit_exceeded',
      message: '429 Rate limit reached for requests.',
      headers: { 'retry-after': '1', 'retry-after-ms': '1000', 'x-ratelimit-limit-requests': '1' },
    });
  });

  it('has a code and no status when the connection broke', async () => {
    const { provider } = setUp({ failures: [{ fault: 'reset', probability: 1 }] });
    const error = await provider.submitOrThrow(request).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ status: undefined, code: 'ECONNRESET', headers: {} });
  });
});

describe('stats', () => {
  it('integrates what the limits allowed, and counts by the second', async () => {
    const { clock, provider } = setUp({
      limits: [{ unit: 'requests', algorithm: 'token-bucket', limit: 100, windowMs: 10_000 }],
      capacity: [
        { atMs: 200_000, factor: 0.5 },
        { atMs: 400_000, factor: 1 },
      ],
    });
    for (let tick = 0; tick < 6000; tick++) {
      void provider.submit(request);
      clock.advance(100);
    }
    const { capacity, series, accepted } = provider.stats();
    expect(capacity).toEqual({ requests: 5000, tokens: Number.POSITIVE_INFINITY });
    expect(accepted - capacity.requests).toBeLessThanOrEqual(101);
    expect(accepted).toBeGreaterThanOrEqual(4999);
    expect(series.accepted[0]).toBe(10);
    expect(series.accepted[300]).toBe(5);
    expect(series.rejected[300]).toBe(5);
  });

  it('takes units for capacity when nothing else limits requests', async () => {
    const { clock, provider } = setUp({ concurrency: { units: 32 }, latency: 1000 });
    for (let sent = 0; sent < 320; sent++) void provider.submit(request);
    clock.advance(10_000);
    expect(provider.stats()).toMatchObject({ completed: 320, capacity: { requests: 320 } });
  });
});

describe('options', () => {
  const wrong: [object, string][] = [
    [{ seed: -1 }, '`seed` must be an integer >= 0, got -1'],
    [{ latency: -1 }, '`latency`'],
    [{ latency: { meanMs: Number.NaN } }, '`latency.meanMs`'],
    [{ latency: { mean: 3 } }, '`mean` is no option of latency'],
    [{ rejectLatencyMs: Number.POSITIVE_INFINITY }, '`rejectLatencyMs`'],
    [{ concurrency: { units: 0 } }, '`concurrency.units`'],
    [{ concurrency: { units: 1, queue: -1 } }, '`concurrency.queue`'],
    [
      { concurrency: { units: 1, status: 500 } },
      '`concurrency.status` must be one of 429, 503, 529',
    ],
    [{ storms: [{ fromMs: 5, toMs: 4 }] }, '`storms[0].toMs` must be a finite number >= 5, got 4'],
    [{ capacity: [{ atMs: 0, factor: -1 }] }, '`capacity[0].factor`'],
    [{ retryAfter: 'sometimes' }, '`retryAfter`'],
    [{ retryAfter: Number.NaN }, '`retryAfter`'],
    [{ failures: [{ fault: 'error', probability: 1.1 }] }, '`failures`'],
    [{ failures: [{ fault: 'error', probability: 0.1, status: 700 }] }, '`failures[0].status`'],
    [{ quota: { tokens: 1.5 } }, '`quota.tokens`'],
    [{ apiKeys: [''] }, '`apiKeys`'],
    [{ countRejected: 'yes' }, '`countRejected`'],
    [{ failures: { errorRate: 0.1 } }, '`failures` must be an array, got an object'],
    [{ storms: { fromMs: 1, toMs: 2 } }, '`storms` must be an array, got an object'],
    [{ apiKeys: 'sk-1' }, '`apiKeys` must be an array, got "sk-1"'],
    [{ capacity: 0.5 }, '`capacity` must be an array or a function, got 0.5'],
    [{ clock: {} }, '`clock.now` must be a function, got undefined'],
    [{ limit: 3 }, '`limit` is no option of createProvider'],
  ];

  it.each(wrong)('refuses %j', (options, message) => {
    expect(() => createProvider(options)).toThrow(message);
  });
});
