import type { GateKind } from '../model/outcome.ts';
import { type Core, type Demand, type Ended, REFUSED, type Time } from './core.ts';

/** A core, and what those wait for whom it holds back. */
export interface Part {
  readonly kind: GateKind;
  readonly core: Core;
}

/** One moment for all parts, and read when the first of them asks: clocks are slow. */
class Moment implements Time {
  private time: Time | undefined = undefined;
  private at = 0;

  of(time: Time): this {
    this.time = time;
    return this;
  }

  now(): number {
    if (this.time === undefined) return this.at;
    this.at = this.time.now();
    this.time = undefined;
    return this.at;
  }
}

/** Stands where there is no part: it lets everyone pass, for nothing. */
const NO_PART: Part = {
  kind: 'backoff',
  core: { wait: () => 0, take: () => 0, giveBack: () => {}, snapshot: () => ({}) },
};

/** What each part has charged. */
interface Charges {
  readonly first: unknown;
  readonly second: unknown;
  readonly third: unknown;
  readonly fourth: unknown;
  readonly fifth: unknown;
  readonly sixth: unknown;
}

/**
 * Up to six cores that decide as one: a request passes when all let it, and is charged by all or by
 * none. So a charge is never older than the attempt that it stands for.
 *
 * Written out rather than in a loop, for speed: a call in a loop meets cores of every kind, and the
 * engine finds the method of each anew; here each call meets one kind.
 */
export class Composite implements Core<Charges> {
  binding: GateKind = 'backoff';
  bindingLimit: string | undefined = undefined;
  private readonly parts: readonly Part[];
  private first: Part;
  private second: Part;
  private third: Part;
  private fourth: Part;
  private fifth: Part;
  private sixth: Part;
  private readonly moment = new Moment();
  private refuser: Core | undefined = undefined;

  /** @throws RangeError for more than six parts */
  constructor(parts: readonly Part[]) {
    const [first, second, third, fourth, fifth, sixth, ...more] = parts;
    if (more.length > 0) throw new RangeError(`\`parts\` must be at most 6, got ${parts.length}`);
    this.parts = parts;
    this.first = first ?? NO_PART;
    this.second = second ?? NO_PART;
    this.third = third ?? NO_PART;
    this.fourth = fourth ?? NO_PART;
    this.fifth = fifth ?? NO_PART;
    this.sixth = sixth ?? NO_PART;
  }

  /** A part is in force no more: what it has charged is not given back to it. */
  retire(core: Core): void {
    if (this.first.core === core) this.first = NO_PART;
    if (this.second.core === core) this.second = NO_PART;
    if (this.third.core === core) this.third = NO_PART;
    if (this.fourth.core === core) this.fourth = NO_PART;
    if (this.fifth.core === core) this.fifth = NO_PART;
    if (this.sixth.core === core) this.sixth = NO_PART;
  }

  /** When time alone changes a part, if nobody asks. */
  get nextChangeAt(): number {
    let at = Number.POSITIVE_INFINITY;
    for (const { core } of this.parts) at = Math.min(at, core.nextChangeAt ?? at);
    return at;
  }

  /** Does what is due by now. */
  advance(now: number): void {
    for (const { core } of this.parts) core.advance?.(now);
  }

  /** The longest wait that any part needs. Nobody is asked after one that has refused. */
  wait(demand: Demand, now: number): number {
    let waitMs = 0;
    const first = this.first.core.wait(demand, now);
    if (first !== 0) waitMs = this.longer(this.first, first, waitMs);
    if (waitMs === REFUSED) return REFUSED;
    const second = this.second.core.wait(demand, now);
    if (second !== 0) waitMs = this.longer(this.second, second, waitMs);
    if (waitMs === REFUSED) return REFUSED;
    const third = this.third.core.wait(demand, now);
    if (third !== 0) waitMs = this.longer(this.third, third, waitMs);
    if (waitMs === REFUSED) return REFUSED;
    const fourth = this.fourth.core.wait(demand, now);
    if (fourth !== 0) waitMs = this.longer(this.fourth, fourth, waitMs);
    if (waitMs === REFUSED) return REFUSED;
    const fifth = this.fifth.core.wait(demand, now);
    if (fifth !== 0) waitMs = this.longer(this.fifth, fifth, waitMs);
    if (waitMs === REFUSED) return REFUSED;
    const sixth = this.sixth.core.wait(demand, now);
    return sixth === 0 ? waitMs : this.longer(this.sixth, sixth, waitMs);
  }

  refusal(demand: Demand, now: number): Error {
    const error = this.refuser?.refusal?.(demand, now);
    return error ?? new TypeError('nothing has refused this request');
  }

  take(demand: Demand, now: number): Charges {
    return {
      first: this.first.core.take(demand, now),
      second: this.second.core.take(demand, now),
      third: this.third.core.take(demand, now),
      fourth: this.fourth.core.take(demand, now),
      fifth: this.fifth.core.take(demand, now),
      sixth: this.sixth.core.take(demand, now),
    };
  }

  /** Last charged, first given back. */
  giveBack({ first, second, third, fourth, fifth, sixth }: Charges, ended: Ended, at: Time): void {
    const time = this.moment.of(at);
    if (sixth !== 0) this.sixth.core.giveBack(sixth, ended, time);
    if (fifth !== 0) this.fifth.core.giveBack(fifth, ended, time);
    if (fourth !== 0) this.fourth.core.giveBack(fourth, ended, time);
    if (third !== 0) this.third.core.giveBack(third, ended, time);
    if (second !== 0) this.second.core.giveBack(second, ended, time);
    if (first !== 0) this.first.core.giveBack(first, ended, time);
  }

  snapshot(): object {
    return {};
  }

  /** The longer of a wait and what a part has answered, and who has bound. */
  private longer({ core, kind }: Part, answer: number, waitMs: number): number {
    if (answer === REFUSED) this.refuser = core;
    else if (answer <= waitMs) return waitMs;
    this.binding = core.binding ?? kind;
    this.bindingLimit = core.bindingLimit;
    return answer;
  }
}
