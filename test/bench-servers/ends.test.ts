import { expect, it } from 'vitest';
import { countEnds } from '../../bench/servers/ends.ts';
import { listen } from '../../bench/servers/listen.ts';
import { runJob } from '../../bench/servers/run-job.ts';

it('the ends of requests are counted by request, and those that come again apart', () => {
  const { ended, counts } = countEnds();
  for (const request of [0, 1, 1]) ended(request, true);
  ended(2, false);
  ended(0, false);
  expect(counts()).toEqual({ ended: 3, failed: 1, again: 2 });
});

it.each(['headgate', 'headgate-fetch', 'headgate-known'] as const)(
  '%s tells of each request that it has ended, and whether well',
  async (client) => {
    let calls = 0;
    const { endpoint, close } = await listen((_, response) => {
      calls += 1;
      response.writeHead(calls === 3 ? 404 : 200).end();
    });
    try {
      const limit = { kind: 'in-flight', limit: 5 } as const;
      const job = { client, endpoint, limit, requests: 9, boundMs: 60_000 };
      const { isEnded, ends, successes, errors } = await runJob(job);
      expect(isEnded).toBe(true);
      expect(ends).toEqual({ ended: 9, failed: 1, again: 0 });
      expect([successes, errors]).toEqual([8, 1]);
    } finally {
      await close();
    }
  },
);
