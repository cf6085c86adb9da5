import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OverloadLimit } from '../../src/core/adaptive-rate/overload-limit.ts';
import { AdaptiveRateCore } from '../../src/core/adaptive-rate-core.ts';
import type { CoreFact } from '../../src/model/facts.ts';
import type { Verdict } from '../../src/model/feedback.ts';
import { aliveBytes } from '../support/memory.ts';
import { demand } from '../support/waiter.ts';
import { controlOf, NO_LIMIT } from './adaptive-rate/control-rig.ts';

const VERDICTS: readonly (Verdict | undefined)[] = [
  { kind: 'ok' },
  { kind: 'ok', limits: [{ unit: 'requests', limit: 100, remaining: 50, windowMs: 10_000 }] },
  { kind: 'ok', limits: [{ unit: 'tokens', limit: 1_000, remaining: 5, resetMs: 30_000 }] },
  { kind: 'throttled' },
  { kind: 'throttled', retryAfterMs: 3_000 },
  { kind: 'throttled', limit: 'tokens' },
  { kind: 'overloaded' },
  { kind: 'overloaded', retryAfterMs: 500 },
  { kind: 'failed' },
  { kind: 'fatal' },
  undefined,
];

type Act =
  | { readonly kind: 'send'; readonly by: number }
  | { readonly kind: 'max'; readonly by: number }
  | { readonly kind: 'pass'; readonly by: number }
  | { readonly kind: 'end'; readonly which: number; readonly verdict: Verdict | undefined }
  | { readonly kind: 'unsent'; readonly which: number };

const acts: fc.Arbitrary<Act[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('send' as const), by: fc.nat(500) }) },
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant('end' as const),
        which: fc.nat(100),
        verdict: fc.constantFrom(...VERDICTS),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('unsent' as const), which: fc.nat(100) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('max' as const),
        by: fc.integer({ min: 1, max: 40 }),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('pass' as const),
        by: fc.oneof(fc.nat(100), fc.nat(5_000), fc.constantFrom(60_000, 7_200_000)),
      }),
    },
  ),
  { maxLength: 200, size: 'max' },
);

function coreOf(isAwake: boolean, tell: (fact: CoreFact) => void) {
  const limits: number[] = [];
  const core = new AdaptiveRateCore(
    {
      control: (past) => controlOf({ startPerSecond: isAwake ? 2 : NO_LIMIT }, past),
      concurrency: new OverloadLimit(8, 32, 0),
      apply: (limit) => limits.push(limit),
      tell,
    },
    isAwake,
    0,
  );
  return { core, limits };
}

describe('the core of an adaptive rate, for any script', () => {
  it('waits without end only for those in flight, keeps its limit, and tells what is so', () => {
    fc.assert(
      fc.property(fc.boolean(), acts, (isAwake, script) => {
        const facts: CoreFact[] = [];
        const { core, limits } = coreOf(isAwake, (fact) => facts.push(fact));
        const out: { charge: ReturnType<typeof core.take> }[] = [];
        let now = 0;
        let max = 32;
        const time = { now: () => now };
        for (const act of script) {
          if (act.kind === 'pass') now += act.by;
          else if (act.kind === 'max') {
            max = act.by;
            core.setMaxLimit(max, now);
          } else if (act.kind === 'send') {
            const request = { bytes: 0, tokens: act.by };
            if (core.wait(request, now) === 0) out.push({ charge: core.take(request, now) });
          } else {
            const [attempt] = out.splice(act.which % Math.max(1, out.length), 1);
            if (attempt === undefined) continue;
            const isSent = act.kind === 'end';
            const verdict = isSent ? act.verdict : undefined;
            const usage = { tokens: 7 };
            const ended = { ...demand(), isSent, verdict, usage, epoch: 0 };
            core.giveBack(attempt.charge, ended, time);
          }
          const waitMs = core.wait(demand(), now);
          expect(waitMs).toBeGreaterThanOrEqual(0);
          if (waitMs === NO_LIMIT) expect(out.length).toBeGreaterThanOrEqual(core.limit);
          expect(Number.isInteger(core.limit) && core.limit >= 1 && core.limit <= max).toBe(true);
          if (out.length > 0) expect(core.isAtRest(now)).toBe(false);
        }
        const outages = facts.flatMap(({ kind }) => (kind.startsWith('outage') ? [kind] : []));
        for (const [index, kind] of outages.entries()) {
          expect(kind).toBe(index % 2 === 0 ? 'outageStarted' : 'outageEnded');
        }
        expect(core.snapshot(now).isOut).toBe(outages.length % 2 === 1);
        const moves = facts.flatMap((fact) => (fact.kind === 'limitAdapted' ? [fact.to] : []));
        expect(limits).toEqual(moves);
      }),
      { numRuns: 300 },
    );
  });

  it('goes on once all that was out has ended, and comes to rest', () => {
    fc.assert(
      fc.property(fc.boolean(), fc.array(fc.constantFrom(...VERDICTS)), (isAwake, verdicts) => {
        const { core } = coreOf(isAwake, () => {});
        let now = 0;
        const time = { now: () => now };
        const send = (verdict: Verdict | undefined) => {
          for (let asked = 0; asked < 1_000; asked += 1) {
            const waitMs = core.wait(demand(), now);
            if (waitMs === 0) break;
            now += waitMs;
          }
          const charge = core.take(demand(), now);
          now += 20;
          const ended = { ...demand(), isSent: true, verdict, usage: undefined, epoch: 0 };
          if (charge !== 0) core.giveBack(charge, ended, time);
        };
        for (const verdict of verdicts) send(verdict);
        const from = now;
        for (let n = 0; n < 5; n += 1) send({ kind: 'ok' });
        expect(now - from).toBeLessThan(300_000);
        expect(core.isAtRest(now + 60_000)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});

it('remembers no more after a hundred thousand requests than after ten thousand', () => {
  const { core } = coreOf(true, () => {});
  let now = 0;
  const time = { now: () => now };
  const send = (count: number) => {
    for (let n = 0; n < count; n += 1) {
      now += Math.min(core.wait(demand(), now), 1_000) + 10;
      const verdict = VERDICTS[n % VERDICTS.length];
      const usage = { tokens: 7 };
      const ended = { ...demand(), isSent: true, verdict, usage, epoch: 0 };
      core.giveBack(core.take(demand(), now), ended, time);
    }
  };
  send(10_000);
  const before = aliveBytes();
  send(100_000);
  expect(aliveBytes() - before).toBeLessThan(100_000);
});
