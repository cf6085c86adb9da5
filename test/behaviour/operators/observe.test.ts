import { from, lastValueFrom, of, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { type AttemptContext, createLimiter, throttle } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/index.ts';

const headers = (remaining: number) => ({
  'x-ratelimit-limit-requests': '600',
  'x-ratelimit-remaining-requests': String(remaining),
});

/** What the adaptive rate makes of what one attempt observes. */
async function originAfter(send: (context: AttemptContext) => Promise<unknown>) {
  const clock = new ManualClock();
  const limiter = createLimiter({ clock, adaptive: 'rate', maxAttempts: 1 });
  for (let n = 0; n < 20; n += 1) {
    const sent = limiter.run(send).catch(() => {});
    await clock.advanceAsync(500);
    await sent;
  }
  const { adaptive } = limiter.snapshot();
  return adaptive !== undefined && 'origin' in adaptive ? adaptive.origin : undefined;
}

describe('context.observe', () => {
  it.each([
    ['a Response', () => new Response('', { headers: headers(2) })],
    ['what withResponse() gives', () => ({ data: {}, response: { headers: headers(2) } })],
    ['Headers', () => new Headers(headers(2))],
    ['a record of headers', () => headers(2)],
  ])('reads the limits of %s, and returns it', async (_, make) => {
    const answer = make();
    const origin = await originAfter(async (context) => {
      expect(context.observe(answer)).toBe(answer);
      return 'the result says nothing';
    });
    expect(origin).toBe('headers');
  });

  it('reads the limits if the attempt then fails, too', async () => {
    const fail = async (context: AttemptContext) => {
      context.observe(headers(2));
      throw Object.assign(new Error('no'), { status: 400 });
    };
    const clock = new ManualClock();
    const told: unknown[] = [];
    const limiter = createLimiter({
      clock,
      adaptive: 'rate',
      isFailure: ({ limits }) => told.push(limits) > 0,
      circuitBreaker: true,
    });
    await expect(limiter.run(fail)).rejects.toThrow('no');
    expect(told).toMatchObject([[{ unit: 'requests', limit: 600, remaining: 2 }]]);
  });

  it('ignores values without limits and usage', async () => {
    const answers = [undefined, null, 5, 'text', {}, [], new Headers(), { headers: 'none' }];
    const origin = await originAfter(async (context) => {
      for (const answer of answers) expect(context.observe(answer)).toBe(answer);
    });
    expect(origin).toBe('start');
  });

  it('keeps the limits of an answer if the next one reports none', async () => {
    const origin = await originAfter(async (context) => {
      context.observe(headers(2));
      context.observe({ usage: { total_tokens: 3 } });
    });
    expect(origin).toBe('headers');
  });

  it('records the tokens that were used, once', async () => {
    const used = async (send: (context: AttemptContext) => unknown) => {
      const limiter = createLimiter({ tokensPerMinute: 1_000 });
      await limiter.run(async (context) => send(context), { tokens: 100 });
      return limiter.snapshot().tokensUsed;
    };
    const body = { usage: { total_tokens: 7 } };
    expect(await used((context) => void context.observe(body))).toBe(7);
    expect(await used((context) => context.observe(body))).toBe(7);
    expect(await used((context) => void context.observe({ data: body }))).toBe(7);
    expect(
      await used((context) => {
        context.recordTokens(9);
        context.observe(body);
      }),
    ).toBe(9);
  });

  it('has no effect after the attempt has ended', async () => {
    const kept: AttemptContext[] = [];
    const limiter = createLimiter({ tokensPerMinute: 1_000 });
    await limiter.run(async (context) => void kept.push(context), { tokens: 5 });
    expect(kept[0]?.observe({ usage: { total_tokens: 70 } })).toEqual({
      usage: { total_tokens: 70 },
    });
    expect(limiter.snapshot().tokensUsed).toBe(5);
  });

  it('works in throttle, and with no limits at all', async () => {
    const project = async (n: number, context: AttemptContext) => {
      context.observe(headers(n));
      return n;
    };
    for (const adaptive of [false, 'rate', 'latency', 'failures'] as const) {
      const sent = from([1, 2]).pipe(throttle(project, { adaptive, ordered: true }), toArray());
      expect(await lastValueFrom(sent)).toEqual([1, 2]);
    }
    expect(await lastValueFrom(of(3).pipe(throttle(project)))).toBe(3);
  });
});
