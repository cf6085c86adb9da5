import type { Verdict } from '../model/feedback.ts';
import type { GateKind } from '../model/outcome.ts';
import {
  type CompletedAttempt,
  type Policy,
  REFUSED,
  type RequestCost,
  type Time,
} from './policy.ts';

/** A policy, and the cause of waits that it stands for. */
export interface Part {
  readonly kind: GateKind;
  readonly policy: Policy;
}

/** One time for all parts, read when the first of them asks, because reading a clock is slow. */
class Moment implements Time {
  #time: Time | undefined = undefined;
  #at = 0;

  of(time: Time): this {
    this.#time = time;
    return this;
  }

  now(): number {
    if (this.#time === undefined) return this.#at;
    this.#at = this.#time.now();
    this.#time = undefined;
    return this.#at;
  }
}

/** Stands for a missing part: it lets all requests pass without a charge. */
const NO_PART: Part = {
  kind: 'backoff',
  policy: { wait: () => 0, take: () => 0, giveBack: () => {}, snapshot: () => ({}) },
};

/** The charge of each part. */
interface Charges {
  readonly first: unknown;
  readonly second: unknown;
  readonly third: unknown;
  readonly fourth: unknown;
  readonly fifth: unknown;
  readonly sixth: unknown;
}

/**
 * Up to six policies as one decision: a request passes if all allow it, and is charged by all or
 * none. So a charge is never older than its attempt.
 *
 * Written out instead of a loop, for speed: a call in a loop meets policies of every class, so that
 * V8 must look the method up each time; here each call site meets one class.
 */
export class Composite implements Policy<Charges> {
  binding: GateKind = 'backoff';
  bindingLimit: string | undefined = undefined;
  readonly #parts: readonly Part[];
  #first: Part;
  #second: Part;
  #third: Part;
  #fourth: Part;
  #fifth: Part;
  #sixth: Part;
  readonly #moment = new Moment();
  #refuser: Policy | undefined = undefined;

  /** @throws RangeError for more than six parts */
  constructor(parts: readonly Part[]) {
    const [first, second, third, fourth, fifth, sixth, ...more] = parts;
    if (more.length > 0) throw new RangeError(`\`parts\` must be at most 6, got ${parts.length}`);
    this.#parts = parts;
    this.#first = first ?? NO_PART;
    this.#second = second ?? NO_PART;
    this.#third = third ?? NO_PART;
    this.#fourth = fourth ?? NO_PART;
    this.#fifth = fifth ?? NO_PART;
    this.#sixth = sixth ?? NO_PART;
  }

  /** Removes a part. Its earlier charges are not given back to it. */
  retire(policy: Policy): void {
    if (this.#first.policy === policy) this.#first = NO_PART;
    if (this.#second.policy === policy) this.#second = NO_PART;
    if (this.#third.policy === policy) this.#third = NO_PART;
    if (this.#fourth.policy === policy) this.#fourth = NO_PART;
    if (this.#fifth.policy === policy) this.#fifth = NO_PART;
    if (this.#sixth.policy === policy) this.#sixth = NO_PART;
  }

  /** When time alone changes a part. */
  get nextChangeAt(): number {
    let at = Number.POSITIVE_INFINITY;
    for (const { policy } of this.#parts) at = Math.min(at, policy.nextChangeAt ?? at);
    return at;
  }

  /** Makes the changes that are due. */
  advance(now: number): void {
    for (const { policy } of this.#parts) policy.advance?.(now);
  }

  /** The longest wait that any part needs. After a refusal no other part is asked. */
  wait(request: RequestCost, now: number): number {
    let waitMs = 0;
    const first = this.#first.policy.wait(request, now);
    if (first !== 0) waitMs = this.#longer(this.#first, first, waitMs);
    if (waitMs === REFUSED) return REFUSED;
    const second = this.#second.policy.wait(request, now);
    if (second !== 0) waitMs = this.#longer(this.#second, second, waitMs);
    if (waitMs === REFUSED) return REFUSED;
    const third = this.#third.policy.wait(request, now);
    if (third !== 0) waitMs = this.#longer(this.#third, third, waitMs);
    if (waitMs === REFUSED) return REFUSED;
    const fourth = this.#fourth.policy.wait(request, now);
    if (fourth !== 0) waitMs = this.#longer(this.#fourth, fourth, waitMs);
    if (waitMs === REFUSED) return REFUSED;
    const fifth = this.#fifth.policy.wait(request, now);
    if (fifth !== 0) waitMs = this.#longer(this.#fifth, fifth, waitMs);
    if (waitMs === REFUSED) return REFUSED;
    const sixth = this.#sixth.policy.wait(request, now);
    return sixth === 0 ? waitMs : this.#longer(this.#sixth, sixth, waitMs);
  }

  refusal(request: RequestCost, now: number): Error {
    const error = this.#refuser?.refusal?.(request, now);
    return error ?? new TypeError('nothing has refused this request');
  }

  take(request: RequestCost, now: number): Charges {
    return {
      first: this.#first.policy.take(request, now),
      second: this.#second.policy.take(request, now),
      third: this.#third.policy.take(request, now),
      fourth: this.#fourth.policy.take(request, now),
      fifth: this.#fifth.policy.take(request, now),
      sixth: this.#sixth.policy.take(request, now),
    };
  }

  /** Gives charges back from the last part to the first. */
  giveBack(
    { first, second, third, fourth, fifth, sixth }: Charges,
    completed: CompletedAttempt,
    time: Time,
  ): void {
    const moment = this.#moment.of(time);
    if (sixth !== 0) this.#sixth.policy.giveBack(sixth, completed, moment);
    if (fifth !== 0) this.#fifth.policy.giveBack(fifth, completed, moment);
    if (fourth !== 0) this.#fourth.policy.giveBack(fourth, completed, moment);
    if (third !== 0) this.#third.policy.giveBack(third, completed, moment);
    if (second !== 0) this.#second.policy.giveBack(second, completed, moment);
    if (first !== 0) this.#first.policy.giveBack(first, completed, moment);
  }

  begun(charges: Charges, verdict: Verdict, time: Time): void {
    const moment = this.#moment.of(time);
    const { first, second, third, fourth, fifth, sixth } = charges;
    if (first !== 0) this.#first.policy.begun?.(first, verdict, moment);
    if (second !== 0) this.#second.policy.begun?.(second, verdict, moment);
    if (third !== 0) this.#third.policy.begun?.(third, verdict, moment);
    if (fourth !== 0) this.#fourth.policy.begun?.(fourth, verdict, moment);
    if (fifth !== 0) this.#fifth.policy.begun?.(fifth, verdict, moment);
    if (sixth !== 0) this.#sixth.policy.begun?.(sixth, verdict, moment);
  }

  snapshot(): object {
    return {};
  }

  /** The longer of a wait and a part's answer; notes the binding part. */
  #longer({ policy, kind }: Part, answer: number, waitMs: number): number {
    if (answer === REFUSED) this.#refuser = policy;
    else if (answer <= waitMs) return waitMs;
    this.binding = policy.binding ?? kind;
    this.bindingLimit = policy.bindingLimit;
    return answer;
  }
}
