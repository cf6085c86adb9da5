import { integer, number, type Option } from './option.ts';
import {
  ALWAYS_NORMAL,
  type ModeState,
  type Policy,
  type PolicyDefinition,
  type RequestCost,
} from './policy.ts';

/** Bytes in flight before requests wait: 5 MiB. */
export const DEFAULT_MAX_BYTES = 5 * 1024 * 1024;
/** The multiple of its size that a request is charged in throttled mode. */
const DEFAULT_THROTTLED_BYTE_FACTOR = 20;

/** How many bytes may be in flight. */
export interface ByteBudgetConfig {
  /** Bytes in flight before requests wait, an integer >= 0. Default 5 MiB. */
  readonly maxBytes?: number;
  /**
   * The multiple of its size that a request is charged in throttled mode, >= 1. No effect under the
   * adaptive rate. Default 20.
   */
  readonly throttledByteFactor?: number;
}

/** Bytes. */
export interface ByteBudgetSnapshot {
  readonly maxBytes: number;
  /** Charged bytes that were not given back yet. */
  readonly used: number;
  /** The bytes left; negative while overdrawn. */
  readonly balance: number;
}

/**
 * A byte budget that may be overdrawn once: a request passes while the balance is not negative, so
 * that one larger than the whole budget can pass at all. While it is negative all requests wait.
 */
export class ByteBudgetPolicy implements Policy<number> {
  maxBytes: number;
  /** Bytes charged and not given back yet. */
  used = 0;
  private readonly factor: number;
  mode: ModeState;

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

  /**
   * Charges whole bytes, up to the largest safe integer, so that giving back leaves no remainder.
   */
  take(request: RequestCost, now: number): number {
    const factor = now < this.mode.throttledUntil ? this.factor : 1;
    const charge = Math.min(Math.ceil(request.bytes * factor), Number.MAX_SAFE_INTEGER - this.used);
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
export function byteBudgetPolicyOf(
  {
    maxBytes = DEFAULT_MAX_BYTES,
    throttledByteFactor = DEFAULT_THROTTLED_BYTE_FACTOR,
  }: ByteBudgetConfig,
  mode: ModeState | undefined,
): ByteBudgetPolicy {
  return new ByteBudgetPolicy(maxBytes, throttledByteFactor, mode);
}

export const BYTE_BUDGET_OPTIONS = {
  maxBytes: integer(0, DEFAULT_MAX_BYTES, 'bytes', 'bytes in flight above which requests wait'),
  throttledByteFactor: number(
    1,
    DEFAULT_THROTTLED_BYTE_FACTOR,
    '× size',
    'factor by which requests are charged more in throttled mode',
  ),
} satisfies Record<keyof ByteBudgetConfig, Option>;

export const BYTE_BUDGET: PolicyDefinition<
  ByteBudgetConfig,
  ByteBudgetPolicy,
  ByteBudgetConfig,
  'bytesUsed' | 'bytesLimit'
> = {
  kind: 'byteBudget',
  isHeld: true,
  options: BYTE_BUDGET_OPTIONS,

  create: (options, { mode }) => byteBudgetPolicyOf(options, mode),

  configure:
    (budget, { maxBytes }) =>
    () => {
      if (maxBytes !== undefined) budget.maxBytes = maxBytes;
    },

  metrics: {
    bytesUsed: {
      name: 'headgate.byte_budget.usage',
      unit: 'By',
      meaning: 'charged bytes of requests in flight',
    },
    bytesLimit: {
      name: 'headgate.byte_budget.limit',
      unit: 'By',
      meaning: 'usage above which requests wait',
    },
  },

  measure: ({ used, maxBytes }) => ({ bytesUsed: used, bytesLimit: maxBytes }),
};
