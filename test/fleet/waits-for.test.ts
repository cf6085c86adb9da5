import { expect, it } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import type { GrantReply, SharedConfig } from '../../src/fleet/protocol.ts';
import { WorkerAccount } from '../../src/fleet/worker-account.ts';
import type { LimiterOptions } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { Worker } from './rig.ts';

/** Four workers with more requests than they may send, after 5 s. */
async function busy(options: LimiterOptions): Promise<Worker[]> {
  const clock = new ManualClock(1_000);
  const shared = memoryStore({ clock });
  const workers = Array.from({ length: 4 }, () => new Worker(shared, clock, options));
  for (const worker of workers) worker.send(400, 80);
  await clock.advanceAsync(5_000);
  return workers;
}

it('workers with free slots say that they wait for the rate limit', async () => {
  const limits = { requests: { limit: 50, windowMs: 1_000 } };
  const workers = await busy({ concurrency: 40, limits });
  for (const { limiter } of workers) {
    const { fleet, binding } = limiter.snapshot();
    expect(fleet?.slots.held).toBeGreaterThan(fleet?.slots.used as number);
    expect(fleet?.waitsFor).toBe('limit');
    expect(binding).toBe('rateLimit');
  }
});

it('workers that use all their slots say that they wait for slots', async () => {
  const limits = { requests: { limit: 500, windowMs: 1_000 } };
  const workers = await busy({ concurrency: 8, limits });
  for (const { limiter } of workers) {
    const { fleet, binding } = limiter.snapshot();
    expect(fleet?.waitsFor).toBe('slots');
    expect(binding).toBe('concurrency');
  }
});

it.each([
  ['the limit that is short', 0, 'limit'],
  ['slots if no limit is short', -1, 'slots'],
  ['a learned rate', 1, 'learned'],
] as const)('a worker with a free slot that the store names short waits for %s', (...given) => {
  const [, limit, expected] = given;
  const limits = [{ name: 'requests', capacity: 1, perHour: 1 }];
  const account = new WorkerAccount({ limits, slots: 10 } as unknown as SharedConfig, false);
  account.holdings.slots.lent(1, 1);
  account.last = { why: 'slots', limit } as GrantReply;
  expect(account.shortageOf({ costs: [1], slots: 1, bytes: 0, tokens: 0 })).toBe(expected);
  expect(account.shortageOf({ costs: [1], slots: 2, bytes: 0, tokens: 0 })).toBe('slots');
});
