import { range } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createLimiter } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { ApiError, watch } from '../../request/harness.ts';

type Wait = (ms: number) => Promise<void>;

/** Serves a request, in virtual time. @returns the status of the answer */
type Server = (n: number, now: number, wait: Wait) => Promise<number>;

/** Runs requests against a server behind a gateway. */
async function run(server: Server, requests = 300) {
  const clock = new ManualClock();
  const wait: Wait = (ms) => new Promise((resolve) => clock.setTimer(resolve, ms));
  const calls: number[] = [];
  let failed = 0;
  const send = async (n: number): Promise<number> => {
    calls.push(n);
    await wait(1 + (calls.length % 3));
    const status = await server(n, clock.now(), wait);
    if (status === 200) return n;
    failed += 1;
    throw new ApiError(status);
  };
  const limiter = createLimiter({ clock, concurrency: 100 });
  let outages = 0;
  limiter.events$.subscribe((event) => {
    if (event.kind === 'outageStarted' && event.reason === 'unreachable') outages += 1;
  });
  const seen = watch(range(0, requests).pipe(limiter.throttle(send, { outcomes: true })));
  await clock.runAllAsync();
  limiter.close();
  const lost = seen.values.filter(({ status }) => status !== 'ok').map(({ request }) => request);
  return { lost, failed, calls, outages, seconds: clock.now() / 1_000 };
}

/** Answers after 300 ms, and is down from 3 s on. */
function restarting(downMs: number, status: number): Server {
  return async (_, now, wait) => {
    if (now > 3_000 && now < 3_000 + downMs) return status;
    await wait(300);
    return 200;
  };
}

/** Serves four requests at a time, 200 ms each. The gateway lets it have only these (nginx). */
function capped(): Server {
  let inProgress = 0;
  return async (_, _now, wait) => {
    if (inProgress >= 4) return 502;
    inProgress += 1;
    await wait(200);
    inProgress -= 1;
    return 200;
  };
}

/** Serves four requests at a time, 200 ms each. The gateway waits a second for each answer. */
function queued(): Server {
  let freeAt = [0, 0, 0, 0];
  return async (_, now, wait) => {
    const [first = 0, ...others] = freeAt.sort((a, b) => a - b);
    const endsAt = Math.max(first, now) + 200;
    // The server does not notice that the gateway has given up.
    freeAt = [...others, endsAt];
    const isLate = endsAt - now > 1_000;
    await wait(isLate ? 1_000 : endsAt - now);
    return isLate ? 504 : 200;
  };
}

describe('a gateway that cannot reach the server', () => {
  it.each([502, 504])('loses no request while the server restarts, by %i', async (status) => {
    const { lost, failed, outages, seconds } = await run(restarting(4_000, status), 2_000);
    expect(lost).toEqual([]);
    expect(outages).toBeGreaterThan(0);
    expect(failed).toBeLessThan(120);
    expect(seconds).toBeLessThan(13);
  });

  it('loses no request while the server is down for longer than all attempts take', async () => {
    const { lost, failed, outages } = await run(async (_, now, wait) => {
      if (now < 60_000) return 502;
      await wait(300);
      return 200;
    }, 4);
    expect(lost).toEqual([]);
    expect(failed).toBeGreaterThan(4 * 3);
    expect(outages).toBe(1);
  });

  it('loses no request if it rejects those above a bound on those in progress', async () => {
    const { lost, failed, seconds } = await run(capped());
    expect(lost).toEqual([]);
    expect(failed).toBeLessThan(200);
    expect(seconds).toBeLessThan(19);
  });

  it('gets no flood if it gives up on requests of an overloaded server', async () => {
    const { lost, failed, seconds } = await run(queued());
    expect(lost).toEqual([]);
    expect(failed).toBeLessThan(120);
    expect(seconds).toBeLessThan(32);
  });

  it('fails a request that makes the server fail, after three attempts', async () => {
    const { lost, calls, outages } = await run(async (n, _, wait) => {
      await wait(100);
      return n === 7 ? 502 : 200;
    });
    expect(lost).toEqual([7]);
    expect(calls.filter((n) => n === 7)).toHaveLength(3);
    expect(outages).toBe(0);
  });

  it('fails a request that is alone after three attempts: it may be the cause', async () => {
    const { lost, calls, outages } = await run(async () => 502, 1);
    expect(lost).toEqual([0]);
    expect(calls).toEqual([0, 0, 0]);
    expect(outages).toBe(0);
  });

  it('counts a request again that fails after an answer', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, concurrency: 10 });
    let outages = 0;
    limiter.events$.subscribe((event) => {
      if (event.kind === 'outageStarted') outages += 1;
    });
    const calls: string[] = [];
    const start = (name: string, isFailing: boolean) =>
      limiter.run(async () => {
        calls.push(name);
        if (isFailing && clock.now() < 10_000) throw new ApiError(502);
      });
    const first = start('first', true);
    await clock.advanceAsync(1);
    const answered = start('answered', false);
    while (calls.length < 3) await clock.advanceAsync(1);
    expect(calls).toEqual(['first', 'answered', 'first']);
    const others = [start('second', true), start('third', true)];
    await clock.advanceAsync(1);
    expect(outages).toBe(1);
    await clock.advanceAsync(60_000);
    await Promise.all([first, answered, ...others]);
    limiter.close();
  });

  it('is no outage if other requests are answered between its failures', async () => {
    const { lost, outages } = await run(async (n, now, wait) => {
      await wait(50 + (n % 7));
      return (n + Math.floor(now / 100)) % 10 === 0 ? 502 : 200;
    });
    expect(lost).toEqual([]);
    expect(outages).toBe(0);
  });
});
