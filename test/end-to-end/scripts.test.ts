import fc from 'fast-check';
import { Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { type AttemptContext, createLimiter, type Outcome } from '../../src/index.ts';
import { createProvider, ManualClock, seededRandom } from '../../src/simulator/index.ts';
import { expectIdle } from '../limiter/harness.ts';
import { watch } from '../request/harness.ts';
import { runs } from '../support/runs.ts';

const storm = fc
  .record({
    fromMs: fc.nat(8000),
    lastsMs: fc.nat(5000),
    status: fc.constantFrom(429, 500, 502, 503, 529 as const),
    retryAfterMs: fc.option(fc.integer({ min: 1, max: 90_000 }), { nil: undefined }),
  })
  .map(({ lastsMs, retryAfterMs, ...rest }) => ({
    ...rest,
    toMs: rest.fromMs + lastsMs,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  }));

const script = fc.record({
  seed: fc.nat(),
  storms: fc.array(storm, { maxLength: 3 }),
  limit: fc.integer({ min: 5, max: 100 }),
  errors: fc.constantFrom(0, 0.1, 0.3),
  errorStatus: fc.constantFrom(400, 409, 429, 500, 503),
  resets: fc.constantFrom(0, 0.2),
  hangs: fc.constantFrom(0, 0, 0.05),
  concurrency: fc.integer({ min: 1, max: 30 }),
  reopen: fc.constantFrom('probe' as const, 'all' as const),
  ordered: fc.boolean(),
  streams: fc.integer({ min: 1, max: 3 }),
  requests: fc.integer({ min: 0, max: 60 }),
  leaveAtMs: fc.option(fc.nat(15_000), { nil: undefined }),
});

type Script = typeof script extends fc.Arbitrary<infer S> ? S : never;

async function play(each: Script): Promise<void> {
  const clock = new ManualClock();
  const { errors, errorStatus, resets, hangs, limit, seed, storms } = each;
  const provider = createProvider({
    clock,
    seed,
    storms,
    limits: [{ unit: 'requests', algorithm: 'sliding-window', limit, windowMs: 1000 }],
    latency: { meanMs: 200, sigma: 0.5 },
    rejectLatencyMs: seed % 2 === 0 ? 0 : 30,
    retryAfter: seed % 3 === 0 ? 'misleading' : seed % 3 === 1 ? 'none' : 'exact',
    failures: [
      { fault: 'error', probability: errors, status: errorStatus },
      { fault: 'reset', probability: resets },
      { fault: 'hang', probability: hangs },
    ],
  });
  const { concurrency, reopen } = each;
  const random = seededRandom(seed);
  const limiter = createLimiter({ clock, concurrency, random, backoff: { reopen } });
  let answers = 0;
  const send = async (_: number, { signal }: AttemptContext) => {
    await provider.submitOrThrow({ inputTokens: 1, maxTokens: 1, signal });
    answers += 1;
  };
  const streams = Array.from({ length: each.streams }, () => {
    const source = new Subject<number>();
    const results = source.pipe(limiter.throttle(send, { outcomes: true, ordered: each.ordered }));
    return { source, seen: watch<Outcome<number, void>>(results) };
  });
  for (let index = 0; index < each.requests; index += 1) {
    for (const { source } of streams) source.next(index);
    if (random() < 0.2) await clock.advanceAsync(Math.floor(random() * 200));
    const { inFlight } = limiter.snapshot().concurrency;
    expect(inFlight).toBeLessThanOrEqual(concurrency);
  }
  for (const { source } of streams) source.complete();
  if (each.leaveAtMs !== undefined) {
    await clock.advanceAsync(each.leaveAtMs);
    streams[0]?.seen.subscription.unsubscribe();
  }
  await clock.advanceAsync(3_600_000);
  const hung = provider.stats().inFlight > 0;
  for (const { seen } of streams) {
    const ended = seen.values.map(({ request }) => request);
    expect(new Set(ended).size).toBe(ended.length);
    if (!hung && !seen.subscription.closed) expect(seen.state).toBe('complete');
    if (seen.state === 'complete') {
      const all = Array.from({ length: each.requests }, (_, index) => index);
      expect(each.ordered ? ended : ended.toSorted((a, b) => a - b)).toEqual(all);
    }
  }
  const good = streams.flatMap(({ seen }) => seen.values.filter(({ status }) => status === 'ok'));
  expect(good.length).toBeLessThanOrEqual(answers);
  for (const { seen } of streams) seen.subscription.unsubscribe();
  await clock.advanceAsync(3_600_000);
  expectIdle(limiter);
  expect(provider.stats().inFlight).toBe(0);
  expect(answers).toBe(provider.stats().completed);
  expect(clock.pendingTimers).toBe(0);
}

describe('in any weather', () => {
  it('each request ends once, and nothing is held afterwards', async () => {
    await fc.assert(fc.asyncProperty(script, play), { numRuns: runs(60) });
  });
});
