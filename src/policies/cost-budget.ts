import { isRejection } from '../model/feedback.ts';
import { CostEstimate } from './cost-estimate.ts';
import { checkOptions, number, type Option } from './option.ts';
import {
  type CompletedAttempt,
  type Policy,
  type PolicyDefinition,
  REFUSED,
  type RequestCost,
  type Time,
} from './policy.ts';
import { waitUntil } from './rate-limit/limit-state.ts';
import { CostAboveLimitError } from './rate-limit/rate-limit.ts';
import { SlidingWindow } from './rate-limit/windows.ts';

/** Money is counted in whole billionths, so that sums of it are exact. */
const UNITS = 1e9;

/** How much money requests may cost. */
export interface CostBudgetConfig {
  /** Money that any `windowMs` may cost, a number >= 0.01, in the currency of the prices. */
  readonly maxCost: number;
  /** The window, in ms, >= 1: an hour is 3,600,000, a day 86,400,000. It rolls. */
  readonly windowMs: number;
  /** Price of a million input tokens, >= 0. Default 0. */
  readonly inputPrice?: number;
  /** Price of a million input tokens that were read from a cache. Default: `inputPrice`. */
  readonly cachedPrice?: number;
  /** Price of a million output tokens, >= 0. Default 0. */
  readonly outputPrice?: number;
}

/** Whether money is limited. */
export interface CostBudgetOption {
  /**
   * A rolling budget of money. A request reserves its estimated cost. Its real cost replaces the
   * estimate: the recorded cost (`context.recordCost`), or the cost that follows from its usage and
   * the prices. Default: none.
   */
  readonly costBudget?: CostBudgetConfig;
}

/** The cost budget in one of several sources. */
export interface CostBudgetLayer {
  readonly costBudget?: Partial<CostBudgetConfig>;
}

/** Money, in the currency of the prices; times in ms. */
export interface CostBudgetSnapshot {
  readonly maxCost: number;
  readonly windowMs: number;
  /** Spent within the window, and reserved for requests in flight; above `maxCost` when in debt. */
  readonly used: number;
  /** The amount that a request sent now may cost, >= 0. */
  readonly available: number;
  /** Until all of it is available, if nothing more is spent. */
  readonly resetMs: number;
}

/** The amount that an attempt has reserved. */
interface Reserved {
  /** In billionths. */
  readonly amount: number;
  /** The id of its entry in the window; -1 if nothing was charged. */
  readonly mark: number;
  /** The price of its input, as estimated. */
  readonly inputCost: number;
}

/**
 * A budget of money over a rolling window. A request waits until its estimate fits, and reserves
 * it. When its attempt has ended, the real cost replaces the estimate. A higher cost is charged at
 * that time and may cause a debt, during which no request passes. A lower cost is given back at the
 * time of the charge. So a window exceeds the budget at most by the amount by which the estimates
 * of requests in flight were too low.
 */
export class CostBudget implements Policy<Reserved> {
  #options: CostBudgetConfig;
  readonly #window: SlidingWindow;
  readonly #estimate: CostEstimate;
  #now = Number.NEGATIVE_INFINITY;

  /** @throws RangeError or TypeError that names a wrong option */
  constructor(options: CostBudgetConfig) {
    checkCostBudget(options);
    this.#options = options;
    this.#window = new SlidingWindow(sizeOf(options));
    this.#estimate = new CostEstimate(options);
  }

  /** Whether the prices determine the cost of an answer, so that its usage must be read. */
  get readsUsage(): boolean {
    return this.#estimate.hasPrices;
  }

  wait(request: RequestCost, now: number): number {
    if (this.impossible(request) !== undefined) return REFUSED;
    return waitUntil(this.#window.readyAt(this.#unitsOf(request), this.#timeAt(now)), now);
  }

  refusal(request: RequestCost): Error {
    return this.impossible(request) ?? new TypeError('no cost budget has refused this request');
  }

  /** The error of a request that no wait is enough for; undefined if a wait is enough. */
  impossible(request: RequestCost): CostAboveLimitError | undefined {
    const cost = this.#estimate.leastOf(request);
    const { maxCost } = this.#options;
    return cost > maxCost ? new CostAboveLimitError('costBudget', cost, maxCost) : undefined;
  }

  take(request: RequestCost, now: number): Reserved {
    if (this.readsUsage) request.isPriced = true;
    const amount = this.#unitsOf(request);
    const at = this.#timeAt(now);
    const mark = amount > 0 ? this.#window.charge(amount, at) : -1;
    return { amount, mark, inputCost: this.#estimate.inputCostOf(request) };
  }

  /**
   * A rejected attempt costs nothing; for other attempts the estimate stays if no cost is known. The
   * usage of an answer that was broken off says what it cost until then, at the least: the first
   * event of a stream of Anthropic counts one token of output.
   */
  giveBack({ amount, mark, inputCost }: Reserved, completed: CompletedAttempt, time: Time): void {
    const { isSent, verdict, usage } = completed;
    const cost = usage === undefined ? undefined : this.#estimate.costOf(usage);
    const isRejected = verdict !== undefined && isRejection(verdict);
    if (cost === undefined && isSent && !isRejected) return;
    const actual = unitsIn(cost ?? 0);
    const isPart = isSent && usage?.cost === undefined && isBrokenOff(completed);
    if (isPart && actual < amount) return;
    if (cost !== undefined && !isPart) this.#estimate.learn(cost - inputCost);
    if (actual > amount) this.#window.charge(actual - amount, this.#timeAt(time.now()));
    else if (actual < amount) this.#window.giveBack(amount - actual, mark);
  }

  snapshot(now: number): CostBudgetSnapshot {
    const { maxCost, windowMs } = this.#options;
    const at = this.#timeAt(now);
    const used = this.#window.used(at);
    return {
      maxCost,
      windowMs,
      used: used / UNITS,
      available: this.#window.available(at) / UNITS,
      resetMs: used === 0 ? 0 : waitUntil(this.#window.emptyAt(at), now),
    };
  }

  /** Continues with other checked options. The spent amount stays. */
  configure(options: CostBudgetConfig, now: number): void {
    this.#options = options;
    this.#estimate.configure(options);
    this.#window.resize(sizeOf(options), this.#timeAt(now));
  }

  /** The estimate, in billionths. */
  #unitsOf(request: RequestCost): number {
    return unitsIn(this.#estimate.expectedOf(request, this.#options.maxCost));
  }

  /** A clock that runs backwards is taken to stand still until it has caught up. */
  #timeAt(now: number): number {
    if (now > this.#now) this.#now = now;
    return this.#now;
  }
}

/** Whether the request ended before its answer did: it was cancelled, or its deadline passed. */
function isBrokenOff({ outcome = 'ok', verdict }: CompletedAttempt): boolean {
  return outcome !== 'ok' && (verdict?.kind ?? 'ok') === 'ok';
}

function sizeOf({ maxCost, windowMs }: CostBudgetConfig) {
  const limit = unitsIn(maxCost);
  return { limit, windowMs, maxCost: limit };
}

function unitsIn(cost: number): number {
  return Math.min(Number.MAX_SAFE_INTEGER / 2, Math.round(cost * UNITS));
}

const FIELDS = {
  maxCost: number(0.01, 'required', 'money', 'money that one window may cost'),
  windowMs: number(1, 'required', 'ms', 'length of the rolling window'),
  inputPrice: number(0, 0, 'money', 'price of a million input tokens'),
  cachedPrice: number(0, '`inputPrice`', 'money', 'price of a million tokens read from a cache'),
  outputPrice: number(0, 0, 'money', 'price of a million output tokens'),
} satisfies Record<keyof CostBudgetConfig, Option>;

const REQUIRED = ['maxCost', 'windowMs'];

/** @throws RangeError or TypeError that names a wrong option */
function checkCostBudget(options: CostBudgetConfig): void {
  checkOptions(FIELDS, options, REQUIRED);
}

export const COST_BUDGET: PolicyDefinition<
  CostBudgetOption,
  CostBudget | undefined,
  CostBudgetLayer,
  'costUsed' | 'costLimit'
> = {
  kind: 'costBudget',
  options: { costBudget: { fields: FIELDS, required: REQUIRED } },

  create: ({ costBudget }) => costBudget && new CostBudget(costBudget),

  configure(budget, { costBudget }, { now }) {
    if (budget === undefined || costBudget === undefined) {
      throw new TypeError('`costBudget` cannot change: the limiter was made without one');
    }
    checkCostBudget(costBudget);
    return () => budget.configure(costBudget, now);
  },

  isAtRest: (budget, now) => budget.snapshot(now).used === 0,

  metrics: {
    costUsed: {
      name: 'headgate.cost_budget.usage',
      unit: '1',
      meaning: 'money spent within the window of the cost budget, or reserved',
    },
    costLimit: {
      name: 'headgate.cost_budget.limit',
      unit: '1',
      meaning: 'money that a window of the cost budget allows',
    },
  },

  measure(budget, now) {
    const { used, maxCost } = budget.snapshot(now);
    return { costUsed: used, costLimit: maxCost };
  },
};
