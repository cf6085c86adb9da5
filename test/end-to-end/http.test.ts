import { range } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import { type AttemptContext, createLimiter, type Outcome } from '../../src/index.ts';
import {
  createProvider,
  type ProviderOptions,
  type ProviderServer,
  serve,
} from '../../src/simulator/index.ts';
import { type Clock, systemClock } from '../../src/util/clock.ts';
import { expectIdle } from '../limiter/harness.ts';

// Real time: a real HTTP client and server know no other.

const servers: ProviderServer[] = [];

/**
 * Real time, which begins when it is read for the first request: until then it may take any time.
 */
function clockOfRequests() {
  let startedAt: number | undefined;
  let isOpen = false;
  const now = () => {
    if (isOpen) startedAt ??= systemClock.now();
    return startedAt === undefined ? 0 : systemClock.now() - startedAt;
  };
  const clock: Clock = { now, setTimer: systemClock.setTimer };
  const open = () => {
    isOpen = true;
  };
  return { clock, open };
}

async function start(options: ProviderOptions) {
  const { clock, open } = clockOfRequests();
  const provider = createProvider({ clock, latency: { meanMs: 20, sigma: 0.3 }, ...options });
  const server = await serve(provider, { output: { mean: 5 } });
  servers.push(server);
  open();
  const post = (index: number, stream: boolean, signal: AbortSignal) =>
    fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'm',
        max_tokens: 10,
        stream,
        messages: [{ role: 'user', content: `question ${index}` }],
      }),
      signal,
    });
  return { provider, server, post };
}

/** Sends `count` requests through a limiter and waits until all have ended. */
function sendAll<R>(
  count: number,
  limiter: ReturnType<typeof createLimiter>,
  send: (index: number, context: AttemptContext) => Promise<R>,
): Promise<Outcome<number, R>[]> {
  return new Promise((resolve, reject) => {
    const outcomes: Outcome<number, R>[] = [];
    range(0, count)
      .pipe(limiter.throttle(send, { outcomes: true }))
      .subscribe({
        next: (outcome) => outcomes.push(outcome),
        error: reject,
        complete: () => resolve(outcomes),
      });
  });
}

/** The first requests fall into it. */
const FIRST_STORM = { fromMs: 0, toMs: 1_500, status: 429 } as const;

const QUICK = { backoffMs: 50, throttledForMs: 100 };

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

describe('over HTTP', () => {
  it('hundreds of whole answers come through storms of 429, once each', async () => {
    const { provider, post } = await start({
      limits: [{ unit: 'requests', algorithm: 'token-bucket', limit: 60, windowMs: 200 }],
      storms: [FIRST_STORM, { fromMs: 1000, toMs: 1200, status: 429 }],
      retryAfter: 100,
    });
    const limiter = createLimiter({ backoff: QUICK, concurrency: 100 });
    const outcomes = await sendAll(400, limiter, async (index, { signal }) => {
      // The response itself is the value where it says no; the text where it is good.
      const response = await post(index, false, signal);
      return response.ok ? ((await response.json()) as { object: string }) : response;
    });
    expect(outcomes.map(({ request }) => request).toSorted((a, b) => a - b)).toEqual([
      ...Array(400).keys(),
    ]);
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: 'ok', value: { object: 'chat.completion' } });
    }
    const stats = provider.stats();
    expect(stats.completed).toBe(400);
    expect(stats.rejected).toBeGreaterThan(0);
    expect(stats.submitted).toBe(stats.completed + stats.rejected);
    expectIdle(limiter);
  });

  it('hundreds of streamed answers come through, once each and whole', async () => {
    const { provider, post } = await start({
      limits: [{ unit: 'requests', algorithm: 'token-bucket', limit: 60, windowMs: 200 }],
      storms: [FIRST_STORM],
      retryAfter: 100,
    });
    const limiter = createLimiter({ backoff: QUICK, concurrency: 100 });
    const outcomes = await sendAll(300, limiter, async (index, { signal }) => {
      const response = await post(index, true, signal);
      return response.ok ? response.text() : response;
    });
    expect(outcomes.length).toBe(300);
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: 'ok', value: expect.stringMatching(/\[DONE\]\s*$/) });
    }
    expect(provider.stats().completed).toBe(300);
    expect(provider.stats().rejected).toBeGreaterThan(0);
    expectIdle(limiter);
  });

  it('answers whose connection is dropped are fetched again', async () => {
    const { provider, post } = await start({ failures: [{ fault: 'reset', probability: 0.15 }] });
    const limiter = createLimiter({ concurrency: 50 });
    const outcomes = await sendAll(200, limiter, async (index, { signal }) => {
      const response = await post(index, index % 2 === 0, signal);
      return response.text();
    });
    expect(new Set(outcomes.map(({ request }) => request)).size).toBe(200);
    const good = outcomes.filter(({ status }) => status === 'ok').length;
    const attempts = outcomes.reduce((sum, { stats }) => sum + stats.attempts, 0);
    expect(provider.stats()).toMatchObject({ completed: good, submitted: attempts });
    expect(provider.stats().failed).toBeGreaterThan(10);
    // 0.15 to the third is 1 in 300.
    expect(good).toBeGreaterThan(190);
    expectIdle(limiter);
  });

  it('an abort ends the request at the server', async () => {
    const { provider, server, post } = await start({
      failures: [{ fault: 'hang', probability: 1 }],
    });
    const limiter = createLimiter({ concurrency: 3 });
    const subscription = range(0, 9)
      .pipe(limiter.throttle((index, { signal }) => post(index, false, signal)))
      .subscribe();
    const controller = new AbortController();
    const ran = limiter.run(({ signal }) => post(9, false, signal), { signal: controller.signal });
    await expect.poll(() => provider.stats().inFlight).toBe(3);
    subscription.unsubscribe();
    await expect.poll(() => provider.stats()).toMatchObject({ inFlight: 1, aborted: 3 });
    controller.abort(new Error('enough'));
    await expect(ran).rejects.toThrow('enough');
    await expect.poll(() => provider.stats()).toMatchObject({ inFlight: 0, aborted: 4 });
    expect(server.requests.map(({ aborted }) => aborted)).toEqual([true, true, true, true]);
    expectIdle(limiter);
  });
});
