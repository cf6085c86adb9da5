import { ManualClock } from 'headgate/simulator';
import { describe, expect, it } from 'vitest';
import { headersOf, type Telling } from '../../../bench/goodput/generated/headers.ts';
import { type Answer, Server } from '../../../bench/goodput/generated/server.ts';
import {
  drawScenario,
  HEADERS,
  type HeaderStyle,
  type Scenario,
} from '../../../bench/goodput/generated/space.ts';

const telling: Telling = {
  status: 429,
  waitMs: 1_250,
  told: [{ unit: 'requests', windowMs: 2_500, limit: 10, remaining: 0, resetMs: 2_000 }],
  decidedAt: 60_000,
  now: 63_000,
};

describe('what answers tell', () => {
  it.each([
    ['retry-exact', '1.250000'],
    ['retry-seconds', '2'],
    ['retry-short', '0.375000'],
    ['retry-long', '12.500000'],
    ['anthropic', '2'],
  ] as const)('of a wait, as %s', (style, seconds) => {
    expect(headersOf(style, telling)['retry-after']).toBe(seconds);
    expect(headersOf(style, { ...telling, status: 200 })).not.toHaveProperty('retry-after');
    const unknown = headersOf(style, { ...telling, waitMs: Number.POSITIVE_INFINITY });
    expect(unknown).not.toHaveProperty('retry-after');
  });

  it('of a short wait has no exponent', () => {
    expect(headersOf('retry-exact', { ...telling, waitMs: 1e-4 })['retry-after']).toBe('0.000000');
  });

  it('of limits, as OpenAI writes them', () => {
    expect(headersOf('openai', telling)).toEqual({
      'x-ratelimit-limit-requests': '10',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '2s',
    });
  });

  it('of limits, as Anthropic does: the reset counts from when the request was let in', () => {
    expect(headersOf('anthropic', telling)).toMatchObject({
      date: 'Wed, 01 Jan 2025 00:01:03 GMT',
      'anthropic-ratelimit-requests-reset': '2025-01-01T00:01:02.000Z',
    });
  });

  it('of limits, as the IETF does: whole seconds, at the same rate', () => {
    expect(headersOf('ietf', telling)).toEqual({
      'ratelimit-policy': '"requests0";q=12;w=3',
      ratelimit: '"requests0";r=0;t=2',
    });
  });

  it('is nothing in an outage', () => {
    for (const style of HEADERS) {
      const said = headersOf(style, { ...telling, waitMs: Number.POSITIVE_INFINITY, told: [] });
      expect(Object.keys(said).filter((name) => name !== 'date')).toEqual([]);
    }
  });
});

describe('the server', () => {
  const scenario: Scenario = {
    ...drawScenario(1),
    kind: 'first-charge-window',
    limit: 2,
    windowMs: 1_000,
    latencyMs: 100,
    latencySigma: 0,
    networkMs: 10,
    networkJitter: 0,
    rejectionMs: 50,
    countsRejected: false,
    change: 'none',
    outage: '503',
    outageFromMs: 5_000,
    outageMs: 1_000,
  };

  function answersAt(
    sendMs: readonly number[],
    headers: HeaderStyle = 'retry-exact',
  ): readonly (Answer & { readonly atMs: number })[] {
    const clock = new ManualClock();
    const server = new Server({ ...scenario, headers }, clock);
    const answers: (Answer & { readonly atMs: number })[] = [];
    for (const at of sendMs) {
      clock.setTimer(() => {
        server.submit({ tokens: 7 }, (answer) => answers.push({ ...answer, atMs: clock.now() }));
      }, at);
    }
    clock.runAll();
    return answers;
  }

  it('answers after the way there, its work, and the way back', () => {
    const [answer] = answersAt([0]);
    expect(answer).toMatchObject({ status: 200, usage: { total_tokens: 7 } });
    expect(answer?.atMs).toBeCloseTo(120, 6);
  });

  it('rejects what is above the limit, and says how long to wait', () => {
    const rejected = answersAt([0, 0, 0]).find(({ status }) => status === 429);
    expect(Number(rejected?.headers['retry-after'])).toBeCloseTo(1, 6);
  });

  it('lets nothing in while it is out, and tells nothing', () => {
    for (const style of ['openai', 'ietf', 'retry-exact'] as const) {
      const [answer] = answersAt([5_500], style);
      expect(answer).toMatchObject({ status: 503 });
      expect(answer?.headers).toEqual({});
    }
    expect(answersAt([6_000])).toMatchObject([{ status: 200 }]);
  });
});
