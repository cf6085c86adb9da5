import { describe, expect, it } from 'vitest';
import type { RateCharge } from '../../src/policies/learned-rate.ts';
import { measure } from '../../src/policies/policies.ts';
import { corePlayer, OK, TOO_MANY } from './adaptive-rate/core-player.ts';

const REPORT = { unit: 'requests', limit: 100, remaining: 50, windowMs: 1_000 } as const;

describe('a policy of the adaptive rate that nothing has told anything', () => {
  it('lets 16 go at once', () => {
    expect(corePlayer().sendAll()).toHaveLength(16);
  });

  it('lets one more be in flight with each accepted attempt', () => {
    const player = corePlayer();
    const first = player.sendAll();
    for (const charge of first) player.end(charge);
    expect(player.policy.limit).toBe(32);
    expect(player.sendAll()).toHaveLength(32);
  });

  it('lets 400 be in flight after five round trips', () => {
    const player = corePlayer();
    for (let trip = 0; trip < 5; trip += 1) for (const each of player.sendAll()) player.end(each);
    expect(player.sendAll()).toHaveLength(400);
  });

  it('never lets more be in flight than `maxLimit`', () => {
    const player = corePlayer({ maxLimit: 20 });
    for (let trip = 0; trip < 3; trip += 1) for (const each of player.sendAll()) player.end(each);
    expect(player.policy.limit).toBe(20);
    expect(player.limits).toEqual([17, 18, 19, 20]);
  });

  it('lets at most 16 go after a rejection that is one decision for all', () => {
    const player = corePlayer();
    for (const each of player.sendAll()) player.end(each);
    const [first, ...others] = player.sendAll();
    for (const each of others) player.end(each);
    expect(player.policy.limit).toBeGreaterThan(60);
    const verdict = { ...TOO_MANY, retryAfterMs: 600_001 };
    if (first !== undefined) player.end(first, { verdict });
    expect(player.wait()).toBe(600_001);
    player.now = 600_001;
    const probes = player.sendAll();
    expect(probes).toHaveLength(1);
    for (const each of probes) player.end(each);
    expect(player.sendAll().length).toBeLessThanOrEqual(16);
  });

  it('lets no more be in flight for attempts that were never sent', () => {
    const player = corePlayer();
    for (const each of player.sendAll()) player.end(each, { isSent: false });
    expect(player.policy.limit).toBe(16);
  });

  it('lets no more be in flight for connections that failed', () => {
    const player = corePlayer();
    const verdict = { kind: 'failed', connection: 'broken' } as const;
    for (const each of player.sendAll()) player.end(each, { verdict });
    expect(player.policy.limit).toBe(16);
  });

  it('lets one more be in flight for each that was sent 5 s ago, once answers come', () => {
    const player = corePlayer();
    const [first = 0, second = 0] = player.sendAll();
    const { policy } = player;
    expect(policy.nextChangeAt).toBe(Number.POSITIVE_INFINITY);
    player.now = 1_000;
    player.end(first);
    player.sendAll();
    expect(policy.nextChangeAt).toBe(5_000);
    policy.advance(4_999);
    expect(policy.limit).toBe(17);
    policy.advance(5_000);
    expect(policy.limit).toBe(17 + 15);
    // The two that were sent at the last answer, and are the last that an answer has followed.
    expect(policy.nextChangeAt).toBe(6_000);
    policy.advance(60_000);
    expect(policy.limit).toBe(32 + 2);
    player.now = 60_000;
    player.sendAll();
    expect(policy.nextChangeAt).toBe(Number.POSITIVE_INFINITY);
    // An answer to one of those counts no second time.
    player.end(second);
    expect(policy.limit).toBe(34);
  });

  it('presumes nothing of more than `maxLimit`, or when it learns', () => {
    const small = corePlayer({ maxLimit: 20 });
    const [first = 0] = small.sendAll();
    small.now = 1;
    small.end(first);
    small.policy.advance(10_000);
    expect(small.policy.limit).toBe(20);
    expect(small.policy.nextChangeAt).toBe(Number.POSITIVE_INFINITY);
    const awake = corePlayer();
    const [one = 0, other = 0] = awake.sendAll();
    awake.now = 1;
    awake.end(one);
    awake.end(other, { verdict: { ...TOO_MANY, limit: 'concurrency' } });
    expect(awake.policy.limit).toBeLessThan(400);
    expect(awake.policy.nextChangeAt).toBe(Number.POSITIVE_INFINITY);
    const { limit } = awake.policy;
    awake.policy.advance(10_000);
    expect(awake.policy.limit).toBe(limit);
  });

  it('remembers the last 1,024 in flight', () => {
    const player = corePlayer({ maxLimit: 5_000 });
    for (let trip = 0; trip < 7; trip += 1)
      for (const each of player.sendAll(5_000)) player.end(each);
    const [first = 0, ...others] = player.sendAll(5_000);
    expect(others).toHaveLength(2_047);
    player.now = 1;
    player.end(first);
    player.policy.advance(5_000);
    expect(player.policy.limit).toBe(2_049 + 1_024);
  });

  it('reads no clock once all places are open', () => {
    const { policy } = corePlayer({ maxLimit: 16 });
    const ended = { bytes: 0, tokens: 0, isSent: true, verdict: OK, usage: undefined, epoch: 0 };
    const charge = policy.take(ended, 0);
    const now = () => {
      throw new Error('it reads the clock');
    };
    expect(() => policy.giveBack(charge, ended, { now })).not.toThrow();
  });

  it('shows that nothing is known', () => {
    const { policy } = corePlayer();
    expect(policy.snapshot(0)).toMatchObject({
      origin: 'start',
      perSecond: Number.POSITIVE_INFINITY,
    });
    expect(measure({ adaptive: policy }, 0)).toEqual({ rateCeiling: 0 });
  });

  it('follows a new `maxLimit` up only where it was at the old one', () => {
    const closed = corePlayer();
    closed.policy.setMaxLimit(800);
    expect(closed.policy.limit).toBe(16);
    closed.policy.setMaxLimit(8);
    expect(closed.policy.limit).toBe(8);
    closed.policy.setMaxLimit(10);
    expect(closed.policy.limit).toBe(10);
  });
});

describe('a policy of the adaptive rate that wakes up', () => {
  it('knows which attempts are out, whatever the order in which the others ended', () => {
    const player = corePlayer({ maxLimit: 16 });
    const [first, second, third] = [player.send(), player.send(), player.send()];
    player.now = 100;
    player.end(second);
    player.end(third, { verdict: TOO_MANY });
    player.end(first);
    // Nothing is out: so nothing need come before the next may go.
    expect(player.wait()).toBeLessThan(Number.POSITIVE_INFINITY);
    const probe = player.sendLater();
    player.now += 10;
    player.end(probe, { verdict: { kind: 'overloaded' } });
    expect(player.policy.limit).toBe(16);
    expect(player.wait()).toBeLessThan(Number.POSITIVE_INFINITY);
  });

  it('hears of attempts that were out when it woke up', () => {
    const player = corePlayer();
    const charges = player.sendAll();
    player.now = 100;
    for (const charge of charges) player.end(charge, { verdict: TOO_MANY });
    player.now = 10_000;
    expect(player.sendAll()).toHaveLength(1);
  });

  it('wakes up by a limit that an answer tells, and goes by it', () => {
    const player = corePlayer();
    const [charge] = player.sendAll(1);
    player.end(charge ?? 0, { verdict: { kind: 'ok', limits: [REPORT] } });
    expect(player.policy.snapshot(player.now)).toMatchObject({ origin: 'headers' });
  });

  it.each([
    ['in bursts with time between them', 10, 2],
    ['as many as may be in flight, all the time', 1_000, 1.1],
  ])('tries more at first where less was asked for than let in: %s', (_what, most, times) => {
    const player = corePlayer({ maxLimit: 16 });
    for (let round = 0; round < 10; round += 1) {
      for (const charge of player.sendAll(most)) player.end(charge);
      if (most === 1_000) for (const charge of player.sendAll()) player.end(charge);
      player.now += 1_000;
    }
    const charges = player.sendAll(most);
    player.now += 10;
    for (const charge of charges) player.end(charge, { verdict: TOO_MANY });
    player.now += 10_000;
    player.end(player.sendLater());
    player.now += 10;
    player.send();
    const { perSecond, ceilingPerSecond = 0 } = player.policy.snapshot(player.now);
    expect(perSecond / ceilingPerSecond).toBeCloseTo(times, 1);
  });

  it('does not take what was never sent for rejected', () => {
    const player = corePlayer();
    const [rejected, ...others] = player.sendAll();
    player.end(rejected ?? 0, { verdict: TOO_MANY });
    for (const charge of others) player.end(charge, { isSent: false });
    player.now = 100;
    for (const charge of player.sendAll()) player.end(charge);
    expect(player.policy.snapshot(player.now).isOut).toBe(false);
  });

  it('forgets an attempt that hung while more than a thousand later ones were answered', () => {
    const player = corePlayer();
    const hung = player.send();
    for (let n = 0; n < 2_000; n += 1) player.end(player.send());
    const [rejected] = player.sendAll(1);
    player.end(rejected ?? 0, { verdict: TOO_MANY });
    expect(() => player.end(hung, { verdict: TOO_MANY })).not.toThrow();
    player.now = 60_000;
    expect(player.wait()).toBe(0);
  });
});

describe('a wait that a rejection names', () => {
  it.each([60_000, 3_600_000])('of %i ms is obeyed', (retryAfterMs) => {
    const player = corePlayer();
    player.end(player.send(), { verdict: { kind: 'throttled', retryAfterMs } });
    expect(player.wait()).toBe(retryAfterMs);
  });
});

describe('what a policy of the adaptive rate tells', () => {
  it('is each outage once, when it begins and when it ends', () => {
    const player = corePlayer();
    let isOut = true;
    for (let n = 0; n < 40; n += 1) {
      const charge = player.sendLater();
      if (player.now > 20_000) isOut = false;
      player.now += 1;
      player.end(charge, { verdict: isOut ? TOO_MANY : OK });
    }
    const told = player.facts.map(({ kind }) => kind).filter((kind) => kind.startsWith('outage'));
    expect(told).toEqual(['outageStarted', 'outageEnded']);
  });

  it('is each rate that was measured, once', () => {
    const player = corePlayer();
    for (let n = 0; n < 10; n += 1) player.end(player.send());
    player.now = 1_000;
    player.end(player.send(), { verdict: TOO_MANY });
    for (let n = 0; n < 5; n += 1) player.end(player.sendLater());
    const told = player.facts.filter(({ kind }) => kind === 'rateAdapted');
    // The probe goes 100 ms after the rejection, as was the mean interval. Before that nothing was
    // asked for.
    const to = expect.closeTo(10 / 0.1, 3);
    expect(told[0]).toEqual({
      kind: 'rateAdapted',
      at: 1_100,
      reason: 'rejected',
      from: Number.POSITIVE_INFINITY,
      to,
    });
  });

  it('is a cap, after it was applied', () => {
    const player = corePlayer({ maxLimit: 16 });
    const [first] = player.sendAll(10);
    player.end(first ?? 0, { verdict: { kind: 'throttled', limit: 'concurrency' } });
    // The first had no others beside it: one may be in flight.
    expect(player.limits).toEqual([1]);
    expect(player.facts).toContainEqual({
      kind: 'limitAdapted',
      at: 0,
      reason: 'rejected',
      from: 16,
      to: 1,
    });
    expect(player.wait()).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('a policy of the adaptive rate is at rest', () => {
  it('where nothing is out, and a minute after the last rejection', () => {
    const player = corePlayer();
    expect(player.policy.isAtRest(0)).toBe(true);
    const charge = player.send();
    expect(player.policy.isAtRest(0)).toBe(false);
    player.end(charge, { verdict: TOO_MANY });
    expect(player.policy.isAtRest(59_999)).toBe(false);
    expect(player.policy.isAtRest(60_000)).toBe(true);
  });
});

describe('an adaptive rate after an outage', () => {
  /** An outage that begins with so many in flight; all but `left` of them have ended. */
  function afterOutage(inFlight: number, left = 0) {
    const player = corePlayer();
    for (let trip = 0; trip < 3; trip += 1) for (const each of player.sendAll()) player.end(each);
    const charges = player.sendAll(inFlight);
    player.outage.count += 1;
    const verdict = { kind: 'failed', connection: 'broken' } as const;
    for (const each of charges.slice(left)) player.end(each, { verdict });
    return { player, before: charges.slice(0, left) };
  }

  it('lets half of what was in flight go, and one more with each answer', () => {
    const { player } = afterOutage(100);
    const again = player.sendAll();
    expect(again).toHaveLength(50);
    expect(player.policy.snapshot(0).limit).toBe(50);
    for (const each of again.slice(0, 3)) {
      player.end(each);
      player.sendAll();
    }
    expect(player.policy.snapshot(0).limit).toBe(53);
  });

  it('admits new requests again, although timeouts had reduced the number to the same', () => {
    const player = corePlayer({ startLimit: 40, maxLimit: 40 });
    const late = player.sendAll();
    player.now += 1_000;
    for (const charge of late) player.end(charge, { verdict: { kind: 'failed', timedOut: true } });
    expect(player.limits.at(-1)).toBe(1);
    expect(player.facts).toEqual([
      { kind: 'limitAdapted', at: 1_000, reason: 'failures', from: 40, to: 1 },
    ]);
    const out: RateCharge[] = [];
    for (let n = 0; n < 400 && player.policy.limit < 20; n += 1) {
      out.push(...player.sendAll());
      player.now += 20;
      player.end(out.shift() ?? 0);
    }
    expect(player.limits.at(-1)).toBe(20);
    const charge = player.send();
    player.outage.count += 1;
    player.end(charge, { verdict: { kind: 'failed', connection: 'refused' } });
    expect(player.policy.snapshot(player.now).limit).toBe(20);
    expect(player.limits.at(-1)).toBe(40);
  });

  it('makes no room for answers to attempts that were sent before the outage', () => {
    const { player, before } = afterOutage(100, 80);
    for (const each of before.slice(0, 25)) player.end(each);
    expect(player.policy.snapshot(0).limit).toBe(50);
  });

  it('lets at least as many go as at the beginning of a run', () => {
    const player = corePlayer();
    const charges = player.sendAll(10);
    player.outage.count += 1;
    for (const each of charges) player.end(each, { verdict: { kind: 'failed' } });
    expect(player.sendAll()).toHaveLength(16);
  });
});
