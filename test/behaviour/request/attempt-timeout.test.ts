import fc from 'fast-check';
import { from, last, lastValueFrom, NEVER, Observable, of, startWith, toArray } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import {
  type AttemptContext,
  createLimiter,
  createLimiterGroup,
  throttle,
} from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { expectIdle, fate } from '../../limiter/harness.ts';
import { serve } from '../../limiter/server.ts';
import { failingWith, type Pending, pending, watch } from '../../request/harness.ts';

const MINUTE_MS = 60_000;

/** Attempts that never end; when each started, and why each was aborted. */
function hanging(clock: ManualClock) {
  const starts: number[] = [];
  const reasons: unknown[] = [];
  const project = (_value: unknown, { signal }: AttemptContext) => {
    starts.push(clock.now());
    signal.addEventListener('abort', () => reasons.push(signal.reason));
    return new Promise<string>(() => {});
  };
  return { starts, reasons, project };
}

describe('an attempt that takes too long', () => {
  it('fails after 10 minutes, is aborted, and is retried twice', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, random: () => 0 });
    const { starts, reasons, project } = hanging(clock);
    const seen = watch(of('a').pipe(limiter.throttle(project)));
    await clock.advanceAsync(10 * MINUTE_MS - 1);
    expect(reasons).toEqual([]);
    await clock.runAllAsync();
    const ms = 10 * MINUTE_MS;
    expect(starts).toEqual([0, ms + 1, 2 * (ms + 1)]);
    expect(seen.error).toMatchObject({
      code: 'ATTEMPT_TIMEOUT',
      message: 'the attempt did not end within attemptTimeoutMs (600000)',
    });
    expect(reasons).toHaveLength(3);
    expect(reasons[2]).toBe(seen.error);
    expectIdle(limiter);
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([1, 2, 5])('is sent `failedAttempts` times: %s', async (failedAttempts) => {
    const clock = new ManualClock();
    const options = { clock, attemptTimeoutMs: 100, failedAttempts, random: () => 0 };
    const { starts, project } = hanging(clock);
    const run = fate(createLimiter(options).run((context) => project('', context)));
    const stream = watch(of('a').pipe(throttle(project, options)));
    const group = createLimiterGroup((key: string) => key, { clock, each: options });
    const keyed = fate(group.run('a', (context) => project('', context)));
    await clock.advanceAsync(failedAttempts * 101);
    expect(starts).toHaveLength(3 * failedAttempts);
    for (const { error } of [run, stream, keyed]) {
      expect(error).toMatchObject({ code: 'ATTEMPT_TIMEOUT', attemptTimeoutMs: 100 });
    }
  });

  it('is ignored afterwards: its late end does not end the next attempt', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, attemptTimeoutMs: 100, random: () => 0 });
    const calls: Pending<string>[] = [];
    const run = fate(
      limiter.run(() => {
        const call = pending<string>();
        calls.push(call);
        return call.promise;
      }),
    );
    await clock.advanceAsync(110);
    expect(calls).toHaveLength(2);
    calls[0]?.resolve('too late');
    await clock.advanceAsync(1);
    expect(run.state).toBe('open');
    calls[1]?.resolve('second');
    await clock.advanceAsync(1);
    expect(run.value).toBe('second');
  });

  it('ends the request if it has emitted, without a retry', async () => {
    const clock = new ManualClock();
    const seen = watch(
      of('a').pipe(throttle(() => NEVER.pipe(startWith('part')), { clock, attemptTimeoutMs: 50 })),
    );
    await clock.runAllAsync();
    expect(seen.values).toEqual(['part']);
    expect(seen.error).toMatchObject({ code: 'ATTEMPT_TIMEOUT' });
    expect(clock.now()).toBe(50);
  });

  it('counts from its own start, not from that of the request', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, concurrency: 1, attemptTimeoutMs: 100 });
    const ends = (ms: number) => () =>
      new Promise((resolve) => clock.setTimer(() => resolve('ok'), ms));
    const runs = [90, 90, 90].map((ms) => fate(limiter.run(ends(ms))));
    await clock.runAllAsync();
    expect(runs.map(({ state }) => state)).toEqual(['ok', 'ok', 'ok']);
  });

  it('is read by `classify`, as any error', async () => {
    const clock = new ManualClock();
    const { starts, project } = hanging(clock);
    const classify = () => ({ kind: 'fatal' }) as const;
    const seen = watch(of('a').pipe(throttle(project, { clock, attemptTimeoutMs: 9, classify })));
    await clock.runAllAsync();
    expect(starts).toEqual([0]);
    expect(seen.state).toBe('error');
  });

  it('has no bound with Infinity, and needs no timer then', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, attemptTimeoutMs: Number.POSITIVE_INFINITY });
    fate(limiter.run(() => new Promise(() => {})));
    expect(clock.pendingTimers).toBe(0);
  });

  it('keeps its slot until then, and gives it to the next request', async () => {
    const clock = new ManualClock();
    const { project } = failingWith([], () => clock.now());
    const options = { clock, concurrency: 1, attemptTimeoutMs: 100, failedAttempts: 1 };
    const send = (value: number) => (value === 0 ? new Promise<string>(() => {}) : project());
    const all = lastValueFrom(
      from([0, 1, 2]).pipe(throttle(send, { ...options, outcomes: true }), toArray()),
    );
    await clock.runAllAsync();
    expect((await all).map(({ status }) => status)).toEqual(['failed', 'ok', 'ok']);
    expect(clock.now()).toBe(100);
  });

  it('aborts a call of fetch: before its head, and in its body', async () => {
    const { url, seen } = await serve(
      () => {},
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/plain' });
        response.write('part');
      },
    );
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, attemptTimeoutMs: 150, failedAttempts: 1 });
    const first = fate(limiter.fetch(url));
    await vi.waitUntil(() => seen.length === 1, 10_000);
    clock.advance(150);
    await vi.waitUntil(() => first.state !== 'open', 10_000);
    expect(first.error).toMatchObject({ code: 'ATTEMPT_TIMEOUT' });
    const response = await limiter.fetch(url);
    const text = fate(response.text());
    clock.advance(150);
    await vi.waitUntil(() => text.state !== 'open', 10_000);
    expect(text.error).toMatchObject({ code: 'ATTEMPT_TIMEOUT' });
    await limiter.drain();
    expect(seen).toHaveLength(2);
    expectIdle(limiter);
  });
});

describe('time that is bounded, at whatever moments attempts end', () => {
  it('ends every request once, and nothing is held at the end', async () => {
    const request = fc.record({
      comesAtMs: fc.nat(400),
      /** How long each attempt takes, and how it ends; those after them go well at once. */
      attempts: fc.array(
        fc.record({ ms: fc.nat(300), end: fc.constantFrom('ok', 'fail', 'reject', 'emit') }),
        { minLength: 1, maxLength: 4 },
      ),
      isStream: fc.boolean(),
      abortAfterMs: fc.option(fc.nat(500), { nil: undefined }),
    });
    const setup = fc.record({
      attemptTimeoutMs: fc.constantFrom(40, 100, 250, Number.POSITIVE_INFINITY),
      deadlineMs: fc.constantFrom(undefined, 60, 300, 900),
      waitTimeoutMs: fc.constantFrom(undefined, 50, 400),
      failedAttempts: fc.constantFrom(1, 2, 3),
      concurrency: fc.constantFrom(1, 2, 5),
      requests: fc.array(request, { minLength: 1, maxLength: 12 }),
    });
    const law = fc.asyncProperty(setup, async ({ requests, ...options }) => {
      const clock = new ManualClock();
      const limiter = createLimiter({ clock, random: () => 0.5, ...options });
      const ends: number[] = requests.map(() => 0);
      let running = 0;
      for (const [index, { comesAtMs, attempts, isStream, abortAfterMs }] of requests.entries()) {
        const send = (context: AttemptContext) => {
          running += 1;
          expect(running).toBeLessThanOrEqual(options.concurrency);
          const { ms, end } = attempts[context.attempt - 1] ?? {
            ms: 0,
            end: 'ok',
          };
          const startedAt = clock.now();
          return new Observable<string>((out) => {
            if (end === 'emit') out.next('part');
            const timer = clock.setTimer(() => {
              if (end === 'fail') out.error(Object.assign(new Error('500'), { status: 500 }));
              else if (end === 'reject') out.error(Object.assign(new Error(), { status: 429 }));
              else {
                out.next('ok');
                out.complete();
              }
            }, ms);
            return () => {
              running -= 1;
              timer.cancel();
              const tookMs = clock.now() - startedAt;
              expect(tookMs).toBeLessThanOrEqual(options.attemptTimeoutMs + 1e-6);
              const age = clock.now() - comesAtMs;
              expect(age).toBeLessThanOrEqual((options.deadlineMs ?? Infinity) + 1e-6);
            };
          });
        };
        const ended = () => {
          ends[index] = (ends[index] ?? 0) + 1;
        };
        clock.setTimer(() => {
          if (isStream) {
            const project = (_: number, context: AttemptContext) => send(context);
            of(index).pipe(limiter.throttle(project)).subscribe({ complete: ended, error: ended });
          } else {
            const controller = new AbortController();
            const task = (context: AttemptContext) =>
              new Promise<string>((resolve, reject) => {
                const attempt = send(context)
                  .pipe(last())
                  .subscribe({ next: resolve, error: reject });
                context.signal.addEventListener('abort', () => attempt.unsubscribe());
              });
            const { signal } = controller;
            limiter.run(task, { signal }).then(ended, ended);
            if (abortAfterMs !== undefined) {
              clock.setTimer(() => controller.abort(), abortAfterMs);
            }
          }
        }, comesAtMs);
      }
      await clock.advanceAsync(600_000);
      expect(ends).toEqual(requests.map(() => 1));
      expect(running).toBe(0);
      expectIdle(limiter);
      expect(clock.pendingTimers).toBe(0);
    });
    await fc.assert(law, { numRuns: Number(process.env.LAW_RUNS ?? 150) });
  });
});
