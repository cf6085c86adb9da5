import fc from 'fast-check';
import { range } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createLimiter } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { seededRandom } from '../../../src/simulator/random.ts';
import { watch } from '../../request/harness.ts';

/** What `fetch` throws when the connection closes while the body comes. */
const interrupted = () =>
  new TypeError('terminated', {
    cause: Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }),
  });

const refused = () => Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });

const STREAM_MS = 1_000;

/** Streamed answers, some of which break off, through a limiter with this concurrency. */
async function run(
  requests: number,
  concurrency: number,
  breaksAt: (n: number, attempt: number, now: number) => number | undefined,
  isUp: (now: number) => boolean = () => true,
) {
  const clock = new ManualClock();
  const wait = (ms: number) => new Promise<void>((resolve) => clock.setTimer(resolve, ms));
  const limiter = createLimiter({ clock, concurrency });
  let outages = 0;
  limiter.events$.subscribe(({ kind }) => {
    if (kind === 'outageStarted') outages += 1;
  });
  const attempts = new Map<number, number>();
  const send = async (n: number): Promise<number> => {
    await wait(1);
    if (!isUp(clock.now())) throw refused();
    const attempt = (attempts.get(n) ?? 0) + 1;
    attempts.set(n, attempt);
    const afterMs = breaksAt(n, attempt, clock.now());
    await wait(afterMs ?? STREAM_MS);
    if (afterMs !== undefined) throw interrupted();
    return n;
  };
  const seen = watch(range(0, requests).pipe(limiter.throttle(send, { outcomes: true })));
  await clock.runAllAsync();
  limiter.close();
  const lost = seen.values.filter(({ status }) => status !== 'ok').length;
  return { lost, outages, seconds: clock.now() / 1_000 };
}

describe('answers whose connection breaks in the middle', () => {
  it('are sent again without an outage and at the same rate, whatever part of them breaks', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1 }),
        fc.double({ min: 0, max: 0.5, noNaN: true }),
        fc.integer({ min: 2, max: 16 }),
        async (seed, part, concurrency) => {
          const random = seededRandom(seed);
          // No request breaks three times.
          const breaksAt = (_: number, attempt: number) =>
            attempt < 3 && random() < part ? random() * STREAM_MS : undefined;
          const rounds = 20;
          const result = await run(rounds * concurrency, concurrency, breaksAt);
          expect(result).toMatchObject({ lost: 0, outages: 0 });
          // A whole answer, two broken ones at the most, and their delays of up to 0.5 s and 1 s.
          expect(result.seconds).toBeLessThan(rounds * (1 + part * 2 * 1.5) * 1.3 + 6);
        },
      ),
      { numRuns: 20 },
    );
  });

  it('are not lost, however many a server breaks when it goes down', async () => {
    const [downAt, upAt] = [1_500, 9_000];
    const breaksAt = (_n: number, _attempt: number, now: number) =>
      now < downAt && now + STREAM_MS > downAt ? downAt - now : undefined;
    const isUp = (now: number) => now < downAt || now >= upAt;
    const result = await run(600, 300, breaksAt, isUp);
    expect(result).toMatchObject({ lost: 0, outages: 1 });
    expect(result.seconds).toBeLessThan(60);
  });
});
