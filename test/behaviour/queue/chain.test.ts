import { equal, ok } from 'node:assert/strict';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Chain, type Plan } from '../../support/chain.ts';
import { holds } from '../../support/holds.ts';
import { runs } from '../../support/runs.ts';
import { stepCount } from '../../support/steps.ts';

const PLANS: Plan[] = [
  'stay',
  'stay',
  'succeed',
  'reject',
  'abort',
  'abortAnother',
  'bringAnother',
];

interface Step {
  readonly what:
    | 'arrive'
    | 'succeed'
    | 'reject'
    | 'abort'
    | 'abortWaiter'
    | 'limit'
    | 'maxBytes'
    | 'foreign'
    | 'advance';
  readonly number: number;
  readonly bytes: number;
  readonly plan: Plan;
}

const step: fc.Arbitrary<Step> = fc.record({
  what: fc.constantFrom<Step['what']>(
    'arrive',
    'arrive',
    'arrive',
    'succeed',
    'reject',
    'abort',
    'abortWaiter',
    'limit',
    'maxBytes',
    'foreign',
    'advance',
  ),
  number: fc.nat(20),
  bytes: fc.oneof(fc.constant(0), fc.nat(300), fc.nat(5_000)),
  plan: fc.constantFrom(...PLANS),
});

function perform(chain: Chain, { what, number, bytes, plan }: Step): void {
  const flying = chain.alive.filter(({ inFlight }) => inFlight);
  const flyer = flying[number % (flying.length + 1)];
  const [slots, budget] = chain.gates;
  if (what === 'arrive') chain.arrive(bytes, plan);
  if (what === 'succeed' && flyer !== undefined) chain.succeed(flyer);
  if (what === 'reject' && flyer !== undefined) chain.reject(flyer, bytes);
  if (what === 'abort') chain.abort(chain.alive[number % (chain.alive.length + 1)]);
  if (what === 'abortWaiter') {
    const waiting = chain.alive.filter(({ waitsAt }) => waitsAt >= 0);
    chain.abort(waiting[number % (waiting.length + 1)]);
  }
  if (what === 'limit') {
    chain.slots.limit = 1 + (number % 8);
    slots?.drain();
  }
  if (what === 'maxBytes') {
    chain.budget.maxBytes = bytes;
    budget?.drain();
  }
  // Another process that uses the same key was rejected, or accepted, now or some backoffs ago.
  if (what === 'foreign') chain.rejected(bytes, chain.backoff.epoch - (number % 4) + 1);
  if (what === 'foreign' && number > 15) chain.accept(chain.backoff.epoch);
  if (what === 'advance') chain.clock.advance(number * number * 30);
}

/** What must be true whenever nothing is going on. */
function checkRest(chain: Chain): void {
  const { alive, budget, clock, gates, queues, slots } = chain;
  const now = clock.now();
  const holders = alive.filter(({ waitsAt }) => waitsAt !== 0);
  equal(slots.inFlight, holders.length, 'slots');
  const bytes = alive.reduce((sum, { charge }) => sum + charge, 0);
  equal(budget.used, bytes, 'bytes');
  let mayArm = 0;
  gates.forEach((gate, at) => {
    const queue = queues[at] ?? [];
    equal(gate.snapshot().waiting, queue.length, 'waiting');
    const head = queue[0];
    if (head === undefined) return;
    const wait = gate.policy.wait(head.ticket, now);
    ok(wait > 0, `the head at gate ${at} waits for something`);
    if (wait < Number.POSITIVE_INFINITY) mayArm += 1;
  });
  equal(clock.pendingTimers, mayArm, 'timers');
}

describe('a chain of slots, bytes and backoff', () => {
  it.each(['probe', 'all'] as const)(
    'keeps its limits and the order, and holds nothing at the end: reopening with %s',
    (reopen) => {
      const count = stepCount(`chain at rest, ${reopen}`);
      fc.assert(
        fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
          count.add(steps);
          const chain = new Chain(reopen);
          for (const each of steps) {
            perform(chain, each);
            checkRest(chain);
          }
          while (chain.alive.length > 0)
            chain.abort(chain.alive[steps.length % chain.alive.length]);
          checkRest(chain);
          expect(chain.slots.snapshot()).toMatchObject({ inFlight: 0, throttledInFlight: 0 });
          holds(chain.budget.used === 0, chain.budget.used);
          holds(chain.clock.pendingTimers === 0, chain.clock.pendingTimers);
        }),
        { numRuns: runs(1_000) },
      );
      count.expectEnough();
    },
  );

  it.each(['probe', 'all'] as const)(
    'admits every request in the end: reopening with %s',
    (reopen) => {
      const count = stepCount(`chain to the end, ${reopen}`);
      fc.assert(
        fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
          count.add(steps);
          const chain = new Chain(reopen);
          for (const each of steps) perform(chain, each);
          const rounds = 4 * (chain.alive.length + 1);
          for (let n = 0; n < rounds && chain.alive.length > 0; n += 1) {
            for (const traveller of chain.alive.filter(({ inFlight }) => inFlight)) {
              if (!traveller.gone && traveller.inFlight) chain.succeed(traveller);
            }
            chain.clock.advance(20_000);
          }
          expect(chain.alive).toHaveLength(0);
          holds(chain.budget.used === 0, chain.budget.used);
          holds(chain.clock.pendingTimers === 0, chain.clock.pendingTimers);
        }),
        { numRuns: runs(2_000) },
      );
      count.expectEnough();
    },
  );
});
