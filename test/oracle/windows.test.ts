import { describe, expect, it } from 'vitest';
import { createLimiter, type RateLimit } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { recorded } from './fixtures.ts';

interface Request {
  readonly at: number;
  readonly tokens: number;
  /** How long the answer takes, which says what was used. */
  readonly ms: number;
}

interface Case {
  readonly kind: 'requests' | 'tokens' | 'budget';
  readonly limit: number;
  readonly windowMs: number;
  readonly requests: readonly Request[];
  readonly passed: readonly number[];
}

/** gentlify sleeps a millisecond more than it must; in a chain of waits that adds up. */
const NEARLY_MS = 20;

/** When requests pass, in order. */
async function passedAt({ kind, windowMs, requests }: Case, limit: number): Promise<number[]> {
  const clock = new ManualClock();
  const limits: Record<string, RateLimit> =
    kind === 'requests'
      ? { requests: { limit, windowMs } }
      : { tokens: { limit, windowMs, charge: 'actual' } };
  const limiter = createLimiter({ clock, limits, adaptive: false });
  const passed: number[] = [];
  const play = async ({ tokens, ms }: Request) => {
    const lease = await limiter.acquire({ tokens: 0 });
    passed.push(clock.now());
    clock.setTimer(() => {
      lease.recordTokens(tokens);
      lease.release();
    }, ms);
  };
  for (const request of requests) clock.setTimer(() => void play(request), request.at);
  await clock.runAllAsync();
  return passed;
}

const isSame = (passed: readonly number[], theirs: readonly number[]) =>
  passed.length === theirs.length &&
  passed.every((at, index) => Math.abs(at - (theirs[index] ?? Number.NaN)) < NEARLY_MS);

describe('a sliding window', () => {
  const cases = recorded<Case>('windows');
  const casesOf = (kind: Case['kind']) => cases.filter((each) => each.kind === kind);

  it('lets requests pass when llmservice does', async () => {
    expect(casesOf('requests')).toHaveLength(400);
    for (const each of casesOf('requests')) {
      const passed = await passedAt(each, each.limit);
      expect(isSame(passed, each.passed), JSON.stringify({ ...each, ours: passed })).toBe(true);
    }
  });

  describe.each([
    ['tokens', 'llmservice'],
    ['budget', 'gentlify'],
  ] as const)('of %s that are known from the answers', (kind, original) => {
    // Tokens are whole: not below the limit is above the limit less one.
    it(`with one token less lets requests pass when ${original} does`, async () => {
      expect(casesOf(kind)).toHaveLength(400);
      for (const each of casesOf(kind)) {
        const passed = await passedAt(each, each.limit - 1);
        expect(isSame(passed, each.passed), JSON.stringify({ ...each, ours: passed })).toBe(true);
      }
    });

    it(`unlike in ${original}, holds requests only once it is overdrawn`, async () => {
      let others = 0;
      for (const each of casesOf(kind)) {
        if (!isSame(await passedAt(each, each.limit), each.passed)) others += 1;
      }
      expect(others).toBeGreaterThan(50);
    });
  });
});
