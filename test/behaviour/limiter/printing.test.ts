import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { AttemptContext, Lease, Ticket } from '../../../src/index.ts';
import { rig } from '../../limiter/rig.ts';

/** Nobody who logs one of these wants to read queues, or to meet a circle. */
describe('the objects that users get', () => {
  it('can be printed and copied, without their internal state', async () => {
    const tickets: Ticket[] = [];
    const contexts: AttemptContext[] = [];
    const { clock, limiter } = rig({
      requestsPerMinute: 2,
      instrumentation: { admitted: (ticket) => tickets.push(ticket) },
    });
    const leases: Lease[] = [await limiter.acquire()];
    await limiter.run(async (context) => contexts.push(context));
    void limiter.run(() => undefined);
    limiter.feedback.next({ kind: 'throttled', retryAfterMs: 1_000 });
    await clock.advanceAsync(1);
    const handed = [tickets, contexts, leases, [limiter, limiter.feedback]].flat();
    expect(handed.length).toBeGreaterThan(5);
    for (const thing of handed) {
      const text = JSON.stringify(thing, (key, value) => (key === 'clock' ? undefined : value));
      expect(text.length).toBeLessThan(500);
      expect(text).not.toMatch(/queue|issuer|owners|holder/);
    }
    for (const ticket of tickets) {
      expect(structuredClone({ ...ticket, value: undefined })).toMatchObject({ bytes: 0 });
      expect(inspect(ticket, { depth: 4 }).length).toBeLessThan(1_500);
    }
  });
});
