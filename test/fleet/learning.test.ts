import { expect, it } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import { type ExchangeReply, type ExchangeRequest, ORIGINS } from '../../src/fleet/protocol.ts';
import type { SharedStore } from '../../src/fleet/shared-store.ts';
import { seededRandom } from '../../src/simulator/random.ts';
import { isLong } from '../support/runs.ts';
import { Crowd, type Member, provider } from './learning-rig.ts';

const TTL_MS = 5_000;

/** One bucket of 50 requests a second for all, of which nothing is told. */
const bucket = provider(1, {
  kind: 'token-bucket',
  perMs: 0.05,
  windowMs: 2_000,
  limit: 100,
  burst: 20,
  latencyMs: 300,
  latencySigma: 0.3,
  networkMs: 10,
  rejectionMs: 20,
  countsRejected: false,
  requests: 6_000,
  horizonMs: 60_000,
});

/** A store whose calls can be cut off for one worker, and that remembers what was told. */
class Ways {
  store: SharedStore | undefined;
  readonly cut = new Set<number>();
  /** The last call that a worker made, and that of its last plan. */
  readonly calls: ExchangeRequest[] = [];

  readonly of = (clock: ConstructorParameters<typeof Crowd>[0] | never, place: number) => {
    this.store ??= memoryStore({ clock: clock as never, ttlMs: TTL_MS });
    const { store } = this;
    return {
      ...store,
      exchange: (request: ExchangeRequest): ExchangeReply => {
        if (this.cut.has(place)) throw new Error('it is stopped');
        this.calls[place] = request;
        const told: ExchangeRequest = JSON.parse(JSON.stringify(request));
        return JSON.parse(JSON.stringify(store.exchange(told)));
      },
    };
  };
}

function crowdOf(count: number, ways = new Ways()): Crowd {
  return new Crowd(bucket, count, ways.of as never);
}

const leads = ({ limiter }: Member) => limiter.snapshot().fleet?.leads === true;
const leaderOf = (crowd: Crowd) => crowd.members.findIndex((member) => leads(member));

/** The rate that was measured, without what is tried above it. */
function rateOf({ members }: Crowd, besides = -1): number {
  const found = members.find((member, place) => place !== besides && leads(member));
  const known = found?.limiter.snapshot().adaptive;
  return known !== undefined && 'ceilingPerSecond' in known ? (known.ceilingPerSecond ?? 0) : 0;
}

it('many workers learn together what one process learns alone', () => {
  const alone = new Crowd(bucket, 1);
  alone.run(bucket.horizonMs);
  const one = alone.figures();
  for (const count of [2, isLong ? 32 : 8]) {
    const crowd = crowdOf(count);
    crowd.run(bucket.horizonMs);
    const all = crowd.figures();
    // A grant is late by a call of its worker, 50 ms of a minute and more where rates are learned.
    expect(all.goodput, `goodput of ${count}`).toBeGreaterThan(one.goodput - 2);
    // A plan is late by two calls: what goes meanwhile is rejected too. It is not one for each
    // worker.
    expect(all.perMille, `rejections of ${count}`).toBeLessThan(2 * one.perMille + 10);
    expect(all.jain, `fairness of ${count}`).toBeGreaterThanOrEqual(0.95);
    // They all obey one plan, and say so.
    const rates = crowd.members.map(({ limiter }) => limiter.snapshot().fleet?.learned?.perSecond);
    for (const rate of rates) expect((rate ?? 0) / 50).toBeCloseTo(1, 1);
    expect(crowd.members.filter((member) => leads(member))).toHaveLength(1);
  }
});

it('a leader that dies at any moment is followed within two leases, and nothing is forgotten', () => {
  const random = seededRandom(7);
  for (let round = 0; round < (isLong ? 16 : 2); round += 1) {
    const ways = new Ways();
    const crowd = crowdOf(3, ways);
    crowd.run(20_000 + 10_000 * random());
    const first = leaderOf(crowd);
    const rate = rateOf(crowd);
    // It neither calls nor hears any more: its requests never end.
    ways.cut.add(first);
    (crowd.members[first] as Member).isStopped = true;
    const stoppedAt = crowd.clock.now();
    const events: number[] = [];
    crowd.members.forEach(({ limiter }, place) => {
      if (place === first) return;
      limiter.events$.subscribe((event) => {
        if (event.kind === 'leaderChanged' && event.leads) events.push(event.at);
      });
    });
    crowd.run(2 * TTL_MS);
    expect(events, 'followed once').toHaveLength(1);
    expect((events[0] as number) - stoppedAt).toBeLessThanOrEqual(2 * TTL_MS);
    const next = rateOf(crowd, first);
    expect(next / rate).toBeGreaterThan(0.9);
    expect(next / rate).toBeLessThan(1.1);
    crowd.run(10_000);
    // No slow start, and no flood.
    const after = crowd.figures(stoppedAt + 2 * TTL_MS);
    expect(after.goodput).toBeGreaterThan(90);
    expect(after.perMille).toBeLessThan(60);
  }
});

it('a leader that leaves hands over at once', () => {
  const crowd = crowdOf(3);
  crowd.run(20_000);
  const first = leaderOf(crowd);
  const rate = rateOf(crowd);
  const { limiter } = crowd.members[first] as Member;
  limiter.clear();
  limiter.close({ waiting: 'reject' });
  crowd.run(3_000);
  const members = crowd.members.filter((_, place) => place !== first);
  const next = members.find((member) => leads(member))?.limiter.snapshot().fleet;
  expect(next?.handovers).toBe(1);
  expect((next?.learned?.perSecond ?? 0) / rate).toBeCloseTo(1, 1);
});

it('a leader that slept does not write its plan over the newer one', () => {
  const ways = new Ways();
  const crowd = crowdOf(2, ways);
  crowd.run(15_000);
  const first = leaderOf(crowd);
  ways.cut.add(first);
  crowd.run(2 * TTL_MS);
  const other = crowd.members[1 - first] as Member;
  expect(leads(other)).toBe(true);
  const { store } = ways;
  const asleep = ways.calls[first] as ExchangeRequest;
  const plan = { ...(asleep.plan as NonNullable<ExchangeRequest['plan']>), requestsPerHour: 1 };
  // The call that it was about to make when it was stopped.
  const late = { ...asleep, sequence: asleep.sequence + 1, plan, learned: 'old' };
  const reply = store?.exchange(late) as ExchangeReply & { status: 'ok' };
  expect(asleep.term).toBeGreaterThan(0);
  expect(reply.leads).toBe(0);
  expect(reply.plan?.requestsPerHour).toBeGreaterThan(1e6);
  expect(ORIGINS[reply.plan?.origin ?? 0]).toBe('learned');
  // As one that has it again, it is handed what the other has learned, not what it wrote.
  ways.cut.delete(first);
  other.limiter.clear();
  other.limiter.close({ waiting: 'reject' });
  crowd.run(3_000);
  expect(leaderOf(crowd)).toBe(first);
  expect(rateOf(crowd) / 50).toBeGreaterThan(0.9);
  expect(rateOf(crowd) / 50).toBeLessThan(1.15);
});
