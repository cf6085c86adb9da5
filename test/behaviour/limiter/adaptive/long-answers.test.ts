import { concat, NEVER, Observable, of } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { type AttemptContext, createLimiter, type LimiterOptions } from '../../../../src/index.ts';
import {
  createProvider,
  ManualClock,
  type ProviderOptions,
  seededRandom,
} from '../../../../src/simulator/index.ts';
import { limit, type Rate } from '../../../limiter/adaptive/world.ts';

const REQUEST = { inputTokens: 1, maxTokens: 1, outputTokens: 1 };

interface Setting {
  readonly headers: NonNullable<ProviderOptions['headers']>;
  readonly algorithm: Rate;
  readonly perMinute: number;
  /** How long an answer goes on after its headers. */
  readonly streamMs: number;
  /** How the limiter gets the headers: by the first value of a stream, or by `observe`. */
  readonly by: 'value' | 'observe';
}

/** Sends without end. Headers come after a second. */
function send({ headers, algorithm, perMinute, streamMs, by }: Setting, concurrency: number) {
  const clock = new ManualClock();
  const limits = [limit(algorithm, perMinute, 60_000)];
  const rejections = { rejectLatencyMs: 50, retryAfter: 'exact' } as const;
  const provider = createProvider({ clock, headers, limits, latency: 1_000, ...rejections });
  const limiter = createLimiter({ concurrency, clock, random: seededRandom(1) });
  const seen = { sent: 0, begun: 0 };
  const begin = async () => {
    seen.sent += 1;
    const answer = await provider.submitOrThrow(REQUEST);
    seen.begun += 1;
    return answer;
  };
  const rest = () => new Promise<void>((done) => clock.setTimer(done, streamMs));
  const stream = () =>
    new Observable<unknown>((out) => {
      const end = () => out.complete();
      begin().then(
        (answer) => {
          out.next(answer);
          rest().then(end);
        },
        (error) => out.error(error),
      );
    });
  const read = async (_: unknown, { observe }: AttemptContext) => {
    observe({ ...(await begin()), status: 200 });
    await rest();
  };
  const numbers = function* () {
    for (let n = 0; ; n += 1) yield n;
  };
  const project = by === 'value' ? stream : read;
  const results = limiter.throttleFrom(numbers(), project as () => Promise<unknown>);
  const subscription = results.subscribe();
  return { clock, seen, end: () => subscription.unsubscribe() };
}

const SETTINGS = (['value', 'observe'] as const).flatMap((by) =>
  (['openai', 'anthropic'] as const).map((headers) => ({ by, headers })),
);

describe('answers that go on for long after their headers', () => {
  it.each(SETTINGS)('leave little of a window unused: $headers, by $by', async (how) => {
    const given = { algorithm: 'fixed-window', perMinute: 200, streamMs: 50_000 } as const;
    const { clock, seen, end } = send({ ...given, ...how }, 500);
    await clock.advanceAsync(15 * 60_000);
    expect(seen.begun).toBeGreaterThan(0.97 * 15 * 200);
    expect(seen.sent - seen.begun).toBeLessThan(0.01 * seen.begun);
    end();
  });

  it.each(SETTINGS)('let the reported rest go at once: $headers, by $by', async (how) => {
    const given = { algorithm: 'token-bucket', perMinute: 100, streamMs: 60_000 } as const;
    const { clock, seen, end } = send({ ...given, ...how }, 500);
    await clock.advanceAsync(900);
    expect(seen.sent).toBe(16);
    await clock.advanceAsync(200);
    expect(seen.sent).toBeGreaterThan(90);
    end();
  });
});

it('lets waiting requests go when an answer begins, if nothing else happens', async () => {
  const given = { algorithm: 'token-bucket', perMinute: 2_000, streamMs: 60_000 } as const;
  const { clock, seen, end } = send({ ...given, headers: 'openai', by: 'value' }, 2_000);
  await clock.advanceAsync(1_500);
  expect(seen.sent).toBeLessThan(200);
  await clock.advanceAsync(700);
  expect(seen.sent).toBeGreaterThan(400);
  end();
});

describe('long answers without headers, at the start', () => {
  it.each(['value', 'observe'] as const)(
    'double the number without an answer when they begin, by %s',
    async (by) => {
      const given = { headers: 'none', algorithm: 'token-bucket', perMinute: 60_000 } as const;
      const { clock, seen, end } = send({ ...given, by, streamMs: 30_000 }, 500);
      for (const sent of [16, 48, 112, 240]) {
        await clock.advanceAsync(900);
        expect(seen.sent).toBe(sent);
        await clock.advanceAsync(100);
      }
      // Each is counted once, also at its end.
      await clock.advanceAsync(2_000);
      expect(seen.sent).toBe(500);
      end();
    },
  );
});

const HEADERS = {
  'x-ratelimit-limit-requests': '100',
  'x-ratelimit-remaining-requests': '40',
  'x-ratelimit-reset-requests': '36s',
};

/** How many calls may be in flight while one goes on that has observed an answer; 16 at first. */
async function limitAfter(answer: unknown, options: LimiterOptions = {}, later = {}) {
  const clock = new ManualClock();
  const limiter = createLimiter({ ...options, clock });
  limiter.configure(later);
  const run = limiter.run(async ({ observe }) => {
    observe(answer);
    await new Promise<void>((done) => clock.setTimer(done, 60_000));
  });
  await clock.advanceAsync(10);
  const { adaptive } = limiter.snapshot();
  await clock.advanceAsync(60_000);
  await run;
  return adaptive?.limit;
}

describe('an observed answer whose call goes on', () => {
  it.each<[string, LimiterOptions, object]>([
    ['at the defaults', {}, {}],
    ['beside a budget', { costBudget: { maxCost: 10, windowMs: 60_000 } }, {}],
    ['after a limit was added', {}, { limits: { calls: { limit: 10, windowMs: 1_000 } } }],
    ['after the rate has begun anew', {}, { adaptive: 'rate' }],
  ])('counts from then on: %s', async (_, options, later) => {
    const answer = new Response('', { headers: HEADERS });
    expect(await limitAfter(answer, options, later)).toBe(400);
    const ofSdk = { data: {}, response: answer };
    expect(await limitAfter(ofSdk, options, later)).toBe(400);
    const ofUndici = { statusCode: 200, headers: HEADERS };
    expect(await limitAfter(ofUndici, options, later)).toBe(400);
  });

  it('makes room for two, and for one beside its place when it has ended', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock });
    const rest = () => new Promise<void>((done) => clock.setTimer(done, 60_000));
    // Its answer has not begun, so that the next one is not the oldest known.
    const silent = limiter.run(rest);
    const run = limiter.run(({ observe }) => {
      observe(observe(new Response('')));
      return rest();
    });
    await clock.advanceAsync(10);
    expect(limiter.snapshot().adaptive?.limit).toBe(16 + 2);
    await clock.advanceAsync(60_000);
    await Promise.all([silent, run]);
    expect(limiter.snapshot().adaptive?.limit).toBe(16 + 2 - 1 + 1);
  });

  it('does not count before it is known to be accepted', async () => {
    const rejected = new Response('', { status: 429, headers: HEADERS });
    expect(await limitAfter(rejected)).toBe(16);
    expect(await limitAfter(rejected.headers)).toBe(16);
  });

  it('counts for a stream whose first value comes when it is subscribed to', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock });
    const stream = () => concat(of({ headers: HEADERS }), NEVER);
    const subscription = of(1).pipe(limiter.throttle(stream)).subscribe();
    expect(limiter.snapshot().adaptive?.limit).toBe(400);
    subscription.unsubscribe();
    expect(limiter.snapshot().concurrency.inFlight).toBe(0);
  });

  it('counts for `fetch` before its body is read', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock });
    vi.stubGlobal('fetch', async () => new Response(new ReadableStream(), { headers: HEADERS }));
    const response = await limiter.fetch('http://127.0.0.1/');
    vi.unstubAllGlobals();
    await clock.advanceAsync(10);
    expect(limiter.snapshot()).toMatchObject({
      concurrency: { inFlight: 1 },
      adaptive: { limit: 400 },
    });
    await response.body?.cancel();
  });
});
