import { ALWAYS_NORMAL, type Core, type Demand, type ModeState } from './core.ts';
import { integer, number } from './option.ts';
import type { PolicyDefinition } from './policy-definition.ts';

/** Bytes in flight before requests wait: 5 MiB (seed: 000). */
export const DEFAULT_MAX_BYTES = 5 * 1024 * 1024;
/** How many times its size a request is charged in throttled mode (seed: 000). */
const DEFAULT_THROTTLED_BYTE_FACTOR = 20;

/** How many bytes may be in flight. */
export interface ByteBudgetConfig {
  /** Bytes in flight before requests wait, an integer >= 0. Default 5 MiB. */
  readonly maxBytes?: number;
  /** How many times its size a request is charged in throttled mode, >= 1. Default 20. */
  readonly throttledByteFactor?: number;
}

/** Bytes. */
export interface ByteBudgetSnapshot {
  readonly maxBytes: number;
  /** Charged and not given back yet. */
  readonly used: number;
  /** What is left; negative while overdrawn. */
  readonly balance: number;
}

/**
 * A byte budget that may be overdrawn once: a request passes while the balance is not negative,
 * so that one larger than the whole budget can pass at all. While it is negative everyone waits.
 */
export class ByteBudget implements Core<number> {
  maxBytes: number;
  /** Bytes charged and not given back yet. */
  used = 0;
  private readonly factor: number;
  private readonly mode: ModeState;

  constructor(maxBytes: number, throttledByteFactor: number, mode: ModeState = ALWAYS_NORMAL) {
    this.maxBytes = maxBytes;
    this.factor = throttledByteFactor;
    this.mode = mode;
  }

  get isFull(): boolean {
    return this.used > this.maxBytes;
  }

  wait(): number {
    return this.isFull ? Number.POSITIVE_INFINITY : 0;
  }

  /** Charges whole bytes, and no more than can be counted: so what was given back leaves no rest. */
  take(demand: Demand, now: number): number {
    const factor = now < this.mode.throttledUntil ? this.factor : 1;
    const charge = Math.min(Math.ceil(demand.bytes * factor), Number.MAX_SAFE_INTEGER - this.used);
    this.used += charge;
    return charge;
  }

  giveBack(charge: number): void {
    this.used -= charge;
  }

  snapshot(): ByteBudgetSnapshot {
    const { maxBytes, used } = this;
    return { maxBytes, used, balance: maxBytes - used };
  }
}

/** @param mode throttled mode; undefined: always normal */
export function byteBudgetOf(
  {
    maxBytes = DEFAULT_MAX_BYTES,
    throttledByteFactor = DEFAULT_THROTTLED_BYTE_FACTOR,
  }: ByteBudgetConfig,
  mode: ModeState | undefined,
): ByteBudget {
  return new ByteBudget(maxBytes, throttledByteFactor, mode);
}

export const BYTE_BUDGET: PolicyDefinition<ByteBudgetConfig, ByteBudget> = {
  kind: 'byteBudget',
  isHeld: true,
  options: {
    maxBytes: integer(0, DEFAULT_MAX_BYTES, 'bytes', 'in flight before requests wait'),
    throttledByteFactor: number(
      1,
      DEFAULT_THROTTLED_BYTE_FACTOR,
      '× size',
      'what a request is charged in throttled mode',
    ),
  },

  create: (options, { mode }) => byteBudgetOf(options, mode),

  configure:
    (budget, { maxBytes }) =>
    () => {
      if (maxBytes !== undefined) budget.maxBytes = maxBytes;
    },
};
