import { isRejection } from '../model/feedback.ts';
import type { Emit } from '../model/policy-events.ts';
import { show } from '../util/check.ts';
import {
  COST_BUDGET_FIELDS,
  COST_BUDGET_REQUIRED,
  type CostBudgetConfig,
  type CostBudgetLayer,
  type CostBudgetOption,
  checkCostBudget,
  isWhole,
  onLimitOf,
  sizeOf,
  UNITS,
  unitsIn,
} from './cost-budget-options.ts';
import { CostEstimate } from './cost-estimate.ts';
import { DeniedRequests } from './denied-requests.ts';
import {
  type CompletedAttempt,
  type Policy,
  type PolicyDefinition,
  REFUSED,
  type RequestCost,
  type Time,
} from './policy.ts';
import { type LimitState, waitUntil } from './rate-limit/limit-state.ts';
import { CostAboveLimitError, RateLimitExceededError } from './rate-limit/rate-limit.ts';
import { Quota } from './rate-limit/token-bucket.ts';
import { SlidingWindow } from './rate-limit/windows.ts';

/** Money, in the currency of the prices; times in ms. */
export interface CostBudgetSnapshot {
  readonly maxCost: number;
  readonly windowMs: number;
  /** Spent within the window, and reserved for requests in flight; above `maxCost` when in debt. */
  readonly used: number;
  /** The amount that a request sent now may cost, >= 0. */
  readonly available: number;
  /** Until all of it is available, if nothing more is spent; Infinity: not by time alone. */
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
 * A budget of money over a rolling window, or for all requests. A request waits until its estimate fits, and reserves
 * it. When its attempt has ended, the real cost replaces the estimate. A higher cost is charged at
 * that time and may cause a debt, during which no request passes. A lower cost is given back at the
 * time of the charge. So a window exceeds the budget at most by the amount by which the estimates
 * of requests in flight were too low.
 *
 * Where requests fail instead (`onLimit`), they wait as long as requests in flight hold estimates,
 * because these may be too high.
 */
export class CostBudget implements Policy<Reserved> {
  #options: CostBudgetConfig;
  readonly #window: LimitState;
  readonly #estimate: CostEstimate;
  readonly #emit: Emit;
  #now = Number.NEGATIVE_INFINITY;
  /** The estimates of requests in flight, in billionths. */
  #reserved = 0;
  readonly #denied = new DeniedRequests();

  /** @throws RangeError or TypeError that names a wrong option */
  constructor(options: CostBudgetConfig, emit: Emit = () => {}) {
    checkCostBudget(options);
    this.#options = options;
    const size = sizeOf(options);
    this.#window = isWhole(options) ? new Quota(size) : new SlidingWindow(size);
    this.#estimate = new CostEstimate(options);
    this.#emit = emit;
  }

  /** Whether the prices determine the cost of an answer, so that its usage must be read. */
  get readsUsage(): boolean {
    return this.#estimate.hasPrices;
  }

  wait(request: RequestCost, now: number): number {
    if (this.impossible(request) !== undefined) return REFUSED;
    const waitMs = this.#waitOf(request, now);
    if (waitMs === 0) return 0;
    const waits = this.#reserved > 0 || onLimitOf(this.#options) === 'wait';
    if (this.#denied.add(request)) {
      this.#emit({ kind: 'limitDenied', at: now, ...this.#shortage(request, now), waits });
    }
    return waits ? waitMs : REFUSED;
  }

  refusal(request: RequestCost, now: number): Error {
    const impossible = this.impossible(request);
    if (impossible !== undefined) return impossible;
    const { limit, cost, available, retryAfterMs } = this.#shortage(request, now);
    return new RateLimitExceededError(limit, cost, available, retryAfterMs);
  }

  /** The error of a request that no wait is enough for; undefined if a wait is enough. */
  impossible(request: RequestCost): CostAboveLimitError | undefined {
    const cost = this.#estimate.leastOf(request);
    const { maxCost } = this.#options;
    return cost > maxCost ? new CostAboveLimitError('costBudget', cost, maxCost) : undefined;
  }

  take(request: RequestCost, now: number): Reserved {
    if (this.readsUsage) request.needsParts = true;
    const amount = this.#unitsOf(request);
    const at = this.#timeAt(now);
    const mark = amount > 0 ? this.#window.charge(amount, at) : -1;
    this.#reserved += amount;
    this.#denied.forget(request);
    return { amount, mark, inputCost: this.#estimate.inputCostOf(request) };
  }

  /**
   * A rejected attempt costs nothing; for other attempts the estimate stays if no cost is known. The
   * usage of an answer that was broken off says what it cost until then, at the least: the first
   * event of a stream of Anthropic counts one token of output.
   */
  giveBack({ amount, mark, inputCost }: Reserved, completed: CompletedAttempt, time: Time): void {
    this.#reserved -= amount;
    const { isSent, verdict, usage } = completed;
    const cost = usage === undefined ? undefined : this.#estimate.costOf(usage);
    const isRejected = verdict !== undefined && isRejection(verdict);
    if (cost === undefined && isSent && !isRejected) return;
    const actual = unitsIn(cost ?? 0);
    const isReported = cost !== undefined && usage?.cost === undefined;
    const isPart = isSent && isReported && isBrokenOff(completed);
    if (isPart && actual < amount) return;
    if (cost !== undefined && !isPart) this.#estimate.learn(cost - inputCost);
    if (actual > amount) this.#window.charge(actual - amount, this.#timeAt(time.now()));
    else if (actual < amount) this.#window.giveBack(amount - actual, mark, this.#now);
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

  /** @throws RangeError or TypeError that names a wrong option */
  checkChange(options: CostBudgetConfig): void {
    checkCostBudget(options);
    const { windowMs } = this.#options;
    if (isWhole(options) === isWhole(this.#options)) return;
    throw new TypeError(
      `\`costBudget.windowMs\` must stay ${show(windowMs)} while running, got ${show(options.windowMs)}`,
    );
  }

  /** Continues with other checked options. The spent amount stays. */
  configure(options: CostBudgetConfig, now: number): void {
    this.#options = options;
    this.#estimate.configure(options);
    this.#window.resize(sizeOf(options), this.#timeAt(now));
  }

  /** How long the request must wait until its estimate fits, if nothing more is given back. */
  #waitOf(request: RequestCost, now: number): number {
    return waitUntil(this.#window.readyAt(this.#unitsOf(request), this.#timeAt(now)), now);
  }

  /** The reason why the request does not fit. */
  #shortage(request: RequestCost, now: number) {
    const cost = this.#unitsOf(request) / UNITS;
    const available = this.#window.available(this.#timeAt(now)) / UNITS;
    return { limit: 'costBudget', cost, available, retryAfterMs: this.#waitOf(request, now) };
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

/**
 * Whether the attempt ended before its answer did: the request was cancelled, or its deadline
 * passed; or the connection broke, the time was over, or an error came within the stream.
 */
function isBrokenOff({ outcome = 'ok', verdict }: CompletedAttempt): boolean {
  if (verdict === undefined || verdict.kind === 'ok') return outcome !== 'ok';
  return verdict.connection !== undefined || verdict.timedOut === true || isRejection(verdict);
}

export const COST_BUDGET: PolicyDefinition<
  CostBudgetOption,
  CostBudget | undefined,
  CostBudgetLayer,
  'costUsed' | 'costLimit'
> = {
  kind: 'costBudget',
  options: { costBudget: { fields: COST_BUDGET_FIELDS, required: COST_BUDGET_REQUIRED } },

  create: ({ costBudget }, { emit }) => costBudget && new CostBudget(costBudget, emit),

  configure(budget, { costBudget }, { now }) {
    if (budget === undefined || costBudget === undefined) {
      throw new TypeError('`costBudget` cannot change: the limiter was made without one');
    }
    budget.checkChange(costBudget);
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
