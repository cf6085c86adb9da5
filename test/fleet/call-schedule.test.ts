import { describe, expect, it } from 'vitest';
import { CallSchedule } from '../../src/fleet/call-schedule.ts';
import type { FleetRequest } from '../../src/fleet/fleet-hooks.ts';
import { type GrantReply, MICRO, type SharedConfig } from '../../src/fleet/protocol.ts';
import { WorkerAccount } from '../../src/fleet/worker-account.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';

const TTL_MS = 1_000;
const HEAD: FleetRequest = { costs: [], slots: 1, bytes: 0, tokens: 0 };

/** A schedule of a worker that was last called at 0. */
function scheduled({ waiting = 0, beatMs = Number.POSITIVE_INFINITY } = {}) {
  const clock = new ManualClock();
  const account = new WorkerAccount({ limits: [], slots: 10 } as unknown as SharedConfig, false);
  const calls: number[] = [];
  const hooks = { waiting: () => waiting, beatMs: () => beatMs };
  const call = () => calls.push(clock.now());
  const schedule = new CallSchedule(account, hooks, TTL_MS, clock, call);
  schedule.called(HEAD, 0);
  return { account, calls, clock, schedule };
}

/** The store grants nothing, for this reason. */
function short(why: GrantReply['why'], closed = 0): GrantReply {
  return { why, closed, held: 0, broken: 0, limit: -1, count: 0 } as unknown as GrantReply;
}

describe('a call for a waiting request', () => {
  it('is made at once, if the last call was for another request', () => {
    const { calls, schedule, clock } = scheduled();
    expect(schedule.ask({ ...HEAD }, 0)).toBe(true);
    clock.advance(TTL_MS);
    expect(calls).toEqual([]);
  });

  it('is made 5 ms after the last call, if that was for the same request', () => {
    const { calls, schedule, clock } = scheduled();
    expect(schedule.ask(HEAD, 0)).toBe(false);
    clock.advance(TTL_MS);
    expect(calls).toEqual([5]);
  });

  it('is made 25 ms after the last call, if a limit is short', () => {
    const { account, calls, schedule, clock } = scheduled();
    account.heard(short('limit'), 0, 0);
    schedule.ask({ ...HEAD }, 0);
    clock.advance(TTL_MS);
    expect(calls).toEqual([25]);
  });

  it.each([
    ['a second', 3_600, 50],
    ['ten seconds', 360, TTL_MS / 4],
  ])(
    'waits for a part of the time of a request at a learned rate of one in %s',
    (_, perHour, at) => {
      const { account, calls, schedule, clock } = scheduled();
      const plan = { requestsPerHour: perHour * MICRO };
      account.heard({ ...short('learned'), limit: 0, plan } as unknown as GrantReply, 0, 0);
      schedule.ask({ ...HEAD }, 0);
      clock.advance(TTL_MS);
      expect(calls).toEqual([at]);
    },
  );

  it('is not made while the store grants nothing to any worker', () => {
    const { account, calls, schedule, clock } = scheduled();
    account.heard(short('closed', 120_000), 0, 0);
    schedule.ask({ ...HEAD }, 0);
    clock.advance(TTL_MS);
    expect(calls).toEqual([120]);
  });
});

describe('a call without a waiting request', () => {
  it('reports a change after 50 ms, or after 10 ms if all workers depend on it', () => {
    const { calls, schedule, clock } = scheduled();
    schedule.hasChanged = true;
    schedule.setTimer(0);
    clock.advance(TTL_MS);
    schedule.called(undefined, TTL_MS);
    schedule.hurry(TTL_MS);
    clock.advance(TTL_MS);
    expect(calls).toEqual([50, TTL_MS + 10]);
  });

  it.each(['slots', 'bytes'] as const)(
    'keeps the lease of %s after a quarter of it, or when the learner needs a call',
    (pool) => {
      for (const beatMs of [Number.POSITIVE_INFINITY, 100]) {
        const { account, calls, schedule, clock } = scheduled({ beatMs });
        account.holdings[pool].lent(1, 1);
        schedule.setTimer(0);
        clock.advance(TTL_MS);
        expect(calls).toEqual([Math.min(beatMs, TTL_MS / 4)]);
      }
    },
  );

  it('is not made for a worker that holds nothing and has nothing to report', () => {
    const { calls, schedule, clock } = scheduled();
    schedule.setTimer(0);
    expect(clock.pendingTimers).toBe(0);
    schedule.hasChanged = true;
    schedule.setTimer(0);
    schedule.cancel();
    clock.advance(TTL_MS);
    expect(calls).toEqual([]);
  });
});
