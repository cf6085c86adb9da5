import { describe, expect, it } from 'vitest';
import { Aimd } from '../../src/policies/aimd.ts';
import { Interval } from '../../src/policies/interval.ts';
import { recorded } from './fixtures.ts';

type Step = readonly [
  at: number,
  ok: boolean,
  limit: number,
  intervalMs: number,
  ceiling: number,
  failures: number,
  state: 'running' | 'cooling',
];

interface Case {
  readonly maxLimit: number;
  readonly initialLimit: number;
  readonly failureThreshold: number;
  readonly failureWindowMs: number;
  readonly coolingMs: number;
  readonly ceilingResetFactor: number;
  readonly intervalMs: number;
  readonly maxIntervalMs: number;
  readonly steps: readonly Step[];
}

/** Why an original is not followed any further. */
type Difference =
  | 'none'
  | 'grows from the start'
  | 'by time'
  | 'on and on'
  | 'at the edge'
  | 'from 0';

interface Seen {
  readonly limit: number;
  readonly intervalMs: number;
  readonly ceiling: number;
  readonly failures: number;
}

interface Pair {
  readonly ours: Seen;
  readonly theirs: Seen;
}

interface Followed {
  /** Each step up to the difference. */
  readonly same: readonly Pair[];
  readonly difference: Difference;
  readonly other?: Pair;
  /** The ceilings of those that come after it, up to the next failure. */
  readonly ceilings: readonly (readonly [ours: number, theirs: number])[];
}

function follow({ steps, ...options }: Case): Followed {
  const { intervalMs, maxIntervalMs, coolingMs, failureWindowMs, initialLimit, maxLimit } = options;
  const { failureThreshold, ceilingResetFactor } = options;
  const cooling = new Aimd(
    { maxLimit, initialLimit, failureThreshold, failureWindowMs, coolingMs, ceilingResetFactor },
    0,
    new Interval({ intervalMs, maxIntervalMs }),
  );
  const same: Pair[] = [];
  const ceilings: (readonly [number, number])[] = [];
  const failedAt: number[] = [];
  let deceleratedAt = Number.POSITIVE_INFINITY;
  let hasStepped = false;
  let isCalm = true;
  let difference: Difference = 'none';
  let other: Pair | undefined;
  for (const [at, ok, limit, theirMs, ceiling, failures] of steps) {
    if (difference !== 'none') {
      if (!ok || difference !== 'on and on' || !isCalm) break;
      cooling.advance(at);
      ceilings.push([cooling.snapshot(at).ceiling, ceiling]);
      continue;
    }
    const before = cooling.epoch;
    const isEdge = failedAt.some((failed) => at - failed === failureWindowMs);
    if (ok) cooling.advance(at);
    else cooling.failed(at);
    if (!ok) failedAt.push(at);
    const { limit: ourLimit, intervalMs: ourMs, ...rest } = cooling.snapshot(at);
    const ours = {
      limit: ourLimit,
      intervalMs: Math.round(ourMs),
      ceiling: rest.ceiling,
      failures: rest.failures,
    };
    const pair = { ours, theirs: { limit, intervalMs: theirMs, ceiling, failures } };
    const isDecelerated = cooling.epoch > before;
    if (initialLimit < maxLimit && deceleratedAt === Number.POSITIVE_INFINITY && at >= coolingMs)
      difference = 'grows from the start';
    else if (at >= deceleratedAt + 2 * coolingMs) difference = 'on and on';
    else if (at >= deceleratedAt + coolingMs && !ok && !hasStepped) difference = 'by time';
    else if (isEdge) difference = 'at the edge';
    else if (isDecelerated && intervalMs === 0) difference = 'from 0';
    if (at >= deceleratedAt + coolingMs) hasStepped = true;
    if (isDecelerated) {
      deceleratedAt = at;
      hasStepped = false;
      failedAt.length = 0;
    }
    if (difference === 'none') same.push(pair);
    else other = pair;
    isCalm = ok;
  }
  return { same, difference, ceilings, ...(other && { other }) };
}

describe('cooling', () => {
  const cases = recorded<Case>('cooling');
  const followed = cases.map((each) => ({ ...follow(each), options: each }));

  it('slows down, and speeds up once, as gentlify does', () => {
    let steps = 0;
    for (const { same, options } of followed) {
      steps += same.length;
      for (const { ours, theirs } of same) expect(ours, JSON.stringify(options)).toEqual(theirs);
    }
    expect(steps).toBeGreaterThan(8_000);
  });

  it('lifts its ceiling when gentlify does', () => {
    const ceilings = followed.flatMap((each) => each.ceilings);
    expect(ceilings.length).toBeGreaterThan(200);
    for (const [ours, theirs] of ceilings) expect(ours).toBe(theirs);
  });

  const others = (difference: Difference) =>
    followed.filter((each) => each.difference === difference).flatMap(({ other }) => other ?? []);

  it('unlike gentlify, goes up by time, not at the next success', () => {
    const pairs = others('by time').filter(({ ours, theirs }) => ours.limit !== theirs.limit);
    expect(pairs.length).toBeGreaterThan(20);
  });

  it('unlike gentlify, goes up again and again, not once', () => {
    const pairs = others('on and on').filter(({ ours, theirs }) => ours.limit > theirs.limit);
    expect(pairs.length).toBeGreaterThan(20);
  });

  it('unlike gentlify, goes up from a limit that began below its maximum', () => {
    const pairs = others('grows from the start').filter(
      ({ ours, theirs }) => ours.limit > theirs.limit,
    );
    expect(pairs.length).toBeGreaterThan(20);
  });

  it('unlike gentlify, doubles an interval of 0', () => {
    const pairs = others('from 0');
    expect(pairs.length).toBeGreaterThan(20);
    for (const { ours, theirs } of pairs) {
      expect(theirs.intervalMs).toBe(0);
      expect(ours.intervalMs).toBe(200);
    }
  });

  it('unlike gentlify, forgets a failure as its window ends, not after it', () => {
    const pairs = others('at the edge');
    expect(pairs.length).toBeGreaterThan(20);
    for (const { ours, theirs } of pairs) expect(ours).not.toEqual(theirs);
  });
});
