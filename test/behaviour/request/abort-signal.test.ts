import { NEVER, of, range } from 'rxjs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type AttemptContext, throttle } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { ApiError, tooMany, watch } from '../../request/harness.ts';

const forever = () => new Promise<string>(() => undefined);

describe('the signal of an attempt', () => {
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  it('fires when the stream is unsubscribed, only for requests in flight', async () => {
    const clock = new ManualClock();
    const signals: AbortSignal[] = [];
    const project = (value: number, { signal }: AttemptContext) => {
      signals.push(signal);
      return value === 0 ? of(value) : forever();
    };
    const seen = watch(range(0, 3).pipe(throttle(project, { clock })));
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false, false]);
    seen.subscription.unsubscribe();
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, true, true]);
    expect(signals[1]?.reason).toMatchObject({ name: 'AbortError' });
  });

  it('fires when another request errors the stream', async () => {
    const clock = new ManualClock();
    const signals: AbortSignal[] = [];
    const project = async (value: number, { signal }: AttemptContext) => {
      signals.push(signal);
      if (value === 1) throw new ApiError(400);
      return forever();
    };
    const seen = watch(range(0, 3).pipe(throttle(project, { clock })));
    await clock.advanceAsync(0);
    expect(seen.state).toBe('error');
    expect([signals[0]?.aborted, signals[2]?.aborted]).toEqual([true, true]);
  });

  it('is a new one for each attempt, and that of a rejected attempt stays silent', async () => {
    const clock = new ManualClock();
    const signals: AbortSignal[] = [];
    const project = async (_: string, { attempt, signal }: AttemptContext) => {
      signals.push(signal);
      if (attempt === 1) throw tooMany();
      return 'done';
    };
    watch(of('a').pipe(throttle(project, { clock })));
    await clock.runAllAsync();
    expect(new Set(signals).size).toBe(2);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
  });

  it('has aborted already if it is read too late', () => {
    const clock = new ManualClock();
    let context: AttemptContext | undefined;
    const project = (_: string, given: AttemptContext) => {
      context = given;
      return NEVER;
    };
    watch(of('a').pipe(throttle(project, { clock }))).subscription.unsubscribe();
    expect(context?.signal.aborted).toBe(true);
    expect(context?.signal).toBe(context?.signal);
  });

  it('is not made unless it is read', async () => {
    let made = 0;
    const Original = AbortController;
    vi.stubGlobal(
      'AbortController',
      class extends Original {
        constructor() {
          super();
          made += 1;
        }
      },
    );
    const clock = new ManualClock();
    watch(range(0, 5).pipe(throttle(() => NEVER, { clock }))).subscription.unsubscribe();
    watch(range(0, 5).pipe(throttle(async () => 'done', { clock })));
    await clock.runAllAsync();
    expect(made).toBe(0);
    const reading = (_: number, context: AttemptContext) => of(context.signal, context.signal);
    watch(range(0, 2).pipe(throttle(reading, { clock })));
    expect(made).toBe(2);
  });

  it('makes the answer of an abandoned call be ignored', async () => {
    const clock = new ManualClock();
    const project = (_: string, { signal }: AttemptContext) =>
      new Promise<string>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    const seen = watch(of('a').pipe(throttle(project, { clock })));
    seen.subscription.unsubscribe();
    await clock.runAllAsync();
    expect(seen).toMatchObject({ values: [], state: 'open' });
    expect(clock.pendingTimers).toBe(0);
  });
});
