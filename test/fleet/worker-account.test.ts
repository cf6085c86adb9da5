import { describe, expect, it } from 'vitest';
import type { FleetRequest } from '../../src/fleet/fleet-hooks.ts';
import type { GrantReply, SharedConfig } from '../../src/fleet/protocol.ts';
import { WorkerAccount } from '../../src/fleet/worker-account.ts';

const HEAD: FleetRequest = { costs: [], slots: 1, bytes: 0, tokens: 0 };

/** An account with slots for all requests, and a plan that has learned this cap. */
function accountAt(slots: number, requestsPerHour = 0): WorkerAccount {
  const account = new WorkerAccount({ limits: [], slots: 10 } as unknown as SharedConfig, false);
  const reply = replyAt(slots, requestsPerHour);
  account.heard(reply, 0, 0);
  account.receive(reply, undefined, false, 0);
  account.holdings.renew(10_000);
  return account;
}

function replyAt(slots: number, requestsPerHour: number): GrantReply {
  const plan = { slots, requestsPerHour, tokensPerHour: 0 };
  const none = { amounts: [0, 0], from: [0, 0], until: [0, 0], count: 0, held: 0, limit: -1 };
  const reply = { ...none, plan, slots: 10, bytes: 0, keptSlots: 10, keptBytes: 0, why: '' };
  return reply as unknown as GrantReply;
}

describe('a reserved grant', () => {
  it.each([
    [60, 1_500],
    [30, 2_000],
    [15, 3_000],
    [0, 1_000],
  ])('moves with the learned rate, from 30 to %i an hour', (perHour, dueAt) => {
    const account = accountAt(0, 30);
    account.holdings.credits.add([1, 0], [0, 0], [2_000, 0], 1);
    account.heard(replyAt(0, perHour), 1_000, 1_000);
    expect(account.holdings.credits.dueAt([1, 0])).toBe(dueAt);
  });
});

describe('a rejection', () => {
  it('at a learned cap lets no other request take its place before the next plan', () => {
    const account = accountAt(5);
    expect(account.waitMs(HEAD, false, 1_000)).toBe(0);
    account.rejected(1_000);
    expect(account.waitMs(HEAD, false, 1_000)).toBe(100);
    expect(account.waitMs(HEAD, false, 1_100)).toBe(0);
  });

  it('holds nothing back if no cap is learned', () => {
    const account = accountAt(0);
    account.rejected(1_000);
    expect(account.waitMs(HEAD, false, 1_000)).toBe(0);
  });
});
