import { describe, expect, it } from 'vitest';
import { sharedPolicyRig } from '../../queue/shared-policy-rig.ts';

describe('limits that gates share', () => {
  it('and their own charge a request both or neither', () => {
    const { slots, of, enter, end } = sharedPolicyRig({ slots: 2, ownSlots: 1 });
    const a = enter('a');
    const a2 = enter('a');
    expect(of('a').own.slots.inFlight).toBe(1);
    expect(slots.inFlight).toBe(1);
    const b = enter('b');
    const c = enter('c');
    expect(slots.inFlight).toBe(2);
    expect(of('c').own.slots.inFlight).toBe(0);
    end(b);
    expect(of('c').own.slots.inFlight).toBe(1);
    for (const request of [a, a2, c]) end(request);
    expect(slots.inFlight).toBe(0);
    for (const key of ['a', 'b', 'c']) expect(of(key).own.slots.inFlight).toBe(0);
  });

  it('let others pass while one waits for its own', () => {
    const { order, of, enter, clock } = sharedPolicyRig({ slots: 3 });
    of('a').own.closing.untilMs = 500;
    enter('a');
    enter('a');
    enter('b');
    enter('c');
    expect(order).toEqual(['b2', 'c3']);
    clock.advance(500);
    expect(order).toEqual(['b2', 'c3', 'a0']);
  });

  it('pass the turn of one that its own limits hold back meanwhile', () => {
    const { order, of, enter, end, clock } = sharedPolicyRig({ slots: 1 });
    const first = enter('x');
    enter('a');
    enter('b');
    of('a').own.closing.untilMs = 500;
    end(first);
    expect(order).toEqual(['x0', 'b2']);
    expect(of('a').gate.waitKind).toBe('pace');
    clock.advance(499);
    expect(clock.pendingTimers).toBe(1);
    clock.advance(1);
    expect(order).toEqual(['x0', 'b2']);
    expect(of('a').gate.waitKind).toBe('concurrency');
    expect(clock.pendingTimers).toBe(0);
  });

  it('take gates in turns by the cost of what they let pass', () => {
    const { order, enter, end } = sharedPolicyRig({ slots: 1 });
    const first = enter('x', { bytes: 10 });
    for (let n = 0; n < 20; n += 1) enter('a', { bytes: 10, onPass: end });
    for (let n = 0; n < 200; n += 1) enter('b', { bytes: 1, onPass: end });
    end(first);
    expect(order).toHaveLength(221);
    const half = order.slice(1, 111);
    expect(half.filter((name) => name.startsWith('a'))).toHaveLength(10);
  });

  it('serve one request of a key within a round, however many another has', () => {
    const { order, enter, end } = sharedPolicyRig({ slots: 1 });
    const first = enter('x');
    for (let n = 0; n < 1_000; n += 1) enter('many', { onPass: end });
    const few = [enter('few', { onPass: end }), enter('few', { onPass: end })];
    end(first);
    const places = few.map(({ ticket }) => order.indexOf(ticket.value));
    expect(Math.max(...places)).toBeLessThanOrEqual(5);
  });

  it('wait exactly as long as the head whose turn it is', () => {
    const { clock, order, enter } = sharedPolicyRig({ bytesPerSecond: 10 });
    enter('x', { bytes: 6 });
    clock.advance(300);
    enter('x', { bytes: 4 });
    enter('a', { bytes: 8 });
    enter('b', { bytes: 2 });
    enter('c', { bytes: 2 });
    // `a` was the first, and `b` and `c` will be finished before it.
    expect(clock.pendingTimers).toBe(2);
    clock.advance(699);
    expect(order).toEqual(['x0', 'x1']);
    clock.advance(1);
    expect(order.slice(2)).toEqual(['b3', 'c4']);
    expect(clock.pendingTimers).toBe(1);
    clock.advance(999);
    expect(order.slice(4)).toEqual([]);
    clock.advance(1);
    expect(order.slice(4)).toEqual(['a2']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('ask a smaller head that follows one that left', () => {
    const { clock, order, enter, leave } = sharedPolicyRig({ bytesPerSecond: 10 });
    enter('x', { bytes: 8 });
    const large = enter('a', { bytes: 9 });
    enter('a', { bytes: 1 });
    enter('b', { bytes: 9 });
    expect(order).toEqual(['x0']);
    leave(large);
    expect(order).toEqual(['x0', 'a2']);
    clock.advance(999);
    expect(order).toEqual(['x0', 'a2']);
    clock.advance(1);
    expect(order).toEqual(['x0', 'a2', 'b3']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('let a gate with small requests send beside those with large ones', () => {
    const { clock, order, enter } = sharedPolicyRig({ bytesPerSecond: 100 });
    const again = (key: string, bytes: number, afterMs: number) => {
      const onPass = () => clock.setTimer(() => again(key, bytes, afterMs), afterMs);
      enter(key, { bytes, onPass });
    };
    for (const key of ['a', 'b', 'c']) for (let n = 0; n < 3; n += 1) again(key, 20, 0);
    // It has one request at a time, and pauses after each.
    again('small', 1, 50);
    clock.advance(60_000);
    const small = order.filter((name) => name.startsWith('small')).length;
    const large = order.length - small;
    expect(small).toBeGreaterThan(900);
    expect(large * 20 + small).toBeGreaterThan(0.9 * 6_000);
  });

  it('do not let one keep its turn that has nobody left', () => {
    const { clock, order, enter, leave, end } = sharedPolicyRig({ slots: 1 });
    const first = enter('x');
    const a = enter('a');
    enter('b');
    leave(a);
    end(first);
    expect(order).toEqual(['x0', 'b2']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('do not let a dearer head have the turn of one that left', () => {
    const { order, enter, leave, end } = sharedPolicyRig({ slots: 1 });
    const first = enter('x');
    const cheap = enter('a', { bytes: 1 });
    enter('a', { bytes: 100, onPass: end });
    enter('b', { bytes: 1, onPass: end });
    leave(cheap);
    end(first);
    expect(order).toEqual(['x0', 'b3', 'a2']);
  });

  it('say what holds a gate back', () => {
    const { of, enter } = sharedPolicyRig({ bytesPerSecond: 10 });
    enter('x', { bytes: 10 });
    enter('a');
    enter('b');
    expect([of('a').gate.waitKind, of('b').gate.waitKind]).toEqual(['rateLimit', 'rateLimit']);
  });
});

describe('what shared limits refuse', () => {
  it('fails, whether it has waited or not, and holds up nobody', () => {
    const { clock, order, slots, enter, end } = sharedPolicyRig({ slots: 1, bytesPerSecond: 10 });
    expect(enter('a', { bytes: 11 }).ticket.refusal).toMatchObject({ name: 'CostAboveLimitError' });
    const first = enter('x');
    enter('a', { bytes: 11, onPass: end });
    enter('b', { bytes: 11, onPass: end });
    enter('b', { bytes: 1, onPass: end });
    end(first);
    expect(order).toEqual(['a0!', 'x1', 'a2!', 'b3!', 'b4']);
    expect(slots.inFlight).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });

  it('fails at once where a limit says so, and the next goes on', () => {
    const { order, enter } = sharedPolicyRig({ bytesPerSecond: 10, onLimit: 'fail' });
    enter('a', { bytes: 8 });
    enter('b', { bytes: 8 });
    enter('b', { bytes: 2 });
    expect(order).toEqual(['a0', 'b1!', 'b2']);
  });
});
