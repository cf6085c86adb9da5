import { describe, expect, it } from 'vitest';
import { CLIENTS } from './clients.ts';
import { expectAnswers, expectSettled, HOWS, PROMPTS, start, WAYS } from './rig.ts';

const ALLOWED = 3;

// Anthropic's spent quota is worded as a 429 that passes.
const TELLING = CLIENTS.filter(([sdk]) => sdk !== '@anthropic-ai/sdk');

describe.concurrent.each(TELLING)('%s', (_sdk, make) => {
  describe.each(WAYS)('%s', (_way, sendAll) => {
    it.each(['whole', 'streamed'] as const)('a used-up quota is final: %s', async (how) => {
      await using rig = await start({ quota: { requests: ALLOWED } });
      const ended = await sendAll(rig, make, HOWS[how], PROMPTS);
      expectSettled(rig, ended);
      expectAnswers(ended.filter(({ status }) => status === 'ok'));
      const failed = ended.filter(({ status }) => status === 'failed');
      expect(failed).toHaveLength(PROMPTS.length - ALLOWED);
      for (const end of failed) {
        expect(end).toMatchObject({ error: { message: expect.stringContaining('quota') } });
      }
      expect(rig.sent.attempts).toBe(PROMPTS.length);
    });
  });
});
