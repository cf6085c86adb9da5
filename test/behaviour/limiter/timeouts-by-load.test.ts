import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../src/simulator/random.ts';
import { queue, type Server, sendAll } from '../../support/virtual-load.ts';

const SEEDS = Array.from({ length: 16 }, (_, n) => n);

/** Answers in 100 ms, but some requests never. */
function hanging(hangs: (n: number, attempt: number) => boolean): Server {
  const attempts: number[] = [];
  return (now, n) => {
    const attempt = (attempts[n] ?? 0) + 1;
    attempts[n] = attempt;
    return ['ok', hangs(n, attempt) ? Number.POSITIVE_INFINITY : now + 100];
  };
}

describe.each([true, false])('timeouts, as a stream: %s', (isStream) => {
  it('lose no request of a server that lets requests wait', async () => {
    const server = queue(4, () => 200);
    const options = { attemptTimeoutMs: 1_000 };
    const { lost, seconds } = await sendAll(server, 300, isStream, options);
    expect(lost).toEqual([]);
    expect(seconds).toBeLessThan(19);
  });

  it.each(SEEDS)('lose none, whatever such a server can serve in time (%i)', async (seed) => {
    const random = seededRandom(300 + seed);
    const workers = Math.round(2 * 25 ** random());
    const serviceMs = 20 * 250 ** random();
    const attemptTimeoutMs = serviceMs * (2.2 + 7 * random());
    const jitter = random() < 0.5 ? 0 : 0.6;
    const requests = Math.max(100, 25 * workers);
    const server = queue(workers, () => serviceMs * (1 + jitter * (random() - 0.5)));
    const { lost, seconds } = await sendAll(server, requests, isStream, { attemptTimeoutMs });
    expect(lost).toEqual([]);
    expect(seconds).toBeLessThan((2.3 * requests * serviceMs) / workers / 1_000 + 2);
  });

  it.each(['TimeoutError', 408] as const)('told by %s lose none either', async (error) => {
    const server = queue(4, () => 200, 1_000, error);
    const { lost, seconds } = await sendAll(server, 300, isStream);
    expect(lost).toEqual([]);
    expect(seconds).toBeLessThan(22);
  });

  it.each(SEEDS)('that do not depend on the load cost little (%i)', async (seed) => {
    const random = seededRandom(500 + seed);
    const meanMs = 50 * 100 ** random();
    const spread = 0.2 + 0.6 * random();
    const attemptTimeoutMs = meanMs * (1 + spread * (0.4 + 1.2 * random()));
    const concurrency = Math.round(8 * 40 ** random());
    const answers = (): Server => {
      const times = seededRandom(seed);
      return (now) => ['ok', now + meanMs * (1 + spread * (4 * times() - 2))];
    };
    const options = { attemptTimeoutMs, concurrency };
    const adaptive = await sendAll(answers(), 2_000, isStream, options);
    const fixed = await sendAll(answers(), 2_000, isStream, { ...options, adaptive: false });
    expect(adaptive.lost.length).toBeLessThanOrEqual(fixed.lost.length + 4);
    expect(adaptive.seconds).toBeLessThan(2 * fixed.seconds + (12 * attemptTimeoutMs) / 1_000);
  });

  it('of single requests leave the others alone, and fail these after three attempts', async () => {
    const server = hanging((n) => n % 50 === 7);
    const options = { attemptTimeoutMs: 1_000 };
    const { lost, attempts, seconds } = await sendAll(server, 1_000, isStream, options);
    expect(lost.toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, n) => 50 * n + 7),
    );
    for (const n of lost) {
      expect(attempts[n]).toBeGreaterThanOrEqual(3);
      expect(attempts[n]).toBeLessThanOrEqual(14);
    }
    expect(seconds).toBeLessThan(30);
  });

  it('by chance lose no request, and slow no others down', async () => {
    const random = seededRandom(5);
    const server = hanging((_, attempt) => attempt === 1 && random() < 0.1);
    const options = { attemptTimeoutMs: 1_000 };
    const { lost, seconds } = await sendAll(server, 2_000, isStream, options);
    expect(lost).toEqual([]);
    expect(seconds).toBeLessThan(6);
  });

  it('of all requests fail them', async () => {
    const server = hanging(() => true);
    const options = { attemptTimeoutMs: 1_000 };
    const { lost, seconds } = await sendAll(server, 100, isStream, options);
    expect(lost.length).toBe(100);
    expect(seconds).toBeLessThan(60);
  });
});
