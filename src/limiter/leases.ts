import { QuotaExhaustedError, RetryAfterTooLongError } from '../model/errors.ts';
import type { Ticket } from '../model/ticket.ts';
import { CircuitOpenError } from '../policies/circuit-types.ts';
import { RateLimitExceededError } from '../policies/rate-limit/rate-limit.ts';
import { withTimeout } from './abort-subscription.ts';
import { type AcquireOptions, checkNoWait } from './acquire-options.ts';
import { type CallOptions, CallRequest, type Calls, type CallTask } from './calls.ts';
import { Lease, type LeaseTerms } from './lease.ts';

/** Makes the lease of a ticket that has passed the gate, and counts as sent from now on. */
function leaseOf(ticket: Ticket, terms: LeaseTerms): Lease {
  ticket.sent(terms.feedback.epoch);
  terms.tap.sent(ticket);
  terms.instrumentation?.attemptStarted?.(ticket, ticket.attempts);
  return new Lease(ticket, terms);
}

/** A call for a lease. */
class LeaseRequest extends CallRequest {
  private readonly grant: (lease: Lease) => void;
  private readonly refuse: (reason: unknown) => void;

  constructor(
    options: CallOptions,
    grant: (lease: Lease) => void,
    refuse: (reason: unknown) => void,
  ) {
    super(options, ignore);
    this.grant = grant;
    this.refuse = refuse;
  }

  protected override send(ticket: Ticket<CallTask>): void {
    this.end();
    this.grant(leaseOf(ticket, this.options.pipeline.dispatch));
  }

  override reject(reason: unknown): void {
    this.refuse(reason);
  }
}

function ignore(): void {}

/** The requests of a limiter for leases: they are sent by their users. */
export class Leases {
  private readonly calls: Calls;

  constructor(calls: Calls) {
    this.calls = calls;
  }

  /** See `Limiter.acquire`. */
  acquire(own: AcquireOptions | undefined): Promise<Lease> {
    const { calls } = this;
    if (own?.timeoutMs !== undefined) {
      return withTimeout(own, calls.clock, (rest) => this.acquire(rest));
    }
    const options = calls.optionsOf(own, undefined);
    const ticket = calls.ticketOf(undefined, options, own?.id);
    return new Promise((grant, refuse) =>
      new LeaseRequest(options, grant, refuse).start(undefined, ticket, own?.signal),
    );
  }

  /** See `Limiter.tryAcquire`. */
  tryAcquire(own: AcquireOptions): Lease | undefined {
    const { calls } = this;
    const options = calls.optionsOf(own, undefined);
    checkNoWait(own);
    const ticket = calls.ticketNow(undefined, options);
    ticket.take(this);
    const { gate, dispatch } = calls.pipeline;
    if (gate.tryEnter(ticket)) return leaseOf(ticket, dispatch);
    const { refusal } = ticket;
    const isImpossible = refusal !== undefined && !PASSING.some((kind) => refusal instanceof kind);
    // A caller that repeats the call until it is granted makes one request, not one per call.
    ticket.settle(isImpossible ? 'rejected' : 'cancelled');
    if (isImpossible) throw refusal;
    return undefined;
  }
}

/** The errors of a request that may be sent later. */
const PASSING = [
  RateLimitExceededError,
  CircuitOpenError,
  RetryAfterTooLongError,
  QuotaExhaustedError,
] as const;
