import type { Ticket } from '../model/ticket.ts';
import type { CostBudget } from '../policies/cost-budget.ts';

/** Successful requests without a cost after which a budget without prices is a mistake. */
const ENOUGH = 10;
/** Whether this process has warned of such a budget. */
let warned = false;

/** Warns of a cost budget that bounds nothing: it has no prices, and requests have no costs. */
export class UnchargedBudget {
  private readonly budgets: readonly CostBudget[];
  /** Successful requests so far; Infinity: one had a cost, and there is nothing to warn of. */
  private requests = 0;

  /** @param budgets those that requests of a limiter are charged to */
  constructor(budgets: readonly CostBudget[]) {
    this.budgets = budgets;
  }

  /** A request has succeeded. */
  succeeded({ costs, usage }: Ticket): void {
    if (warned || this.requests >= ENOUGH) return;
    const isPriced = this.budgets.every(({ readsUsage }) => readsUsage);
    if (isPriced || (usage?.cost ?? costs?.cost) !== undefined) {
      this.requests = Number.POSITIVE_INFINITY;
    }
    this.requests += 1;
    if (this.requests !== ENOUGH) return;
    warned = true;
    process.emitWarning(
      'headgate: `costBudget` would never be charged: give prices, or `costs: { cost }`, or call `context.recordCost`',
    );
  }
}
