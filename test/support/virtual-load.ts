import { range } from 'rxjs';
import { createLimiter, type LimiterOptions } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { seededRandom } from '../../src/simulator/random.ts';

/** `408`: a response with this status. */
type Answer = 'ok' | 'ECONNRESET' | 'ECONNREFUSED' | 'TimeoutError' | 408;

/**
 * Serves request `n`, which arrives at `now`. @returns its answer, and when that comes; Infinity:
 * never
 */
export type Server = (now: number, n: number) => readonly [answer: Answer, at: number];

/**
 * Sends all requests at once in virtual time, by `throttle` or by `run`.
 * @returns the requests that failed, when attempts were sent, how many attempts each request had,
 * and how long all took
 */
export async function sendAll(
  server: Server,
  requests: number,
  isStream: boolean,
  options?: LimiterOptions,
) {
  const clock = new ManualClock();
  const limiter = createLimiter({ clock, random: seededRandom(7), ...options });
  const sentAt: number[] = [];
  const attempts: number[] = Array.from({ length: requests }, () => 0);
  const lost: number[] = [];
  let endedAt = 0;
  const call = (n: number) =>
    new Promise<number>((resolve, reject) => {
      const now = clock.now();
      sentAt.push(now);
      attempts[n] = (attempts[n] ?? 0) + 1;
      const [answer, at] = server(now, n);
      if (at === Number.POSITIVE_INFINITY) return;
      const told = answer === 408 ? { status: answer } : { code: answer };
      const error = Object.assign(new Error(`${answer}`), told);
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
  return { lost, sentAt, attempts, seconds: endedAt / 1_000 };
}

/**
 * A queue with some workers, which goes on working for requests that were given up.
 * @param closeMs a connection that has waited for so long ends
 * @param error how it ends: the server closes it or gives up, or the client does
 */
export function queue(
  workers: number,
  serviceMs: () => number,
  closeMs = Number.POSITIVE_INFINITY,
  error: Answer = 'ECONNRESET',
): Server {
  const freeAt = Array.from({ length: workers }, () => 0);
  return (now) => {
    const earliest = Math.min(...freeAt);
    const at = Math.max(now, earliest) + serviceMs();
    freeAt[freeAt.indexOf(earliest)] = at;
    return at - now > closeMs ? [error, now + closeMs] : ['ok', at];
  };
}
