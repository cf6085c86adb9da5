import { Ticket } from '../../src/model/ticket.ts';
import { Composite, type Part } from '../../src/policies/composite.ts';
import { ConcurrencyPolicy } from '../../src/policies/concurrency-policy.ts';
import type { Policy, RequestCost } from '../../src/policies/policy.ts';
import { RateLimits } from '../../src/policies/rate-limit/rate-limits.ts';
import { type OnLimit, RateLimitPolicy } from '../../src/policies/rate-limit-policy.ts';
import { Gate } from '../../src/queue/gate.ts';
import { SharedPolicy } from '../../src/queue/shared-policy.ts';
import { queueRulesOf } from '../../src/request/gate-opener.ts';
import type { QueueOptions } from '../../src/request/gate-options.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { originOf, Waiter } from '../support/waiter.ts';

/** Closed until a time that tests set. */
class Closing implements Policy<0> {
  untilMs = 0;
  /** How often it was asked. */
  asked = 0;
  wait(_demand: RequestCost, now: number): number {
    this.asked += 1;
    return Math.max(0, this.untilMs - now);
  }
  take(): 0 {
    return 0;
  }
  giveBack(): void {}
  snapshot(): object {
    return {};
  }
}

export interface RigOptions {
  readonly queuesOf?: (key: string) => QueueOptions;
  /** Shared, and of each key; default: so many that they never bind. */
  readonly slots?: number;
  readonly ownSlots?: number;
  /** Shared bytes in each second. */
  readonly bytesPerSecond?: number;
  readonly onLimit?: OnLimit;
  readonly isPrioritized?: boolean;
  readonly costOf?: (demand: RequestCost) => number;
}

/** A request of one key. */
export interface Request {
  readonly key: string;
  readonly ticket: Ticket<string>;
  readonly receiver: Waiter;
  /** In the queue of its gate. */
  isQueued: boolean;
}

/** Gates of several keys that share slots and a rate in virtual time; a request costs its bytes. */
export function sharedPolicyRig(options: RigOptions = {}) {
  const { slots: limit = 1e9, ownSlots = 1e9, bytesPerSecond, onLimit = 'wait' } = options;
  const { isPrioritized = false, costOf = ({ bytes }: RequestCost) => bytes } = options;
  const clock = new ManualClock();
  const slots = new ConcurrencyPolicy(limit, limit);
  const parts: Part[] = [{ kind: 'concurrency', policy: slots }];
  if (bytesPerSecond !== undefined) {
    const limits = new RateLimits({ bytes: { limit: bytesPerSecond, windowMs: 1_000 } });
    const policy = new RateLimitPolicy(limits, { onLimit, refundRejected: false }, () => {});
    parts.push({ kind: 'rateLimit', policy: policy });
  }
  /** Asked last, when nothing else holds back. */
  const closing = new Closing();
  parts.push({ kind: 'backoff', policy: closing });
  const shared = new SharedPolicy(new Composite(parts), costOf);
  /** The names of those that have passed, in order. */
  const order: string[] = [];

  const open = (key: string) => {
    const own = { slots: new ConcurrencyPolicy(ownSlots, ownSlots), closing: new Closing() };
    const policy = shared.policyOf(
      new Composite([
        { kind: 'concurrency', policy: own.slots },
        { kind: 'pace', policy: own.closing },
      ]),
      () => gate.drain(),
      () => gate.waiting,
    );
    const rules = queueRulesOf(options.queuesOf?.(key) ?? {}, clock, isPrioritized);
    const gate: Gate = new Gate('backoff', policy, clock, undefined, rules);
    return { gate, own };
  };
  const keys = new Map<string, ReturnType<typeof open>>();
  const of = (key: string) => {
    const known = keys.get(key) ?? open(key);
    keys.set(key, known);
    return known;
  };

  let count = 0;
  /** A request; its name is its key and its number. */
  const make = (
    key: string,
    { bytes = 1, priority = 0, onPass = (_request: Request): void => {} } = {},
  ): Request => {
    const name = `${key}${count}`;
    const ticket = new Ticket(originOf(clock), name, bytes, 0, count, clock.now());
    ticket.priority = priority;
    count += 1;
    const receiver: Waiter = new Waiter(() => {
      order.push(ticket.refusal === undefined ? name : `${name}!`);
      onPass(request);
    });
    const request: Request = { key, ticket, receiver, isQueued: false };
    return request;
  };
  /** Goes to the gate, as users of promises do. */
  const go = (request: Request): Request => {
    const { key, ticket, receiver } = request;
    const hasPassed = of(key).gate.enter(ticket, receiver);
    if (!hasPassed) request.isQueued = true;
    else if (!receiver.gone) receiver.admitted(ticket);
    return request;
  };
  const enter = (key: string, said?: Parameters<typeof make>[1]) => go(make(key, said));
  /** Leaves, whether it waits or has passed. */
  const leave = ({ key, ticket, receiver }: Request): void => {
    receiver.gone = true;
    of(key).gate.left(receiver);
    ticket.settle('cancelled');
  };
  const end = ({ ticket }: Request): void => void ticket.settle('ok');
  return { clock, shared, slots, closing, order, of, keys, make, go, enter, leave, end };
}
