import { concat, defer, finalize, NEVER, type Observable, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  createLimiter,
  ResponseError,
  RetryAfterTooLongError,
  throttle,
} from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { watch } from '../../request/harness.ts';

/** A response of fetch whose body is not text and never ends, and whether it was cancelled. */
function response(status: number, headers: Record<string, string> = {}) {
  let cancelled = false;
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode('text')),
    cancel: () => {
      cancelled = true;
    },
  });
  const told = { 'content-type': 'application/octet-stream', ...headers };
  return { answer: new Response(body, { status, headers: told }), cancelled: () => cancelled };
}

function answering(responses: readonly { answer: Response }[], clock: ManualClock) {
  const calls: number[] = [];
  const project = async () => {
    calls.push(clock.now());
    return responses[calls.length - 1]?.answer ?? new Response('good');
  };
  return { calls, project };
}

describe('a Response that is not ok', () => {
  it('is retried, and its body is cancelled', async () => {
    const clock = new ManualClock();
    const rejected = response(429, { 'retry-after': '2' });
    const failed = response(500);
    const { calls, project } = answering([rejected, failed], clock);
    const seen = watch(
      of('a').pipe(throttle(project, { clock, adaptive: false, random: () => 0.5 })),
    );
    await clock.runAllAsync();
    expect(calls).toEqual([0, 2000, 2250]);
    expect([rejected.cancelled(), failed.cancelled()]).toEqual([true, true]);
    expect(seen.values.map(({ status }) => status)).toEqual([200]);
    expect(await seen.values[0]?.text()).toBe('good');
  });

  it('and says that nothing was modified (304) is a success', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock });
    const answer = new Response(null, { status: 304 });
    const seen = watch(of('a').pipe(limiter.throttle(async () => answer, { outcomes: true })));
    await clock.runAllAsync();
    expect(seen.values).toMatchObject([{ status: 'ok', value: answer }]);
    expect(limiter.snapshot().ended).toMatchObject({ ok: 1, failed: 0 });
  });

  it('is returned if a retry cannot help, and can be read', async () => {
    const clock = new ManualClock();
    const { answer, cancelled } = response(404);
    const { calls, project } = answering([{ answer }], clock);
    const seen = watch(of('a').pipe(throttle(project, { clock })));
    await clock.runAllAsync();
    expect(calls).toEqual([0]);
    expect(seen.values).toEqual([answer]);
    expect(seen.state).toBe('complete');
    expect(cancelled()).toBe(false);
  });

  it('is returned when the attempts are used up', async () => {
    const clock = new ManualClock();
    const responses = [response(500), response(500), response(500)];
    const { project } = answering(responses, clock);
    const seen = watch(of('a').pipe(throttle(project, { clock })));
    await clock.runAllAsync();
    expect(seen.values).toEqual([responses[2]?.answer]);
    expect(responses.map(({ cancelled }) => cancelled())).toEqual([true, true, false]);
  });

  it.each([
    [429, 2],
    [500, 2],
    [404, 1],
  ])('%i is a failure among outcomes, and says so', async (status, attempts) => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, maxAttempts: 2 });
    const project = async () => new Response('', { status });
    const seen = watch(of('a').pipe(limiter.throttle(project, { outcomes: true })));
    await clock.runAllAsync();
    const [outcome] = seen.values;
    expect(outcome).toMatchObject({ status: 'failed', request: 'a', stats: { attempts } });
    const error = outcome?.status === 'failed' ? outcome.error : undefined;
    expect(error).toBeInstanceOf(ResponseError);
    expect((error as ResponseError).response).toMatchObject({ status });
    expect(limiter.snapshot().concurrency.inFlight).toBe(0);
  });

  it('is an ok outcome if `classify` returns `ok`', async () => {
    const clock = new ManualClock();
    const answer = new Response('', { status: 404 });
    const classify = () => ({ kind: 'ok' }) as const;
    const project = async () => answer;
    const seen = watch(of('a').pipe(throttle(project, { clock, classify, outcomes: true })));
    await clock.runAllAsync();
    expect(seen.values).toMatchObject([{ status: 'ok', value: answer }]);
  });

  it('is in the failed outcome, whatever was emitted after it', async () => {
    const clock = new ManualClock();
    const refusal = new Response('', { status: 404 });
    const project = () => of(refusal, new Response('good'));
    const seen = watch(of('a').pipe(throttle(project, { clock, outcomes: true })));
    await clock.runAllAsync();
    const [outcome] = seen.values;
    const error = outcome?.status === 'failed' ? outcome.error : undefined;
    expect((error as ResponseError | undefined)?.response).toBe(refusal);
  });

  it('fails the request if it names too long a wait', async () => {
    const clock = new ManualClock();
    const { answer } = response(429, { 'retry-after': '3600' });
    const { project } = answering([{ answer }], clock);
    const seen = watch(of('a').pipe(throttle(project, { clock })));
    await clock.runAllAsync();
    expect(seen.error).toBeInstanceOf(RetryAfterTooLongError);
    expect(seen.error).toMatchObject({ retryAfterMs: 3_600_000, cause: answer });
  });

  it('is retried if its body is locked or missing', async () => {
    const clock = new ManualClock();
    const locked = response(429).answer;
    locked.body?.getReader();
    const { calls, project } = answering(
      [{ answer: locked }, { answer: new Response(null, { status: 429 }) }],
      clock,
    );
    const seen = watch(of('a').pipe(throttle(project, { clock })));
    await clock.runAllAsync();
    expect(calls.length).toBe(3);
    expect(seen.state).toBe('complete');
  });
});

describe('a Response from an Observable', () => {
  it.each([0, 0.5])('ends the attempt before the next begins (random: %s)', async (random) => {
    const clock = new ManualClock();
    const log: string[] = [];
    const project = (_: string, { attempt }: { attempt: number }) =>
      defer(() => {
        log.push(`start ${attempt}`);
        const answer = attempt < 3 ? response(500).answer : new Response('good');
        return concat(of(answer), attempt < 3 ? NEVER : []);
      }).pipe((source) => withEnd(source, () => log.push(`end ${attempt}`)));
    const seen = watch(of('a').pipe(throttle(project, { clock, random: () => random })));
    await clock.runAllAsync();
    expect(log).toEqual(['start 1', 'end 1', 'start 2', 'end 2', 'start 3', 'end 3']);
    expect(seen.values.map(({ status }) => status)).toEqual([200]);
    expect(seen.state).toBe('complete');
  });

  it.each([true, false])('is cancelled when the request fails (outcomes: %s)', async (outcomes) => {
    const clock = new ManualClock();
    let ended = 0;
    const project = () =>
      withEnd(concat(of(response(429, { 'retry-after': '3600' }).answer), NEVER), () => {
        ended += 1;
      });
    const options = { clock, outcomes: outcomes as true };
    const seen = watch(of('a').pipe(throttle(project, options)));
    await clock.runAllAsync();
    expect(ended).toBe(1);
    expect(seen.state).toBe(outcomes ? 'complete' : 'error');
  });
});

function withEnd<R>(source: Observable<R>, end: () => void): Observable<R> {
  return source.pipe(finalize(end));
}

it.each([200, 429])('a response of node-fetch is read without a warning: %i', async (status) => {
  const clock = new ManualClock();
  const limiter = createLimiter({ clock, maxAttempts: 1, tokensPerMinute: 100 });
  let reads = 0;
  const answer = {
    ok: status < 300,
    status,
    headers: new Headers(),
    json: async () => ({}),
    // Each read of it warns.
    get data() {
      reads += 1;
      return undefined;
    },
  };
  expect(await limiter.run(async () => answer, { tokens: 5 })).toBe(answer);
  expect(reads).toBe(0);
  expect(limiter.snapshot().ended).toMatchObject(status === 200 ? { ok: 1 } : { failed: 1 });
});
