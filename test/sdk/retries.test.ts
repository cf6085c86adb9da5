import { describe, expect, it } from 'vitest';
import type { HttpFault } from '../../src/simulator/index.ts';
import { CLIENTS } from './clients.ts';
import { expectAnswers, expectSettled, first, HOWS, PROMPTS, start, WAYS } from './rig.ts';

const TURNED_AWAY = 3;

/** What an SDK would send again itself, and the longest that the server asks to wait. */
const PASSING: [string, HttpFault, number][] = [
  ['a 429 that names no wait', { fault: 'status', status: 429 }, 60],
  ['a 503', { fault: 'status', status: 503 }, 0],
  ['a 529', { fault: 'status', status: 529 }, 0],
  ['a 500', { fault: 'status', status: 500 }, 0],
  ['a connection that breaks', { fault: 'reset' }, 0],
];

describe.concurrent.each(CLIENTS)('%s', (sdk, make) => {
  describe.each(WAYS)('%s', (_way, sendAll) => {
    it.each(['whole', 'streamed'] as const)('obeys Retry-After: %s', async (how) => {
      // Anthropic's servers name whole seconds.
      const waitMs = sdk === '@anthropic-ai/sdk' ? 1000 : 250;
      const fault: HttpFault = { fault: 'status', status: 429, retryAfterMs: waitMs };
      await using rig = await start({}, first(TURNED_AWAY, fault));
      const ended = await sendAll(rig, make, HOWS[how], PROMPTS);
      expectAnswers(ended);
      expectSettled(rig, ended);
      const { requests } = rig.server;
      expect(requests).toHaveLength(PROMPTS.length + TURNED_AWAY);
      const turnedAway = requests.filter(({ status }) => status === 429);
      expect(turnedAway).toHaveLength(TURNED_AWAY);
      // The first answer counts: another one may lie unread as the wait that it names is over.
      const turnedAwayAt = Math.min(...turnedAway.map(({ receivedMs }) => receivedMs));
      for (const { receivedMs } of requests.slice(PROMPTS.length)) {
        expect(receivedMs - turnedAwayAt).toBeGreaterThanOrEqual(waitMs);
      }
    });

    describe.each(PASSING)('sends again after %s', (_name, fault, waitMs) => {
      it.each(['whole', 'streamed'] as const)('%s', async (how) => {
        await using rig = await start({}, first(TURNED_AWAY, fault));
        const ended = await sendAll(rig, make, HOWS[how], PROMPTS);
        expectAnswers(ended);
        expectSettled(rig, ended);
        expect(rig.sent.attempts).toBe(PROMPTS.length + TURNED_AWAY);
        const times = rig.server.requests.map(({ receivedMs }) => receivedMs);
        const again = Math.min(...times.slice(PROMPTS.length));
        expect(again - (times[0] ?? 0)).toBeGreaterThanOrEqual(waitMs);
      });
    });
  });
});
