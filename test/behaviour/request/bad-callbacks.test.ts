import { of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  createLimiter,
  type DispatchOptions,
  dispatch,
  type Feedback,
  FeedbackSubject,
  type ThrottleOptions,
  throttle,
} from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/index.ts';
import { ApiError, watch } from '../../request/harness.ts';

const send = async (value: unknown) => value;

describe('options that are refused at once', () => {
  it.each([
    [{ random: 5 }, '`random` must be a function, got 5'],
    [{ clock: 5 }, '`clock` must be an object, got 5'],
    [{ clock: {} }, '`clock.now` must be a function, got undefined'],
    [{ clock: null }, '`clock` must be an object, got null'],
    [{ instrumentation: 5 }, '`instrumentation` must be an object, got 5'],
    [{ instrumentation: { settled: 5 } }, '`instrumentation.settled` must be a function, got 5'],
  ])('%j', (options, message) => {
    expect(() => throttle(send, options as unknown as ThrottleOptions)).toThrow(message);
    expect(() => dispatch(send, options as unknown as DispatchOptions)).toThrow(message);
    expect(() => createLimiter(options as never)).toThrow(message);
  });

  it.each([
    [1000, 'the options of backoff must be an object, got 1000'],
    [null, 'the options of backoff must be an object, got null'],
    [[], 'the options of backoff must be an object, got an array of 0'],
    [{ clock: new ManualClock() }, '`clock` is no option of backoff'],
    [{ reopen: 'none' }, '`backoff.reopen` must be one of "probe", "all", got "none"'],
  ])('backoff: %j', (backoff, message) => {
    expect(() => throttle(send, { backoff } as ThrottleOptions)).toThrow(message);
  });
});

describe('feedback without a valid kind', () => {
  it.each([
    [undefined, '`feedback` must be an object, got undefined'],
    ['throttled', '`feedback` must be an object, got "throttled"'],
    [{}, '`feedback.kind` must be one of "ok"'],
    [{ kind: 'nope' }, 'got "nope"'],
  ])('%j is refused', (feedback, message) => {
    expect(() => new FeedbackSubject().next(feedback as Feedback)).toThrow(message);
  });
});

it('feedback may carry fields of its own: a stream of it may serve others, too', () => {
  const feedback = new FeedbackSubject();
  const seen: Feedback[] = [];
  feedback.subscribe((each) => seen.push(each));
  const own = { kind: 'throttled' as const, retryAfterMs: 5, model: 'large' };
  feedback.next(own);
  expect(seen).toEqual([own]);
});

describe('callbacks that throw or return wrong values', () => {
  it.each(['retry', 5, {}, Promise.resolve()])(
    'classify returns %o: the error names it',
    async (said) => {
      const seen = watch(
        of('a').pipe(
          throttle(
            async () => {
              throw new ApiError(429);
            },
            { clock: new ManualClock(), classify: (() => said) as never },
          ),
        ),
      );
      await new Promise((resolve) => setImmediate(resolve));
      expect(seen.state).toBe('error');
      expect(String(seen.error)).toMatch(/classify/);
    },
  );

  it('random throws: the request fails with that, and gives its slot back', async () => {
    const limiter = createLimiter({
      clock: new ManualClock(),
      random: () => {
        throw new Error('no luck');
      },
    });
    const failing = limiter.run(async () => {
      throw new ApiError(500);
    });
    await expect(failing).rejects.toThrow('no luck');
    expect(limiter.snapshot().concurrency.inFlight).toBe(0);
  });

  it('an estimator returns a promise: the error says so', () => {
    const estimate = (async () => 5) as never;
    const seen = watch(of('a').pipe(throttle(send, { estimate })));
    expect(String(seen.error)).toContain('must not return a promise');
  });
});
