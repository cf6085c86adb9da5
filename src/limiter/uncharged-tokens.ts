import type { Ticket } from '../model/ticket.ts';
import type { ImpossibleRequests } from './impossible-requests.ts';

/** Successful requests without tokens after which a limit on tokens is a mistake. */
const ENOUGH = 10;
/** Whether this process has warned of such a limit. */
let warned = false;

/** Warns of a limit on tokens that bounds nothing: calls do not give them, nor do answers. */
export class UnchargedTokens {
  private readonly impossible: ImpossibleRequests;
  /** Successful requests so far; Infinity: one had tokens, and there is nothing to warn of. */
  private requests = 0;

  /** @param impossible knows the present limits */
  constructor(impossible: ImpossibleRequests) {
    this.impossible = impossible;
  }

  /** A request has succeeded. */
  succeeded({ tokens, costs, usage }: Ticket): void {
    if (warned || this.requests >= ENOUGH) return;
    const isGiven = tokens > 0 || costs !== undefined;
    const isUsed = usage?.tokens !== undefined;
    if (isGiven || this.impossible.tokenLimits.every(({ readsUsage }) => readsUsage && isUsed)) {
      this.requests = Number.POSITIVE_INFINITY;
    }
    this.requests += 1;
    if (this.requests !== ENOUGH) return;
    warned = true;
    process.emitWarning(
      "headgate: `limits.tokens` would never be charged: give calls `tokens`; with `charge: 'settle'` return answers with `usage`, or call `context.recordTokens`",
    );
  }
}
