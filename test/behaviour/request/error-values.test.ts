import { concat, NEVER, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  createLimiter,
  DeadlineExceededError,
  FeedbackSubject,
  ResponseError,
  RetryAfterTooLongError,
  throttle,
} from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { watch } from '../../request/harness.ts';

const GOOD = { choices: [{ message: { content: 'hello' } }] };
const THROTTLED = { error: { message: 'Slow down. Please try again in 2s.', code: 429 } };
const OVERLOADED = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
const NO_QUOTA = { error: { message: 'Quota is used up', code: 'insufficient_quota' } };
const UNKNOWN = { error: 'no such word' };

function answering(answers: readonly unknown[], clock: ManualClock) {
  const calls: number[] = [];
  const project = async (): Promise<unknown> => {
    calls.push(clock.now());
    return answers[calls.length - 1] ?? GOOD;
  };
  return { calls, project };
}

describe('a value that is the body of an error', () => {
  it('is retried if such an error is', async () => {
    const clock = new ManualClock();
    const { calls, project } = answering([THROTTLED, OVERLOADED, { error: { code: 500 } }], clock);
    const seen = watch(
      of('a').pipe(throttle(project, { clock, adaptive: false, random: () => 0.5 })),
    );
    await clock.runAllAsync();
    expect(seen.values).toEqual([GOOD]);
    expect(calls).toHaveLength(4);
    expect(calls[1]).toBe(2_000);
  });

  it('closes the backoff gate for all requests, and is emitted as feedback', async () => {
    const clock = new ManualClock();
    const feedback = new FeedbackSubject({ clock });
    const kinds: string[] = [];
    feedback.subscribe(({ kind, retryAfterMs }) => kinds.push(`${kind} ${retryAfterMs}`));
    const { project } = answering([THROTTLED], clock);
    watch(of('a').pipe(throttle(project, { feedback })));
    await clock.runAllAsync();
    expect(kinds).toEqual(['throttled 2000', 'ok undefined']);
  });

  it('is returned if a retry cannot help', async () => {
    const clock = new ManualClock();
    const { calls, project } = answering([NO_QUOTA], clock);
    const seen = watch(of('a').pipe(throttle(project, { clock })));
    await clock.runAllAsync();
    expect(calls).toEqual([0]);
    expect(seen.values).toEqual([NO_QUOTA]);
    expect(seen.state).toBe('complete');
  });

  it('opens a circuit breaker if it reports an outage', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, circuitBreaker: true });
    const { project } = answering([NO_QUOTA], clock);
    expect(await limiter.run(project)).toBe(NO_QUOTA);
    expect(limiter.circuit?.state).toBe('open');
    await expect(limiter.run(project)).rejects.toMatchObject({ code: 'QUOTA_EXHAUSTED' });
  });

  it('is returned when the attempts are used up', async () => {
    const clock = new ManualClock();
    const { calls, project } = answering([THROTTLED, THROTTLED], clock);
    const seen = watch(of('a').pipe(throttle(project, { clock, maxAttempts: 2 })));
    await clock.runAllAsync();
    expect(calls).toHaveLength(2);
    expect(seen.values).toEqual([THROTTLED]);
  });

  it.each([
    [NO_QUOTA, 'the API answered with an error'],
    [{ statusCode: 404, error: 'Not Found' }, 'the API answered with an error'],
    [{ status: 404, error: 'Not Found' }, 'the API answered 404'],
  ])('is a failure among outcomes: %j', async (answer, message) => {
    const clock = new ManualClock();
    const { project } = answering([answer], clock);
    const seen = watch(of('a').pipe(throttle(project, { clock, outcomes: true })));
    await clock.runAllAsync();
    const [outcome] = seen.values;
    const error = outcome?.status === 'failed' ? outcome.error : undefined;
    expect(error).toBeInstanceOf(ResponseError);
    expect(error).toMatchObject({ response: answer, message });
  });

  it('is the cause of the error if it names too long a wait, or the deadline passes', async () => {
    const clock = new ManualClock();
    const long = { error: { message: 'Please try again in 2h.', code: 429 } };
    const tooLong = watch(of('a').pipe(throttle(async () => long, { clock })));
    const late = watch(
      of('a').pipe(
        throttle(async () => OVERLOADED, {
          clock,
          deadlineMs: 1_500,
          adaptive: false,
          random: () => 0.9,
        }),
      ),
    );
    await clock.runAllAsync();
    expect(tooLong.error).toBeInstanceOf(RetryAfterTooLongError);
    expect(tooLong.error).toMatchObject({ retryAfterMs: 7_200_000, cause: long });
    expect(late.values).toEqual([OVERLOADED]);
    const closed = watch(
      of('a').pipe(throttle(async () => THROTTLED, { clock, deadlineMs: 1_500, adaptive: false })),
    );
    await clock.runAllAsync();
    expect(closed.error).toBeInstanceOf(DeadlineExceededError);
    expect(closed.error).toMatchObject({ cause: THROTTLED });
  });

  it('is unsubscribed before the next attempt, and judged only as the first value', async () => {
    const clock = new ManualClock();
    let calls = 0;
    const project = () => {
      calls += 1;
      return calls === 1 ? concat(of<unknown>(THROTTLED), NEVER) : of<unknown[]>(GOOD, THROTTLED);
    };
    const seen = watch(of('a').pipe(throttle(project, { clock, adaptive: false })));
    await clock.runAllAsync();
    expect(calls).toBe(2);
    expect(seen.values).toEqual([GOOD, THROTTLED]);
    expect(seen.state).toBe('complete');
  });
});

describe('a result with an error field', () => {
  it.each([[UNKNOWN], [{ ...THROTTLED, data: null }], [{ ...THROTTLED, choices: [] }]])(
    'is a result like any other: %j',
    async (answer: object) => {
      const clock = new ManualClock();
      const feedback = new FeedbackSubject({ clock });
      const kinds: string[] = [];
      feedback.subscribe(({ kind }) => kinds.push(kind));
      const { calls, project } = answering([answer], clock);
      const seen = watch(of('a').pipe(throttle(project, { feedback, outcomes: true })));
      await clock.runAllAsync();
      expect(calls).toHaveLength(1);
      expect(seen.values).toMatchObject([{ status: 'ok', value: answer }]);
      expect(kinds).toEqual(['ok']);
    },
  );

  it('can be recognised by `classify`, with other errors', async () => {
    const clock = new ManualClock();
    const classify = (error: unknown) =>
      error === UNKNOWN ? ({ kind: 'overloaded' } as const) : ({ kind: 'ok' } as const);
    const { calls, project } = answering([UNKNOWN, THROTTLED], clock);
    const seen = watch(of('a').pipe(throttle(project, { clock, classify })));
    await clock.runAllAsync();
    expect(calls).toHaveLength(2);
    expect(seen.values).toEqual([THROTTLED]);
  });

  it('fails with what `classify` throws', async () => {
    const clock = new ManualClock();
    const classify = () => {
      throw new Error('of the classifier');
    };
    const seen = watch(of('a').pipe(throttle(async () => UNKNOWN, { clock, classify })));
    await clock.runAllAsync();
    expect(seen.error).toMatchObject({ message: 'of the classifier' });
  });
});
