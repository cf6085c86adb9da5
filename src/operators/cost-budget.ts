import type { OperatorFunction } from 'rxjs';
import type { Amounts, Ticket } from '../model/ticket.ts';
import { COST_BUDGET, CostBudget, type CostBudgetConfig } from '../policies/cost-budget.ts';
import { fieldsOf } from '../policies/policies.ts';
import { attemptOperator } from '../request/attempt-operator.ts';
import {
  COMMON_KEYS,
  type CommonOptions,
  resolveCommonOptions,
} from '../request/common-options.ts';
import {
  checkGateSubscriberOptions,
  GATE_SUBSCRIBER_KEYS,
  type GateSubscriberOptions,
} from '../request/gate-subscriber.ts';
import type { RequestInput } from '../request/ticket-factory.ts';
import { checkFunction, checkKeys } from '../util/check.ts';

const KEYS = [...fieldsOf(COST_BUDGET, 'costBudget'), 'costs'];

/** @see costBudget */
export interface CostBudgetOptions<T>
  extends CostBudgetConfig,
    CommonOptions,
    GateSubscriberOptions {
  /** What a request is expected to cost: `{ cost: 0.02 }`. Default: by its tokens and the prices. */
  readonly costs?: (value: T) => Amounts;
}

/**
 * Lets requests pass while what they cost fits a rolling budget of money: reserved at an estimate, and
 * settled to what `context.recordCost(cost)` says, or to the usage that `context.observe(answer)`
 * reads and the prices. First come, first served. A request that costs more than the budget fails at
 * once, with a `CostAboveLimitError`. Each further attempt of a request is charged again.
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
  checkKeys('costBudget', options, [...KEYS, ...COMMON_KEYS, ...GATE_SUBSCRIBER_KEYS]);
  if (options.costs !== undefined) checkFunction('costs', options.costs);
  checkGateSubscriberOptions(options);
  const common = resolveCommonOptions(options);
  const open = () => {
    const policy = new CostBudget(options);
    return { policy, policies: { costBudget: policy } };
  };
  // Construct once, so that wrong options throw here.
  open();
  return attemptOperator('costBudget', open, common, options);
}
