import { of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  type AcquireOptions,
  createLimiter,
  FeedbackSubject,
  type LimiterOptions,
} from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { expectIdle } from './harness.ts';

const clock = new ManualClock();

describe('createLimiter', () => {
  it.each([
    [{ concurrency: 0 }, '`concurrency` must be an integer >= 1, got 0'],
    [{ concurrency: Number.NaN }, '`concurrency` must be an integer >= 1, got NaN'],
    [{ concurrency: '5' }, '`concurrency` must be an integer >= 1, got "5"'],
    [{ concurrency: of(5) }, '`concurrency` must be an integer >= 1, got an object'],
    [{ maxBytes: -1 }, '`maxBytes` must be an integer >= 0, got -1'],
    [{ maxBytes: Number.POSITIVE_INFINITY }, '`maxBytes` must be an integer >= 0, got Infinity'],
    [{ throttledConcurrency: 0.5 }, '`throttledConcurrency`'],
    [{ throttledByteFactor: 0 }, '`throttledByteFactor`'],
    [{ maxAttempts: 0 }, '`maxAttempts` must be an integer >= 1 or Infinity, got 0'],
    [{ deadlineMs: Number.NaN }, '`deadlineMs` must be a number >= 1 or Infinity, got NaN'],
    [{ classify: 'x' }, '`classify` must be a function, got "x"'],
    [{ backoff: { backoffMs: 0 } }, '`backoff.backoffMs` must be an integer >= 1, got 0'],
    [{ feedback: {} }, '`feedback` must be a FeedbackSubject'],
    [{ feedback: new FeedbackSubject(), clock }, '`clock` must be the clock of `feedback`'],
    [
      { feedback: new FeedbackSubject(), backoff: {} },
      '`backoff` and `feedback` exclude each other',
    ],
    [{ concurency: 5 }, '`concurency` is no option of createLimiter'],
    [
      { maxRetries: 5 },
      'no option of createLimiter; did you mean `maxAttempts`? The first attempt',
    ],
    [{ retries: 5 }, '`retries` is no option of createLimiter; did you mean `maxAttempts`?'],
    [{ rpm: 5 }, '`rpm` is no option of createLimiter; did you mean `requestsPerMinute`?'],
    [{ tpm: 5 }, '`tpm` is no option of createLimiter; did you mean `tokensPerMinute`?'],
    [{ timeout: 5 }, '`timeout` is no option of createLimiter; did you mean `attemptTimeoutMs`?'],
    [{ timeoutMs: 5 }, 'no option of createLimiter; did you mean `attemptTimeoutMs`?'],
    [{ interval: 5 }, '`interval` is no option of createLimiter; did you mean `pace.intervalMs`?'],
    [{ intervalMs: 5 }, 'no option of createLimiter; did you mean `pace.intervalMs`?'],
    [{ priority: 5 }, '; give it to `limiter.throttle` or `limiter.run`'],
    [{ outcomes: true }, /^`outcomes` is no option .*; give it to `limiter.throttle`$/],
    [{ estimate: () => 1 }, /^`estimate` is no option .*; give it to `limiter.throttle`$/],
    [null, 'the options of createLimiter must be an object, got null'],
  ])('%j is refused', (options, message) => {
    expect(() => createLimiter(options as LimiterOptions)).toThrow(message);
  });

  it('has the documented defaults', () => {
    expect(createLimiter({ clock }).snapshot()).toMatchObject({
      concurrency: {
        waiting: 0,
        longestWaitMs: 0,
        limit: 16,
        inFlight: 0,
        throttledLimit: 10,
        throttledInFlight: 0,
      },
      byteBudget: {
        waiting: 0,
        longestWaitMs: 0,
        maxBytes: 5_242_880,
        used: 0,
        balance: 5_242_880,
      },
      backoff: {
        waiting: 0,
        longestWaitMs: 0,
        state: 'open',
        closedForMs: 0,
        mode: 'normal',
        epoch: 0,
      },
    });
  });

  it('takes a feedback, and follows its backoff', () => {
    const feedback = new FeedbackSubject({ clock, backoffMs: 50 });
    const limiter = createLimiter({ feedback });
    feedback.next({ kind: 'throttled' });
    expect(limiter.feedback).toBe(feedback);
    expect(limiter.snapshot().backoff).toMatchObject({ closedForMs: 50, mode: 'throttled' });
  });
});

const UNSAID = { signal: undefined, costs: undefined } as unknown as AcquireOptions;

/** What it says is not enumerable, but for a mistake. */
class Said {
  readonly prioritty = 2;

  get priority(): number {
    return 1;
  }
}

describe('a request', () => {
  const wrong: [unknown, string][] = [
    [{ bytes: -1 }, '`bytes` must be a finite number >= 0, got -1'],
    [{ bytes: Number.NaN }, '`bytes` must be a finite number >= 0, got NaN'],
    [{ bytes: '10' }, '`bytes` must be a finite number >= 0, got "10"'],
    [{ tokens: Number.POSITIVE_INFINITY }, '`tokens` must be a finite number >= 0, got Infinity'],
    [{ signal: 'x' }, '`signal` must be an AbortSignal, got "x"'],
    [{ signal: null }, '`signal` must be an AbortSignal, got null'],
    [{ signal: new AbortController() }, '`signal` must be an AbortSignal, got an object'],
    [{ byte: 1 }, '`byte` is no option of a call; did you mean `bytes`? It takes bytes, tokens,'],
    [{ bytes: 1, byte: 1 }, '`byte` is no option of a call'],
    [{ bytes: undefined, byte: 1 }, '`byte` is no option of a call'],
    [new Said(), '`prioritty` is no option of a call; did you mean `priority`?'],
    [[], 'must be an object, got an array of 0'],
    [7, 'must be an object, got 7'],
  ];
  it.each(wrong)('with %j is refused, and holds nothing', async (options, message) => {
    const limiter = createLimiter({ clock });
    const given = options as object;
    await expect((async () => limiter.acquire(given))()).rejects.toThrow(message);
    await expect((async () => limiter.run(() => 1, given))()).rejects.toThrow(message);
    expectIdle(limiter);
  });

  it('may have options of any class, and partial options', async () => {
    const limiter = createLimiter({ clock });
    class Tokens {
      get tokens(): number {
        return 7;
      }
    }
    expect((await limiter.acquire(new Tokens())).tokens).toBe(7);
    const left: AcquireOptions = JSON.parse('{"bytes": 8}');
    expect((await limiter.acquire({ ...left, ...UNSAID })).tokens).toBe(2);
    expect((await limiter.acquire(Object.assign(Object.create(null), left))).bytes).toBe(8);
  });

  it('without a task is refused', async () => {
    const limiter = createLimiter({ clock });
    const run = async () => limiter.run('task' as unknown as () => void);
    await expect(run()).rejects.toThrow('`task` must be a function, got "task"');
  });
});

describe('limiter.throttle', () => {
  const send = async () => 1;
  it.each([
    [undefined, {}, '`project` must be a function, got undefined'],
    [send, { concurrency: 5 }, '`concurrency` is no option of limiter.throttle'],
    [send, { ordered: 'yes' }, '`ordered` must be true or false, got "yes"'],
    [send, { outcomes: 1 }, '`outcomes` must be true or false, got 1'],
    [send, { estimate: 5 }, '`estimate` must be a function'],
  ])('%s with %j is refused', (project, options, message) => {
    const limiter = createLimiter({ clock });
    expect(() =>
      limiter.throttle(project as typeof send, options as { readonly outcomes?: false }),
    ).toThrow(message);
  });
});
