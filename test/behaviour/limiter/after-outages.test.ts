import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../src/simulator/random.ts';
import { queue, type Server, sendAll } from '../../support/virtual-load.ts';

/** Answers in 300 ms, and cannot be reached from 3 s to 8 s. */
const restarting: Server = (now) =>
  now >= 3_000 && now < 8_000 ? ['ECONNREFUSED', now] : ['ok', now + 300];

describe.each([true, false])('after an outage, as a stream: %s', (isStream) => {
  it('does not overload a server again that closes connections under load', async () => {
    const server = queue(4, () => 200, 800);
    const { lost, seconds } = await sendAll(server, 300, isStream);
    expect(lost).toEqual([]);
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
      const server = queue(workers, () => serviceMs, closeMs);
      const { lost, sentAt, seconds } = await sendAll(server, requests, isStream);
      expect(lost).toEqual([]);
      expect(seconds).toBeLessThan((2.2 * requests * serviceMs) / workers / 1_000 + 4);
      expect(sentAt.length).toBeLessThan(1.8 * requests + 60);
    },
  );

  it('begins with half of the requests that were in flight', async () => {
    const { lost, sentAt, seconds } = await sendAll(restarting, 20_000, isStream);
    expect(lost).toEqual([]);
    // The first others follow the answer to the probe, and are answered 300 ms later.
    const back = sentAt.find((at) => at >= 8_000) ?? 0;
    const first = sentAt.filter((at) => at > back && at < back + 599);
    // Of 400; the answer to the probe makes room for one more.
    expect(first.length).toBeGreaterThan(150);
    expect(first.length).toBeLessThanOrEqual(201);
    expect(sentAt.length).toBeLessThan(20_000 + 500);
    expect(seconds).toBeLessThan(28);
  });

  it('costs little where answers take long, and the outage was short', async () => {
    const answers = (outageMs: number): Server => {
      const random = seededRandom(7);
      const until = 50_000 + outageMs;
      return (now) =>
        now >= 50_000 && now < until
          ? ['ECONNREFUSED', now]
          : ['ok', now + 20_000 * (0.7 + 0.6 * random())];
    };
    const [after, undisturbed] = [
      await sendAll(answers(1_000), 4_000, isStream),
      await sendAll(answers(0), 4_000, isStream),
    ];
    expect(after.lost).toEqual([]);
    expect(after.seconds).toBeLessThan(1.2 * undisturbed.seconds);
  });
});
