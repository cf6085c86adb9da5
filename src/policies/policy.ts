import type { IsFailure, Verdict } from '../model/feedback.ts';
import type { GaugeValue, PolicyMetric } from '../model/gauge.ts';
import type { GateKind, SettleOutcome } from '../model/outcome.ts';
import type { Emit } from '../model/policy-events.ts';
import type { Amounts } from '../model/ticket.ts';
import type { Random } from '../util/clock.ts';
import type { Timeouts } from '../util/timers.ts';
import type { Option, OptionGroup } from './option.ts';

/** The properties of a request that policies read. */
export interface RequestCost {
  readonly bytes: number;
  readonly tokens: number;
  /** Slots that it takes while it is in flight. Default 1. */
  readonly weight?: number;
  /** Its costs by rate limit, if they differ from the expected ones. */
  readonly costs?: Amounts | undefined;
  /**
   * Whether it is a call of a limiter (`run`, `acquire`, `fetch`), not a request of a stream.
   * Default false.
   */
  readonly isCall?: boolean;
  /** Set by a policy that needs the input and output tokens of the answer apart. */
  needsParts?: boolean;
}

/** A request whose attempt ended, or was not made. */
export interface CompletedAttempt extends RequestCost {
  /** Whether it was sent. */
  readonly isSent: boolean;
  /** The provider's answer; undefined if there is none, as after a cancellation. */
  readonly verdict: Verdict | undefined;
  /** How its request has ended; undefined: it has not, or there is none. */
  readonly outcome?: SettleOutcome | undefined;
  /** Its real usage, as far as it is known. */
  readonly usage: Amounts | undefined;
  /** How many of its timeouts use up no attempt, because too many attempts were in flight. */
  excused?: number;
  /** The epoch of the backoff when it was sent. */
  readonly epoch: number;
}

/** Reads the time only if it is needed: reading a clock may cost more than everything else. */
export interface Time {
  now(): number;
}

/** Answer of {@link Policy.wait} for a request that can never pass. `refusal` returns the error. */
export const REFUSED = -1;

/** How long what an adaptive limit has learned is worth keeping without requests. */
export const LEARNED_FOR_MS = 60_000;

/**
 * A pure state machine that says when a request may pass. It has no timer, no clock and no queue:
 * the gate around it waits.
 */
export interface Policy<Charge = unknown> {
  /**
   * The wait of the request at the head of the queue.
   * @returns 0: it may pass now. A number of milliseconds: ask again then, or after a lease was
   * given back. Infinity: ask again when a lease was given back. {@link REFUSED}: it can never
   * pass.
   */
  wait(request: RequestCost, now: number): number;
  /** The error of a refused request. */
  refusal?(request: RequestCost, now: number): Error;
  /**
   * Whether no request can pass until a lease is given back, whatever its cost and however late.
   * Then no request is asked about, and the clock is not read. Default false.
   */
  readonly isFull?: boolean;
  /** The cause of the last request's wait, if a policy has several. */
  readonly binding?: GateKind;
  /** The named limit that caused it, if the policy has several. */
  readonly bindingLimit?: string | undefined;
  /** Whether a limit that several gates share caused it. */
  readonly isShared?: boolean;
  /** Whether no other gate goes first there. */
  readonly isNext?: boolean;
  /** Charges a request that may pass. Returns the charge; 0 if there is nothing to give back. */
  take(request: RequestCost, now: number): Charge | 0;
  /** Takes a charge back when the request has ended, or its attempt if each attempt is charged. */
  giveBack(charge: Charge, completed: CompletedAttempt, time: Time): void;
  /**
   * The answer to an attempt has begun, as that of a stream: it was accepted, and goes on. Its end
   * may still be a rejection. Not called for answers that end when they begin.
   */
  begun?(charge: Charge, verdict: Verdict, time: Time): void;
  /** Removes a part of this policy. Charges of that part are not given back to it any more. */
  retire?(part: Policy): void;
  /** The error of a request that no wait is enough for; undefined if a wait is enough. */
  impossible?(request: RequestCost): Error | undefined;
  /** Whether the usage in successful answers must be read. Default false. */
  readonly readsUsage?: boolean;
  /** Called when no request waits for this policy. */
  idle?(): void;
  /** When time alone changes the state so that an event is due; default Infinity. */
  readonly nextChangeAt?: number;
  /** Makes the changes that are due. */
  advance?(now: number): void;
  /** The state in plain numbers, for people and gauges. */
  snapshot(now: number): object;
}

/** The end of throttled mode, shared by the gates that depend on it. */
export interface ModeState {
  /** Throttled mode ends at this time of the clock; -Infinity if there was none. */
  readonly throttledUntil: number;
}

/** For gates without feedback. */
export const ALWAYS_NORMAL: ModeState = { throttledUntil: Number.NEGATIVE_INFINITY };

/** The name of an option in a message. */
export type Naming = (path: string) => string;

/** The values that policies are created with, beside their options. */
export interface PolicyContext {
  /** The time of the clock. */
  readonly now: number;
  readonly random: Random;
  /** Receives the events of policies. */
  readonly emit: Emit;
  /** Throttled mode. Default: always normal. */
  readonly mode?: ModeState | undefined;
  /** Which answers count as failures. Default: each policy has its own rule. */
  readonly isFailure?: IsFailure | undefined;
  /** The highest concurrency. */
  readonly maxLimit: number;
  /** The time in which attempts time out; undefined: it is not known. */
  readonly timeouts?: Pick<Timeouts, 'timeoutMs'> | undefined;
  /** The longest wait that a provider may ask for, in ms. */
  readonly maxRetryAfterMs: number;
  /** Sets the concurrency limit. */
  readonly apply: (limit: number) => void;
  /** Called with the presumed end of a wait that rejections named. */
  readonly correct: (until: number) => void;
  /** Whether a request may cost something of rate limits that are elsewhere. */
  readonly ignoreUnknown: boolean;
  /** The policies that follow in the registry, by their names there. */
  readonly others: Readonly<Record<string, unknown>>;
}

/** The values that policies need to change their options. */
export interface ChangeContext {
  /** The time of the clock. */
  readonly now: number;
  /** Sets the highest concurrency, below which an adaptive limit keeps what it has learned. */
  readonly setConcurrency: (concurrency: number) => void;
}

/**
 * Describes a policy. The options, their checks, their names in the environment and their
 * documentation, the policy that is created, its snapshots and its changes while running are all
 * derived from the descriptions in `registry.ts`.
 *
 * `Options` are the keys of a limiter's options that belong to the policy, `P` is the policy (or
 * undefined, if it may be off). `Layer` is the form of these options in one of several sources, in
 * which fields that another source may complete can be missing. `Gauges` are the keys of its
 * gauges.
 */
export interface PolicyDefinition<
  Options extends object,
  P extends Policy | undefined,
  Layer extends object = Options,
  Gauges extends string = never,
> {
  /** The cause that waits for it are counted under. */
  readonly kind: GateKind;
  /** Whether a request is charged once for all its attempts. Default: for each attempt. */
  readonly isHeld?: boolean;
  /** Its options with their bounds, defaults, units, and a sentence each. */
  readonly options: Readonly<Record<keyof Options, Option | OptionGroup>>;
  /**
   * Checks combinations of options; each option has been checked alone.
   * @param isWhole true: a missing option has its default. False: another source may still give it,
   * and checks that depend on it are left out
   * @throws RangeError or TypeError that names the options and the value
   */
  check?(options: Layer, isWhole: boolean, nameOf: Naming): void;
  /**
   * Missing: the policy exists already.
   * @returns undefined: it is not on
   * @throws RangeError or TypeError that names a wrong option
   */
  create?(options: Options, context: PolicyContext): P;
  /**
   * Checks changes of its options. Called only if some of them are given.
   * @param policy undefined: it is not on
   * @returns makes the changes; must not throw
   * @throws RangeError or TypeError that names a wrong option, or one that cannot change
   */
  configure?(policy: P, changes: Options, context: ChangeContext): () => void;
  /** Its gauges, by the keys that `measure` gives. */
  readonly metrics?: Readonly<Record<Gauges, PolicyMetric>>;
  /** The values of its gauges; undefined: not known now. */
  measure?(
    policy: NonNullable<P>,
    now: number,
  ): Readonly<Partial<Record<Gauges, GaugeValue | undefined>>>;
  /**
   * Whether the policy is in its initial state: nothing is held, used up or learned. Default:
   * always.
   */
  isAtRest?(policy: NonNullable<P>, now: number): boolean;
}
