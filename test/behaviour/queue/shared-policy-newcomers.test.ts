import { describe, expect, it } from 'vitest';
import { ConcurrencyPolicy } from '../../../src/policies/concurrency-policy.ts';
import type { Policy } from '../../../src/policies/policy.ts';
import { Gate } from '../../../src/queue/gate.ts';
import { type RigOptions, sharedPolicyRig } from '../../queue/shared-policy-rig.ts';
import { ruledGates } from '../../support/ruled-gate.ts';
import { Waiter } from '../../support/waiter.ts';

/** Gates by priority, around any policy. */
function urgentGate() {
  const { clock, queues, ticket } = ruledGates({ isPrioritized: true });
  const gateOf = (policy: Policy) => new Gate('concurrency', policy, clock, undefined, queues);
  return { clock, ticket, gateOf };
}

/**
 * At 1000 all 10 bytes are free again, and somebody comes before the timer of those that wait has
 * fired: first `a` has the turn with 2 bytes, then `c` with 4 and another 2.
 */
function atTheInstant(
  comes: (rig: ReturnType<typeof sharedPolicyRig>) => void,
  options: RigOptions = {},
) {
  const rig = sharedPolicyRig({ bytesPerSecond: 10, ...options });
  rig.clock.setTimer(() => comes(rig), 1_000);
  rig.enter('x', { bytes: 10 });
  rig.enter('a', { bytes: 2 });
  rig.enter('c', { bytes: 4 });
  rig.enter('c', { bytes: 2 });
  rig.clock.advance(1_000);
  return rig;
}

describe('a newcomer whose turn has come when all before it have passed', () => {
  it('passes, and those whose turn comes next after it', () => {
    const { order, clock } = atTheInstant(({ enter }) => enter('b', { bytes: 2 }));
    // Its own caller is told last.
    expect(order).toEqual(['x0', 'a1', 'c2', 'c3', 'b4']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('leaves no place in the round behind when it passes', () => {
    const { order, clock, enter } = atTheInstant(({ enter }) => enter('b', { bytes: 2 }));
    enter('d', { bytes: 1 });
    expect(clock.nextTimerMs).toBe(2_000);
    clock.advance(1_000);
    expect(order.at(-1)).toBe('d5');
    expect(clock.pendingTimers).toBe(0);
  });

  it('leaves none when it is refused', () => {
    const { order, clock } = atTheInstant(({ enter }) => enter('b', { bytes: 11 }));
    expect(order).toEqual(['x0', 'a1', 'c2', 'c3', 'b4!']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('leaves none when it would not wait, whether it may pass or not', () => {
    for (const bytes of [2, 11]) {
      const { order, clock } = atTheInstant(({ make, of }) => {
        const { ticket } = make('b', { bytes });
        expect(of('b').gate.tryEnter(ticket)).toBe(bytes === 2);
      });
      expect(order).toEqual(['x0', 'a1', 'c2', 'c3']);
      expect(clock.pendingTimers).toBe(0);
    }
  });

  it('leaves none when there is no room for it', () => {
    const queuesOf = (key: string) => (key === 'b' ? { maxQueue: 0 } : {});
    const { order, clock } = atTheInstant(({ enter }) => enter('b', { bytes: 9 }), { queuesOf });
    expect(order).toEqual(['x0', 'a1', 'c2', 'c3', 'b4!']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('leaves none when it is urgent', () => {
    const comes = ({ enter }: ReturnType<typeof sharedPolicyRig>) =>
      enter('c', { bytes: 1, priority: 9 });
    const { order, clock } = atTheInstant(comes, { isPrioritized: true });
    clock.advance(0);
    expect(order).toEqual(['x0', 'c4', 'a1', 'c2', 'c3']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is not let through when its own limits were closed by one that passed before it', () => {
    const rig = sharedPolicyRig({ bytesPerSecond: 10 });
    const { clock, order, enter, of } = rig;
    clock.setTimer(() => enter('b', { bytes: 2 }), 1_000);
    enter('x', { bytes: 10 });
    const onPass = () => {
      of('b').own.closing.untilMs = 1_500;
    };
    enter('a', { bytes: 2, onPass });
    clock.advance(1_499);
    expect(order).toEqual(['x0', 'a1']);
    clock.advance(1);
    expect(order).toEqual(['x0', 'a1', 'b2']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('takes nothing when one that passes before it makes it leave', () => {
    const rig = sharedPolicyRig({ bytesPerSecond: 10 });
    const { clock, order, slots, enter, make, go, of, leave } = rig;
    const leaving = make('b', { bytes: 2 });
    clock.setTimer(() => go(leaving), 1_000);
    enter('x', { bytes: 10 });
    enter('a', { bytes: 2, onPass: () => leave(leaving) });
    clock.advance(1_000);
    expect(order).toEqual(['x1', 'a2']);
    expect(slots.inFlight).toBe(2);
    expect(of('b').own.slots.inFlight).toBe(0);
    expect(of('b').gate.waiting).toBe(0);
  });

  it('does not overtake one of its own key that comes while it is asked', () => {
    const rig = sharedPolicyRig({ bytesPerSecond: 10 });
    const { clock, order, enter } = rig;
    clock.setTimer(() => enter('b', { bytes: 11 }), 1_000);
    enter('x', { bytes: 10 });
    enter('a', { bytes: 2, onPass: () => enter('b', { bytes: 2 }) });
    clock.advance(1_000);
    // It waits until the one that was asked is done with, which no limit ever gives anything back.
    expect(order).toEqual(['x0', 'a1', 'b2!', 'b3']);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('an urgent newcomer', () => {
  it('goes before the head of its key and not before the turn of another', () => {
    const { order, enter, end } = sharedPolicyRig({ slots: 1, isPrioritized: true });
    const first = enter('x');
    enter('a', { onPass: end });
    enter('b', { onPass: end });
    enter('b', { onPass: end, priority: 1 });
    expect(order).toEqual(['x0']);
    end(first);
    expect(order).toEqual(['x0', 'a1', 'b3', 'b2']);
  });

  it('may pass where the head may not, by its own limits or by shared ones', () => {
    const { order, enter, clock } = sharedPolicyRig({ bytesPerSecond: 10, isPrioritized: true });
    enter('x', { bytes: 8 });
    enter('a', { bytes: 9 });
    enter('b', { bytes: 9 });
    enter('a', { bytes: 2, priority: 1 });
    expect(order).toEqual(['x0', 'a3']);
    clock.advance(1_000);
    expect(order).toHaveLength(3);
    clock.advance(1_000);
    expect(order).toHaveLength(4);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('what is given back while an urgent newcomer is asked', () => {
  it('reaches those behind it too', () => {
    const { clock, ticket, gateOf } = urgentGate();
    const slots = new ConcurrencyPolicy(2, 2);
    let whenFull = () => {};
    const gate = gateOf({
      wait: (demand, now) => {
        const waitMs = slots.wait(demand, now);
        if (waitMs > 0) whenFull();
        return waitMs;
      },
      take: (demand, now) => slots.take(demand, now),
      giveBack: (charge) => slots.giveBack(charge as number),
      snapshot: () => ({}),
    });
    const waiter = new Waiter();
    const held = [ticket({}), ticket({})];
    for (const each of held) gate.enter(each, waiter);
    gate.enter(ticket({}), waiter);
    whenFull = () => {
      for (const each of held) each.settle('ok');
    };
    gate.enter(ticket({ priority: 1 }), waiter);
    clock.advance(0);
    expect(waiter.order).toEqual([3, 2]);
    expect(slots.inFlight).toBe(2);
  });
});

describe('a cost that cannot be had', () => {
  it('reaches whoever caused the question, and holds up nobody for good', () => {
    const bad = { on: false };
    const { order, enter, end } = sharedPolicyRig({
      slots: 1,
      costOf: ({ bytes }) => {
        if (bad.on) throw new Error('no cost');
        return bytes;
      },
    });
    const first = enter('x');
    enter('a', { onPass: end });
    enter('b', { onPass: end });
    bad.on = true;
    expect(() => end(first)).toThrow('no cost');
    bad.on = false;
    enter('c', { onPass: end });
    expect(order).toEqual(['x0', 'a1', 'b2', 'c3']);
  });
});
