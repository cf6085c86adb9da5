import { range } from 'rxjs';
import { createLimiter } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { seededRandom } from '../../src/simulator/random.ts';

type Answer = 'ok' | 'ECONNRESET' | 'ECONNREFUSED';

/** Serves a request that arrives at `now`. @returns its answer, and when that comes */
export type Server = (now: number) => readonly [answer: Answer, at: number];

/**
 * Sends all requests at once in virtual time, by `throttle` or by `run`.
 * @returns the requests that failed, when attempts were sent, and how long all took
 */
export async function sendAll(server: Server, requests: number, isStream: boolean) {
  const clock = new ManualClock();
  const limiter = createLimiter({ clock, random: seededRandom(7) });
  const sentAt: number[] = [];
  const lost: number[] = [];
  let endedAt = 0;
  const call = (n: number) =>
    new Promise<number>((resolve, reject) => {
      const now = clock.now();
      sentAt.push(now);
      const [answer, at] = server(now);
      const error = Object.assign(new Error(answer), { code: answer });
      clock.setTimer(() => (answer === 'ok' ? resolve(n) : reject(error)), Math.max(1, at - now));
    });
  const ended = (n: number, isOk: boolean) => {
    endedAt = clock.now();
    if (!isOk) lost.push(n);
  };
  if (isStream) {
    range(0, requests)
      .pipe(limiter.throttle(call, { outcomes: true }))
      .subscribe(({ request, status }) => ended(request, status === 'ok'));
  } else {
    for (let n = 0; n < requests; n += 1) {
      limiter
        .run(() => call(n))
        .then(
          () => ended(n, true),
          () => ended(n, false),
        );
    }
  }
  await clock.runAllAsync();
  limiter.close();
  return { lost, sentAt, seconds: endedAt / 1_000 };
}

/**
 * A queue with some workers, which goes on working for requests that were given up.
 * @param closeMs closes a connection that has waited for so long
 */
export function queue(workers: number, serviceMs: () => number, closeMs: number): Server {
  const freeAt = Array.from({ length: workers }, () => 0);
  return (now) => {
    const earliest = Math.min(...freeAt);
    const at = Math.max(now, earliest) + serviceMs();
    freeAt[freeAt.indexOf(earliest)] = at;
    return at - now > closeMs ? ['ECONNRESET', now + closeMs] : ['ok', at];
  };
}
