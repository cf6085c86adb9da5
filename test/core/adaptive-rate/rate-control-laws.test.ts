import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RateControl, Sending } from '../../../src/core/adaptive-rate/rate-control.ts';
import type { DimensionSnapshot } from '../../../src/core/adaptive-rate/rate-snapshot.ts';
import type { ReportedLimit, Verdict } from '../../../src/model/feedback.ts';
import { controlOf, NO_LIMIT } from './control-rig.ts';

const MOST_RETRY_AFTER_MS = 60_000;
const REASK_MS = 1_000;
/** The longest that somebody waits who may always go next: outages, slow rates and told waits. */
const LONGEST_WAIT_MS = 180_000;

/** A number that a provider may say, or that code of the user's may make of it. */
const absurd = fc.oneof(
  fc.constantFrom(0, -1, 1, 0.1, 1e-300, 1e15, 1e300, Number.MAX_VALUE, Number.MIN_VALUE),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
  fc.nat(100_000),
);

/** An amount as a provider says it: mostly in earnest. */
const amount = fc.oneof({ weight: 3, arbitrary: fc.nat(10_000) }, absurd);

const limits: fc.Arbitrary<ReportedLimit[]> = fc.array(
  fc.record(
    {
      unit: fc.constantFrom('requests' as const, 'tokens' as const, 'input-tokens' as const),
      limit: amount,
      remaining: amount,
      resetMs: amount,
      windowMs: fc.oneof(fc.constantFrom(1_000, 60_000, 3_600_000, 86_400_000), absurd),
    },
    { requiredKeys: ['unit'] },
  ),
  { maxLength: 3 },
);

/** What callers let through: a number above 0, or nothing. */
const retryAfterMs = fc.option(
  fc.oneof(
    fc.nat(5_000).map((ms) => ms + 1),
    fc.constantFrom(0.001, 60_000, 1e9, 1e300),
  ),
  { nil: undefined },
);

type Step =
  | { readonly kind: 'send'; readonly tokens: number }
  | {
      readonly kind: 'answer';
      readonly which: number;
      readonly verdict: Verdict;
      readonly used: number | undefined;
    }
  | { readonly kind: 'end'; readonly which: number; readonly isSent: boolean }
  | { readonly kind: 'pass'; readonly ms: number };

const answer = fc.record({
  kind: fc.constant('answer' as const),
  which: fc.nat(1_000),
  verdict: fc
    .record({
      kind: fc.constantFrom(
        'ok' as const,
        'ok' as const,
        'throttled' as const,
        'overloaded' as const,
      ),
      retryAfterMs,
      limits: fc.option(limits, { nil: undefined }),
      limit: fc.constantFrom(undefined, undefined, 'requests', 'tokens'),
    })
    .map(
      ({ kind, retryAfterMs, limits, limit }): Verdict => ({
        kind,
        ...(retryAfterMs !== undefined && kind !== 'ok' && { retryAfterMs }),
        ...(limits !== undefined && { limits }),
        ...(limit !== undefined && { limit }),
      }),
    ),
  used: fc.option(fc.nat(5_000), { nil: undefined }),
});

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('send' as const), tokens: fc.nat(2_000) }),
  },
  { weight: 5, arbitrary: answer },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('end' as const),
      which: fc.nat(1_000),
      isSent: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('pass' as const),
      // A clock may stand still, and it may jump while the machine sleeps.
      ms: fc.oneof(fc.nat(50), fc.nat(2_000), fc.constantFrom(0, 0.001, 20_000, 3_600_000, 1e9)),
    }),
  },
);

const rules = fc.record({
  startPerSecond: fc.constantFrom(NO_LIMIT, 0.001, 2, 1_000),
  hardTokens: fc.constantFrom(NO_LIMIT, NO_LIMIT, 0.1, 10),
  jitter: fc.constantFrom(0, 0.5, 1),
});

interface Script {
  readonly rules: { startPerSecond: number; hardTokens: number; jitter: number };
  readonly steps: readonly Step[];
}

const scripts: fc.Arbitrary<Script> = fc.record({
  rules,
  steps: fc.array(step, { maxLength: 200, size: 'max' }),
});

function checkRate({ perSecond, ceilingPerSecond, origin }: DimensionSnapshot): void {
  expect(perSecond).toBeGreaterThan(0);
  if (perSecond === NO_LIMIT) expect(origin).toBe('start');
  if (ceilingPerSecond === undefined) return;
  expect(ceilingPerSecond).toBeGreaterThan(0);
  expect(ceilingPerSecond).toBeLessThan(NO_LIMIT);
}

function checkState(control: RateControl, now: number): void {
  const waitMs = control.wait(now);
  expect(waitMs).toBeGreaterThanOrEqual(0);
  // But for rounding.
  expect(waitMs).toBeLessThan(MOST_RETRY_AFTER_MS + 0.001);
  const snapshot = control.snapshot(now);
  checkRate(snapshot);
  if (snapshot.tokens !== undefined) checkRate(snapshot.tokens);
  expect(snapshot.sinceCutMs ?? 0).toBeGreaterThanOrEqual(0);
}

/** Plays a script: it sends when it may. @returns the control, what is out, and the time */
function playScript({ rules, steps }: Script) {
  const { startPerSecond, hardTokens, jitter } = rules;
  const control = controlOf({
    startPerSecond,
    hard: (unit) => (unit === 'tokens' ? hardTokens : NO_LIMIT),
    maxRetryAfterMs: MOST_RETRY_AFTER_MS,
    random: () => jitter,
  });
  const out: Sending[] = [];
  let now = 0;
  for (const step of steps) {
    if (step.kind === 'pass') now += step.ms;
    else if (step.kind === 'send') {
      if (control.wait(now) === 0) out.push(control.take(step.tokens, now));
    } else {
      const [sending] = out.splice(step.which % Math.max(1, out.length), 1);
      if (sending === undefined) continue;
      if (step.kind === 'end') control.ended(sending, step.isSent, now);
      else if (step.verdict.kind === 'ok') {
        control.accepted(sending, step.verdict, step.used, now);
      } else control.rejected(sending, step.verdict, now);
    }
    checkState(control, now);
  }
  return { control, out, now };
}

/** How long the next one waits, asked whenever it is told to ask again. */
function patience(control: RateControl, from: number): number {
  let now = from;
  while (now - from <= 1e7) {
    const waitMs = control.wait(now);
    if (waitMs === 0) return now - from;
    now += Math.max(waitMs, 0.001);
  }
  return Number.POSITIVE_INFINITY;
}

describe('the control of a rate, for any script', () => {
  it('keeps waits and rates within bounds', () => {
    fc.assert(
      fc.property(scripts, (script) => {
        playScript(script);
      }),
      { numRuns: 400 },
    );
  });

  it('starves nobody: whoever is next goes within three minutes, but for what tokens were used', () => {
    const withoutTokens = scripts.map(({ rules, steps }) => ({
      rules: { ...rules, startPerSecond: 2, hardTokens: NO_LIMIT },
      steps: steps.map((step) => {
        if (step.kind === 'send') return { ...step, tokens: 1 };
        return step.kind === 'answer' ? { ...step, used: 1 } : step;
      }),
    }));
    fc.assert(
      fc.property(withoutTokens, (script) => {
        const { control, now } = playScript(script);
        expect(patience(control, now)).toBeLessThanOrEqual(LONGEST_WAIT_MS);
      }),
      { numRuns: 400 },
    );
  });

  it('goes on as if nothing had been, a while after everything goes well again', () => {
    fc.assert(
      fc.property(scripts, (script) => {
        const { control, now } = playScript({
          ...script,
          rules: { ...script.rules, hardTokens: NO_LIMIT },
        });
        let at = now;
        let sent = 0;
        for (; at < now + 7_200_000 && sent < 5_000; sent += 1) {
          at += patience(control, at);
          const sending = control.take(1, at);
          control.accepted(sending, { kind: 'ok' }, 1, at);
        }
        expect(sent).toBe(5_000);
        expect(control.isOut).toBe(false);
      }),
      { numRuns: 60 },
    );
  });

  it('asks to be asked again within a second, where it is neither out nor closed', () => {
    fc.assert(
      fc.property(scripts, (script) => {
        const { control, now } = playScript(script);
        const at = now + 2 * MOST_RETRY_AFTER_MS;
        control.wait(at);
        expect(control.wait(at)).toBeLessThanOrEqual(REASK_MS);
      }),
      { numRuns: 100 },
    );
  });
});
