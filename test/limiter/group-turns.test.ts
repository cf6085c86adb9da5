import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AttemptContext, createLimiterGroup, type RateLimit } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';

const MINUTES = 20;

/** What a tenant says of each request before it is sent, and what the request really uses. */
interface Tenant {
  readonly estimate: number | undefined;
  readonly tokens: number;
}

/** The tokens that tenants with endless requests have used of a limit that they share. */
async function usedBy(tenants: readonly Tenant[], charge: RateLimit['charge']): Promise<number[]> {
  const clock = new ManualClock();
  const bucket = {
    limit: 60_000,
    windowMs: 60_000,
    algorithm: 'token-bucket',
    burst: 4_000,
  } as const;
  const group = createLimiterGroup((key: string) => key, {
    clock,
    each: { adaptive: false },
    shared: { concurrency: 4, limits: { tokens: { ...bucket, ...(charge && { charge }) } } },
  });
  const used = tenants.map(() => 0);
  const send = async (tenant: number) => {
    const { estimate, tokens } = tenants[tenant] as Tenant;
    const answer = ({ recordTokens }: AttemptContext) =>
      new Promise<void>((resolve) => {
        clock.setTimer(() => {
          used[tenant] = (used[tenant] ?? 0) + tokens;
          recordTokens(tokens);
          resolve();
        }, 1_000);
      });
    while (clock.now() < MINUTES * 60_000) {
      await group.run(`${tenant}`, answer, estimate === undefined ? {} : { tokens: estimate });
    }
  };
  for (const tenant of tenants.keys()) for (let n = 0; n < 10; n += 1) void send(tenant);
  await clock.advanceAsync(MINUTES * 60_000);
  return used;
}

describe('keys that take turns by tokens', () => {
  const tenant = fc.record({
    tokens: fc.integer({ min: 300, max: 1_000 }),
    estimate: fc.option(fc.integer({ min: 0, max: 2_000 }), { nil: undefined }),
  });

  it('get equal parts of what is used, however wrong their estimates are', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(tenant, { minLength: 2, maxLength: 4 }), async (tenants) => {
        const used = await usedBy(tenants, 'settle');
        expect(Math.min(...used) / Math.max(...used)).toBeGreaterThan(0.85);
      }),
      { numRuns: 10 },
    );
  });

  it('get equal parts of the estimates, where these are charged', async () => {
    const [one = 0, other = 0] = await usedBy(
      [
        { estimate: 1_000, tokens: 1_000 },
        { estimate: 1_000, tokens: 100 },
      ],
      'upfront',
    );
    expect(one / other).toBeCloseTo(10, 0);
  });
});
