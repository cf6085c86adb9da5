import { deepEqual, equal, ok } from 'node:assert/strict';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Request, sharedPolicyRig } from '../../queue/shared-policy-rig.ts';
import { runs } from '../../support/runs.ts';
import { stepCount } from '../../support/steps.ts';

const KEYS = ['a', 'b', 'c', 'd'];
const SLOTS = 3;
const OWN_SLOTS = 2;
const BYTES_PER_SECOND = 30;

const plan = fc.constantFrom('stay', 'stay', 'end', 'leaveAnother', 'enter', 'tryEnter', 'close');
const step = fc.record({
  do: fc.constantFrom(
    ...['enter', 'enter', 'enter', 'enter', 'end', 'end', 'leave', 'tryEnter', 'close', 'closeAll'],
    ...['meet', 'advance', 'advance', 'next'],
  ),
  key: fc.constantFrom(...KEYS),
  bytes: fc.oneof(fc.nat(10), fc.constantFrom(0, 30, 31)),
  priority: fc.integer({ min: 0, max: 2 }),
  plan,
  pick: fc.nat(),
  ms: fc.constantFrom(0, 1, 100, 400, 1_000),
});
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

const usual = { bytes: 0, priority: 0, plan: 'stay', pick: 0, ms: 0 } as const;
/** Scripts that once failed. */
const EXAMPLES: readonly Step[][] = [
  // A more urgent one comes while the policy is asked for another, and may pass at once.
  [
    { ...usual, do: 'enter', key: 'a', bytes: 7 },
    { ...usual, do: 'enter', key: 'b', bytes: 6, plan: 'close', pick: 1, ms: 400 },
    { ...usual, do: 'enter', key: 'c', bytes: 6 },
    { ...usual, do: 'enter', key: 'a', bytes: 8 },
    { ...usual, do: 'closeAll', key: 'a', ms: 400 },
    { ...usual, do: 'end', key: 'a' },
    { ...usual, do: 'end', key: 'a' },
    { ...usual, do: 'enter', key: 'b', bytes: 4, plan: 'enter', pick: 504196391 },
    { ...usual, do: 'next', key: 'a' },
  ],
  // An urgent one that can never pass goes while the policy is asked for it.
  [
    { ...usual, do: 'closeAll', key: 'a', ms: 100 },
    { ...usual, do: 'close', key: 'a', ms: 1_000 },
    { ...usual, do: 'enter', key: 'c', bytes: 1 },
    { ...usual, do: 'next', key: 'a' },
    { ...usual, do: 'enter', key: 'd', bytes: 30 },
    { ...usual, do: 'enter', key: 'a', plan: 'leaveAnother', pick: 2013265911 },
    { ...usual, do: 'meet', key: 'd', bytes: 31, priority: 1 },
  ],
];

/**
 * Gates of some keys with their users, who do as a script says, and what they hold. Their laws are
 * checked at each step with `node:assert`: `expect` takes a hundred times as long.
 */
class World {
  readonly rig;
  readonly living: Request[] = [];
  readonly passed: { at: number; bytes: number }[] = [];
  #depth = 0;

  constructor(isPrioritized: boolean, onLimit: 'wait' | 'fail') {
    this.rig = sharedPolicyRig({
      ...{ slots: SLOTS, ownSlots: OWN_SLOTS, bytesPerSecond: BYTES_PER_SECOND },
      ...{ isPrioritized, onLimit },
      queuesOf: (key) =>
        key === 'c' ? { maxQueue: 2, overflow: 'drop-oldest' as const } : { maxQueue: 20 },
    });
  }

  play(step: Step): void {
    const { clock, closing, keys } = this.rig;
    const { key, ms, pick } = step;
    if (step.do === 'enter') this.#enter(step);
    else if (step.do === 'tryEnter') this.#tryEnter(step);
    else if (step.do === 'end') this.#end(this.#picked(pick, true));
    else if (step.do === 'leave') this.#leave(this.#picked(pick, pick % 2 === 0));
    else if (step.do === 'close') this.#close(key, ms);
    else if (step.do === 'closeAll') closing.untilMs = Math.max(closing.untilMs, clock.now() + ms);
    else if (step.do === 'meet') {
      // Comes at the very instant of a timer, before or after it.
      const dueMs = Math.max(0, (clock.nextTimerMs ?? clock.now()) - clock.now());
      clock.setTimer(() => this.#enter(step), dueMs);
      clock.advance(dueMs);
    } else if (step.do === 'next') clock.advanceTo(clock.nextTimerMs ?? clock.now());
    else clock.advance(ms);
    clock.advance(0);
    this.check();
    // Whoever may pass has passed: nobody was forgotten.
    const { length } = this.rig.order;
    this.rig.shared.drain();
    for (const { gate } of keys.values()) gate.drain();
    deepEqual(this.rig.order.slice(length), []);
  }

  check(): void {
    const { slots, keys, clock } = this.rig;
    const held = this.living.filter(({ receiver }) => receiver.tickets.length > 0);
    equal(slots.inFlight, held.length);
    ok(slots.inFlight <= SLOTS);
    let withWaiters = 0;
    for (const [key, { gate, own }] of keys) {
      equal(own.slots.inFlight, held.filter((request) => request.key === key).length);
      ok(own.slots.inFlight <= OWN_SLOTS);
      const waiting = this.living.filter((request) => request.key === key).length;
      equal(gate.waiting, waiting - own.slots.inFlight);
      if (gate.waiting > 0) withWaiters += 1;
    }
    ok(clock.pendingTimers <= withWaiters);
  }

  /** Everyone goes, some by their end and some before their turn. */
  finish(): void {
    const { clock, keys } = this.rig;
    for (let round = 0; this.living.length > 0; round += 1) {
      expect(round).toBeLessThan(1_000);
      this.#end(this.#picked(round, true));
      clock.advance(500);
    }
    this.check();
    for (const { gate } of keys.values()) expect(gate.waiting).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  }

  #enter(step: Step): void {
    const { bytes, priority, key } = step;
    const request = this.rig.make(key, {
      ...{ bytes, priority },
      onPass: (admitted) => this.#passed(admitted, step),
    });
    this.living.push(request);
    this.rig.go(request);
  }

  #tryEnter({ key, bytes }: Step): void {
    const request = this.rig.make(key, { bytes });
    const { ticket, receiver } = request;
    if (!this.rig.of(key).gate.tryEnter(ticket)) return;
    receiver.tickets.push(ticket);
    this.living.push(request);
    this.#charged(bytes);
  }

  #passed(request: Request, { plan, pick, key, ms, bytes }: Step): void {
    const { ticket } = request;
    expect(request.receiver.gone).toBe(false);
    expect(request.receiver.tickets).toHaveLength(1);
    if (ticket.refusal !== undefined) {
      this.#end(request);
      return;
    }
    this.#charged(ticket.bytes);
    this.#depth += 1;
    expect(this.#depth).toBeLessThan(20);
    const other = KEYS[(KEYS.indexOf(key) + 1 + (pick % 3)) % KEYS.length] ?? key;
    const then = {
      key: other,
      bytes: bytes % 5,
      plan: 'end',
      priority: pick % 2,
      pick,
      ms,
    } as Step;
    if (plan === 'end') this.#end(request);
    if (plan === 'leaveAnother') this.#leave(this.#picked(pick, false));
    if (plan === 'enter') this.#enter(then);
    if (plan === 'tryEnter') this.#tryEnter(then);
    if (plan === 'close') this.#close(other, ms);
    this.#depth -= 1;
  }

  /** Whoever closes a key's own limits tells its gate. */
  #close(key: string, ms: number): void {
    const { gate, own } = this.rig.of(key);
    own.closing.untilMs = Math.max(own.closing.untilMs, this.rig.clock.now() + ms);
    gate.drain();
  }

  #charged(bytes: number): void {
    const at = this.rig.clock.now();
    this.passed.push({ at, bytes });
    const inWindow = this.passed.filter((one) => at - one.at < 1_000);
    const sum = inWindow.reduce((total, one) => total + one.bytes, 0);
    expect(sum).toBeLessThanOrEqual(BYTES_PER_SECOND);
  }

  #end(request: Request | undefined): void {
    if (request === undefined) return;
    this.#forget(request);
    request.ticket.isSent = true;
    request.ticket.settle('ok');
  }

  #leave(request: Request | undefined): void {
    if (request === undefined) return;
    this.#forget(request);
    // Sent, so that its bytes stay charged.
    request.ticket.isSent = true;
    this.rig.leave(request);
  }

  #forget(request: Request): void {
    const index = this.living.indexOf(request);
    if (index >= 0) this.living.splice(index, 1);
  }

  #picked(pick: number, hasPassed: boolean): Request | undefined {
    const some = this.living.filter(({ receiver }) => receiver.tickets.length > 0 === hasPassed);
    return some[pick % (some.length || 1)];
  }
}

describe('gates that share limits, for generated events in any order', () => {
  it.each([
    ['shared limits, in order', false, 'wait'],
    ['shared limits, by priority', true, 'wait'],
    ['shared limits, that fail', true, 'fail'],
  ] as const)(
    'keep the limits, serve every request, and hold nothing at the end (%s)',
    (fuzzer, isPrioritized, onLimit) => {
      const count = stepCount(fuzzer);
      const law = fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        count.add(steps);
        const world = new World(isPrioritized, onLimit);
        for (const each of steps) world.play(each);
        world.finish();
      });
      const examples = EXAMPLES.map((script): [Step[]] => [script]);
      fc.assert(law, { numRuns: runs(200), examples });
      count.expectEnough();
    },
  );
});
