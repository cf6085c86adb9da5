import { describe, expect, it } from 'vitest';
import { until } from '../simulator/http/client.ts';
import type { Client } from './clients.ts';
import { CLIENTS } from './clients.ts';
import { type Ended, expectAnswers, expectSettled, HOWS, PROMPTS, start, WAYS } from './rig.ts';

const failed = (ended: readonly Ended[]) => ended.filter(({ status }) => status === 'failed');
const good = (ended: readonly Ended[]) => ended.filter(({ status }) => status === 'ok');

describe.concurrent.each(CLIENTS)('%s', (_sdk, make) => {
  describe.each(WAYS)('%s', (_way, sendAll) => {
    describe.each(['whole', 'streamed'] as const)('%s', (how) => {
      it('fails one request for a body that is no JSON, and sends it once', async () => {
        await using rig = await start({}, (index) =>
          index === 2 ? { fault: 'malformed' } : undefined,
        );
        const ended = await sendAll(rig, make, HOWS[how], PROMPTS);
        expect(failed(ended)).toHaveLength(1);
        expect(failed(ended)[0]).toMatchObject({
          error: { message: expect.stringContaining('JSON') },
        });
        expectAnswers(good(ended));
        expectSettled(rig, ended);
        expect(rig.sent.attempts).toBe(PROMPTS.length);
      });

      it('ends one that gets no answer by the signal of its user', async () => {
        await using rig = await start({}, (index) => (index === 2 ? { fault: 'hang' } : undefined));
        // As a timeout of the user's would, at a moment when nobody else is on the way.
        const timeout = new AbortController();
        let answers = 0;
        const bounded = async (client: Client, prompt: string, signal: AbortSignal) => {
          const both = AbortSignal.any([signal, timeout.signal]);
          const text = await HOWS[how](client, prompt, both);
          answers += 1;
          if (answers === PROMPTS.length - 1) timeout.abort(new Error('the timeout'));
          return text;
        };
        const ended = await sendAll(rig, make, bounded, PROMPTS);
        expect(failed(ended)).toHaveLength(1);
        expect(failed(ended)[0]).toMatchObject({
          error: { message: expect.stringMatching(/abort|the timeout/) },
        });
        expectAnswers(good(ended));
        expectSettled(rig, ended);
        await until(() => rig.server.requests[2]?.aborted === true);
        expect(rig.sent.attempts).toBe(PROMPTS.length);
      });
    });
  });
});
