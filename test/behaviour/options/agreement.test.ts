import { describe, expect, it } from 'vitest';
import { throttle } from '../../../src/operators/throttle.ts';
import { ROWS } from '../../../src/options/limiter-config.ts';
import { adaptiveChoice, STRATEGIES } from '../../../src/policies/adaptive.ts';
import { Aimd } from '../../../src/policies/aimd.ts';
import { DEFAULT_MAX_RETRY_AFTER_MS } from '../../../src/policies/backoff-policy.ts';
import { CircuitBreaker } from '../../../src/policies/circuit-breaker.ts';
import { CostBudget } from '../../../src/policies/cost-budget.ts';
import { gradientSettings } from '../../../src/policies/gradient-options.ts';
import { Interval } from '../../../src/policies/interval.ts';
import { isAccepted, type Kind } from '../../../src/policies/option.ts';
import { Pace } from '../../../src/policies/pace.ts';
import { Progress } from '../../../src/policies/progress.ts';
import { checkRateLimits } from '../../../src/policies/rate-limit/rate-limit.ts';
import { FeedbackSubject } from '../../../src/request/feedback-subject.ts';
import { wrongValuesOf } from '../../options/configs.ts';

/** Whoever uses the options of a group in the end. */
const users: Readonly<Record<string, (options: never) => unknown>> = {
  backoff: (options) => new FeedbackSubject(options),
  limits: (options: object) =>
    checkRateLimits({
      // What is available at the start is no more than the limit.
      requests: {
        ...LIMIT,
        ...('initial' in options && { limit: 2 ** 53 }),
        ...algorithmOf(options),
        ...options,
      },
    }),
  pace: (options: object) => new Pace({ intervalMs: 0, ...options }, () => 0),
  costBudget: (options: object) => new CostBudget({ maxCost: 5, windowMs: 7, ...options }),
  circuitBreaker: (options: object) => new CircuitBreaker({ failureRatio: 0.5, ...options }),
};

const MANY = Number.MAX_SAFE_INTEGER;

/** A burst is for a token bucket. */
function algorithmOf(options: object): { algorithm?: 'token-bucket' } {
  return 'burst' in options ? { algorithm: 'token-bucket' } : {};
}

/** Values at the bounds of an option and around them; null has its default with some users. */
function around(kind: Kind): readonly unknown[] {
  const numbers = [0, 0.5, 1, 1.5, 2, 100, 100.5, 101, -1, 1e9, 2 ** 53, Number.POSITIVE_INFINITY];
  const wrong = wrongValuesOf(kind).filter((value) => value !== null);
  return [...(kind.type === 'word' ? kind.words : numbers), ...wrong];
}

function isTaken(use: () => unknown): boolean {
  try {
    use();
    return true;
  } catch {
    return false;
  }
}

describe('the table and those who use the options take the same values', () => {
  it.each(ROWS.filter(({ path }) => path.includes('.')))('of $path', ({ path, option }) => {
    const [group = '', ...rest] = path.split('.');
    const key = rest.at(-1) ?? '';
    for (const value of around(option.kind)) {
      const options = { [key]: value };
      // Who opens the circuit does not ask what becomes of requests, nor a strategy which it is.
      const isElsewhere = key === 'onOpen' || key === 'strategy';
      const use = isElsewhere
        ? () => throttle(send, { [group]: options })
        : group === 'adaptive'
          ? () => useAdaptive(key, options)
          : () => users[group]?.(options as never);
      expect([value, isTaken(use)]).toEqual([value, isAccepted(option, value)]);
    }
  });

  it.each(ROWS.filter(({ path }) => !path.includes('.')))('of $path', ({ path, option }) => {
    const isProgress = path === 'total' || path === 'milestonePercent';
    const limits = path.endsWith('PerMinute') ? {} : { limits: { requests: LIMIT } };
    for (const value of around(option.kind)) {
      const isTakenHere = isAccepted(option, value);
      // What turns a group on stands beside the group itself: whoever uses it sees the group only.
      if (!isTakenHere && (path === 'circuitBreaker' || path === 'adaptive')) continue;
      const options: object = { ...limits, [path]: value };
      const use = isProgress ? () => new Progress(options, 0) : () => throttle(send, options);
      expect([value, isTaken(use)]).toEqual([value, isTakenHere]);
    }
  });
});

const LIMIT = { limit: 1, windowMs: 1 };

const send = async () => 1;

function useAdaptive(key: string, options: object): void {
  if (key === 'initialPerSecond') throttle(send, { adaptive: { strategy: 'rate', ...options } });
  const isCooling = /^(initialLimit|failure.*|coolingMs|ceilingResetFactor)$/.test(key);
  if (isCooling) new Aimd({ maxLimit: MANY, ...options }, 0, new Interval());
  if (!isCooling || key === 'initialLimit') gradientSettings({ maxLimit: MANY, ...options });
}

describe('the defaults', () => {
  const defaultOf = (path: string) => ROWS.find((row) => row.path === path)?.option.default;

  it('that the table has itself are those of their users', () => {
    expect(defaultOf('maxRetryAfterMs')).toBe(DEFAULT_MAX_RETRY_AFTER_MS);
    expect(defaultOf('agingMs')).toBe(10_000);
    const rule = checkRateLimits({ requests: { limit: 5, windowMs: 1 } })[0];
    expect(rule).toMatchObject({
      algorithm: defaultOf('limits.<name>.algorithm'),
      charge: defaultOf('limits.<name>.charge'),
      maxCost: 5,
    });
    const { per, minLimit } = gradientSettings({ maxLimit: 1000 });
    expect({ per, minLimit }).toEqual({
      per: defaultOf('adaptive.per'),
      minLimit: defaultOf('adaptive.minLimit'),
    });
    expect(STRATEGIES).toEqual(['rate', 'latency', 'failures']);
    expect(defaultOf('adaptive')).toBe(adaptiveChoice({}));
  });

  it('are values that their options take', () => {
    const states =
      /^(off|no bound|unknown|required|root of the limit|`limit`|`inputPrice`|16, or .*|wait \(streams\), .*|wait; fail if .*)$/;
    for (const { path, option } of ROWS) {
      const isState = typeof option.default === 'string' && states.test(option.default);
      expect([path, isState || isAccepted(option, option.default)]).toEqual([path, true]);
    }
  });
});
