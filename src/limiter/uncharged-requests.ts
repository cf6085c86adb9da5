import type { Ticket } from '../model/ticket.ts';
import type { CostBudget } from '../policies/cost-budget.ts';
import { neverCharged } from '../policies/rate-limit-policy.ts';
import { warn } from '../util/warn.ts';
import type { AcquireOptions } from './acquire-options.ts';
import type { ImpossibleRequests } from './impossible-requests.ts';

/** Requests that were charged nothing after which an option is a mistake. */
const ENOUGH = 10;
/** The warnings that this process has given. */
const given = new Set<string>();

/** Warns of an option that bounds nothing, since requests are charged nothing for it. */
export class UnchargedRequests<R> {
  private readonly warningOf: (request: R) => string | undefined;
  /** Requests so far; Infinity: one was charged, and there is nothing to warn of. */
  private requests = 0;

  /** @param warningOf the warning, for a request that was not charged; else undefined */
  constructor(warningOf: (request: R) => string | undefined) {
    this.warningOf = warningOf;
  }

  /** It is known now what a request is charged. */
  count(request: R): void {
    if (this.requests >= ENOUGH) return;
    const warning = this.warningOf(request);
    this.requests = warning === undefined ? Number.POSITIVE_INFINITY : this.requests + 1;
    if (warning === undefined || this.requests < ENOUGH || given.has(warning)) return;
    given.add(warning);
    warn(`headgate: ${warning}`);
  }
}

/** For limits that calls without `costs` are never charged for, such as one with the name `rpm`. */
export function unchargedCalls(limiter: {
  readonly impossible: ImpossibleRequests;
  readonly hasCosts: boolean;
}): UnchargedRequests<AcquireOptions | undefined> {
  return new UnchargedRequests((own) => {
    if (own?.costs !== undefined || limiter.hasCosts) return undefined;
    const limit = limiter.impossible.uncharged;
    return limit === undefined ? undefined : neverCharged(limit);
  });
}

/**
 * The warnings of a limiter about requests that have succeeded.
 * @param budgets those that its requests are charged to
 * @param impossible knows the present limits
 */
export function unchargedRequests(
  budgets: readonly CostBudget[],
  impossible: ImpossibleRequests,
): readonly UnchargedRequests<Ticket>[] {
  const warnings: UnchargedRequests<Ticket>[] = [];
  if (budgets.length > 0) warnings.push(unchargedBudget(budgets));
  if (impossible.limitsOn('tokens').length > 0) warnings.push(unchargedTokens(impossible));
  if (impossible.limitsOn('bytes').length > 0) warnings.push(unchargedBytes());
  return warnings;
}

/** For cost budgets without prices. */
function unchargedBudget(budgets: readonly CostBudget[]): UnchargedRequests<Ticket> {
  return unlessCharged(
    '`costBudget` would never be charged: give prices, or `costs: { cost }`, or call `context.recordCost`',
    ({ costs, usage }) =>
      (usage?.cost ?? costs?.cost) !== undefined || budgets.every(({ readsUsage }) => readsUsage),
  );
}

/** For limits on tokens. */
function unchargedTokens(impossible: ImpossibleRequests): UnchargedRequests<Ticket> {
  return unlessCharged(
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
function unchargedBytes(): UnchargedRequests<Ticket> {
  return unlessCharged(
    '`limits.bytes` would never be charged: give calls `bytes`',
    ({ bytes, costs }) => bytes > 0 || costs !== undefined,
  );
}

function unlessCharged(
  warning: string,
  isCharged: (ticket: Ticket) => boolean,
): UnchargedRequests<Ticket> {
  return new UnchargedRequests((ticket) => (isCharged(ticket) ? undefined : warning));
}
