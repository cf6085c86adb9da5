import type { GaugeValue, PolicyMetric } from '../model/gauge.ts';
import type { GateKind } from '../model/outcome.ts';
import type { Emit } from '../model/policy-events.ts';
import type { Random } from '../util/clock.ts';
import type { IsFailure } from './judge.ts';
import type { Option, OptionGroup } from './option.ts';
import type { ModeState, Policy } from './policy.ts';

/** The name of an option in a message. */
export type Naming = (path: string) => string;

/** What policies are created with, beside their options. */
export interface PolicyContext {
  /** The time of the clock. */
  readonly now: number;
  readonly random: Random;
  /** Tells of changes. */
  readonly emit: Emit;
  /** Throttled mode. Default: always normal. */
  readonly mode?: ModeState | undefined;
  /** Which answers count as failures. Default: each policy has its own rule. */
  readonly isFailure?: IsFailure | undefined;
  /** The highest concurrency. */
  readonly maxLimit: number;
  /** The longest wait that a provider may ask for, in ms. */
  readonly maxRetryAfterMs: number;
  /** Sets the concurrency limit. */
  readonly apply: (limit: number) => void;
  /** Is told when a wait that rejections named is over, as far as is known. */
  readonly correct: (until: number) => void;
  /** Whether a request may cost something of rate limits that are elsewhere. */
  readonly ignoreUnknown: boolean;
  /** The policies that follow in the registry, by their names there. */
  readonly others: Readonly<Record<string, unknown>>;
}

/** What policies change their options with. */
export interface ChangeContext {
  /** The time of the clock. */
  readonly now: number;
  /** Sets the highest concurrency, below which an adaptive limit keeps what it has learned. */
  readonly setConcurrency: (concurrency: number) => void;
}

/**
 * Describes a policy. What options there are, how they are checked, named in the environment and
 * documented, what is created, shown in snapshots and changed while running: all of it is derived
 * from the descriptions in `registry.ts`.
 *
 * `Options` are the keys of a limiter's options that belong to the policy, `P` is the policy (or
 * undefined, where it may be off). `Layer` is what one of several sources may say of the options: what
 * another source may complete can be left out. `Gauges` are the keys of its gauges.
 */
export interface PolicyDefinition<
  Options extends object,
  P extends Policy | undefined,
  Layer extends object = Options,
  Gauges extends string = never,
> {
  /** What a wait for it is counted as. */
  readonly kind: GateKind;
  /** Whether a request is charged once for all its attempts. Default: for each attempt. */
  readonly isHeld?: boolean;
  /** Its options with their bounds, defaults, units, and a sentence each. */
  readonly options: Readonly<Record<keyof Options, Option | OptionGroup>>;
  /**
   * Checks what options say together; each has been checked alone.
   * @param isWhole whether what is not given has its default; else it is not known yet, and what
   *   depends on it is not checked
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
   * Checks changes of its options. Called only where some of them are given.
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
  /** Whether it is as a new one: nothing is held, used up, or learned. Default: it always is. */
  isAtRest?(policy: NonNullable<P>, now: number): boolean;
}
