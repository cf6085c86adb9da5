import { range } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createLimiter } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { seededRandom } from '../../../src/simulator/random.ts';
import { watch } from '../../request/harness.ts';

type Answer = 'ok' | 'ECONNRESET' | 'ECONNREFUSED';

/** Serves a request that arrives at `now`. @returns its answer, and when that comes */
type Server = (now: number) => readonly [answer: Answer, at: number];

function failure(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** Sends all requests at once, by `throttle` or by `run`. */
async function send(server: Server, requests: number, isStream: boolean) {
  const clock = new ManualClock();
  const limiter = createLimiter({ clock, random: seededRandom(7) });
  const sentAt: number[] = [];
  const call = (n: number) =>
    new Promise<number>((resolve, reject) => {
      sentAt.push(clock.now());
      const [answer, at] = server(clock.now());
      clock.setTimer(
        () => (answer === 'ok' ? resolve(n) : reject(failure(answer))),
        Math.max(1, at - clock.now()),
      );
    });
  let lost = 0;
  if (isStream) {
    const seen = watch(range(0, requests).pipe(limiter.throttle(call, { outcomes: true })));
    await clock.runAllAsync();
    lost = seen.values.filter(({ status }) => status !== 'ok').length;
  } else {
    const calls = Array.from({ length: requests }, (_, n) => limiter.run(() => call(n)));
    const results = Promise.allSettled(calls);
    await clock.runAllAsync();
    lost = (await results).filter(({ status }) => status === 'rejected').length;
  }
  limiter.close();
  return { lost, sentAt, seconds: clock.now() / 1_000 };
}

/**
 * A queue with some workers. The server closes a connection without an answer in time, but goes on
 * working for it.
 */
function closing(workers: number, serviceMs: number, closeMs: number): Server {
  const freeAt = Array.from({ length: workers }, () => 0);
  return (now) => {
    const at = Math.max(now, Math.min(...freeAt)) + serviceMs;
    freeAt[freeAt.indexOf(Math.min(...freeAt))] = at;
    return at - now > closeMs ? ['ECONNRESET', now + closeMs] : ['ok', at];
  };
}

/** Answers in 300 ms, and cannot be reached from 3 s to 8 s. */
const restarting: Server = (now) =>
  now >= 3_000 && now < 8_000 ? ['ECONNREFUSED', now] : ['ok', now + 300];

describe.each([true, false])('after an outage, as a stream: %s', (isStream) => {
  it('does not overload a server again that closes connections under load', async () => {
    const { lost, seconds } = await send(closing(4, 200, 800), 300, isStream);
    expect(lost).toBe(0);
    expect(seconds).toBeLessThan(24);
  });

  it.each(Array.from({ length: 12 }, (_, n) => n))(
    'finds how many such a server can serve (%i)',
    async (seed) => {
      const random = seededRandom(100 + seed);
      const workers = Math.round(2 * 25 ** random());
      const serviceMs = 20 * 100 ** random();
      const closeMs = serviceMs * (2.5 + 6 * random());
      const requests = 40 * workers;
      const server = closing(workers, serviceMs, closeMs);
      const { lost, sentAt, seconds } = await send(server, requests, isStream);
      expect(lost).toBe(0);
      expect(seconds).toBeLessThan((2.2 * requests * serviceMs) / workers / 1_000 + 4);
      expect(sentAt.length).toBeLessThan(1.8 * requests + 60);
    },
  );

  it('begins with as many requests as at the beginning of a run', async () => {
    const { lost, sentAt, seconds } = await send(restarting, 20_000, isStream);
    expect(lost).toBe(0);
    // The probe has been answered by 8.5 s + 300 ms, and the first others 300 ms later.
    const back = sentAt.find((at) => at >= 8_000) ?? 0;
    const first = sentAt.filter((at) => at > back && at < back + 599);
    expect(first.length).toBeGreaterThan(1);
    // The answer to the probe makes room for one more.
    expect(first.length).toBeLessThanOrEqual(17);
    expect(sentAt.length).toBeLessThan(20_000 + 500);
    expect(seconds).toBeLessThan(28);
  });
});
