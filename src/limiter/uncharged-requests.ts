import type { Ticket } from '../model/ticket.ts';
import type { CostBudget } from '../policies/cost-budget.ts';
import { warn } from '../util/warn.ts';
import type { ImpossibleRequests } from './impossible-requests.ts';

/** Successful requests that were charged nothing after which an option is a mistake. */
const ENOUGH = 10;
/** The warnings that this process has given. */
const given = new Set<string>();

/** Warns of an option that bounds nothing, since requests are charged nothing for it. */
export class UnchargedRequests {
  private readonly warning: string;
  private readonly isCharged: (ticket: Ticket) => boolean;
  /** Successful requests so far; Infinity: one was charged, and there is nothing to warn of. */
  private requests = 0;

  constructor(warning: string, isCharged: (ticket: Ticket) => boolean) {
    this.warning = warning;
    this.isCharged = isCharged;
  }

  /** A request has succeeded. */
  succeeded(ticket: Ticket): void {
    const { warning } = this;
    if (this.requests >= ENOUGH) return;
    this.requests = this.isCharged(ticket) ? Number.POSITIVE_INFINITY : this.requests + 1;
    if (this.requests !== ENOUGH || given.has(warning)) return;
    given.add(warning);
    warn(`headgate: ${warning}`);
  }
}

/**
 * The warnings of a limiter.
 * @param budgets those that its requests are charged to
 * @param impossible knows the present limits
 */
export function unchargedRequests(
  budgets: readonly CostBudget[],
  impossible: ImpossibleRequests,
): readonly UnchargedRequests[] {
  const warnings: UnchargedRequests[] = [];
  if (budgets.length > 0) warnings.push(unchargedBudget(budgets));
  if (impossible.limitsOn('tokens').length > 0) warnings.push(unchargedTokens(impossible));
  if (impossible.limitsOn('bytes').length > 0) warnings.push(unchargedBytes());
  return warnings;
}

/** For cost budgets without prices. */
function unchargedBudget(budgets: readonly CostBudget[]): UnchargedRequests {
  return new UnchargedRequests(
    '`costBudget` would never be charged: give prices, or `costs: { cost }`, or call `context.recordCost`',
    ({ costs, usage }) =>
      (usage?.cost ?? costs?.cost) !== undefined || budgets.every(({ readsUsage }) => readsUsage),
  );
}

/** For limits on tokens. */
function unchargedTokens(impossible: ImpossibleRequests): UnchargedRequests {
  return new UnchargedRequests(
    "`limits.tokens` would never be charged: give calls `tokens`; with `charge: 'settle'` return answers with `usage`, or call `context.recordTokens`",
    ({ tokens, costs, usage }) =>
      tokens > 0 ||
      costs !== undefined ||
      impossible
        .limitsOn('tokens')
        .every(({ readsUsage }) => readsUsage && usage?.tokens !== undefined),
  );
}

/** For limits on bytes. */
function unchargedBytes(): UnchargedRequests {
  return new UnchargedRequests(
    '`limits.bytes` would never be charged: give calls `bytes`',
    ({ bytes, costs }) => bytes > 0 || costs !== undefined,
  );
}
