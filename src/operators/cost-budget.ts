import type { OperatorFunction } from 'rxjs';
import type { Amounts, Ticket } from '../model/ticket.ts';
import { COST_BUDGET, CostBudget } from '../policies/cost-budget.ts';
import type { CostBudgetConfig } from '../policies/cost-budget-options.ts';
import { fieldsOf } from '../policies/policies.ts';
import { type PolicyOperatorOptions, policyOperator } from '../request/policy-operator.ts';
import type { RequestInput } from '../request/ticket-factory.ts';
import { checkFunction, checkObject } from '../util/check.ts';

const KEYS = [...fieldsOf(COST_BUDGET, 'costBudget'), 'costs'];

/** The options of `costBudget`. */
export interface CostBudgetOptions<T> extends CostBudgetConfig, PolicyOperatorOptions {
  /**
   * Returns the expected cost of a request: `{ cost: 0.02 }`. Default: by its tokens and the
   * prices.
   */
  readonly costs?: (value: T) => Amounts;
}

/**
 * Lets requests pass while their costs fit a rolling budget of money. A request reserves its
 * estimated cost. When its attempt has ended, the real cost replaces the estimate: the amount of
 * `context.recordCost(cost)`, or the price of the usage that `context.observe(answer)` reads. First
 * come, first served. A request that costs more than the budget fails at once, with a
 * `CostAboveLimitError`. Each further attempt of a request is charged again.
 *
 * @throws RangeError or TypeError that names a wrong option
 * @example
 * prompts$.pipe(
 *   costBudget({ maxCost: 20, windowMs: 3_600_000, inputPrice: 0.25, outputPrice: 2 }),
 *   dispatch(async (prompt, context) => context.observe(await client.complete(prompt))),
 * )
 */
export function costBudget<T>(
  options: CostBudgetOptions<T>,
): OperatorFunction<RequestInput<T>, Ticket<T>> {
  checkObject('costBudget', options);
  const { costs } = options;
  return policyOperator(
    {
      name: 'costBudget',
      kind: 'costBudget',
      keys: KEYS,
      limits: 'attempt',
      check: () => {
        if (costs !== undefined) checkFunction('costs', costs);
      },
      open: ({ instrumentation }) => {
        const policy = new CostBudget(options, (fact) => instrumentation?.changed?.(fact));
        return { policy, policies: { costBudget: policy } };
      },
    },
    options,
  );
}
