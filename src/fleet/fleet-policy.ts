import type { Verdict } from '../model/feedback.ts';
import type { GateKind } from '../model/outcome.ts';
import {
  type CompletedAttempt,
  type Policy,
  REFUSED,
  type RequestCost,
  type Time,
} from '../policies/policy.ts';
import type { Reservation } from '../policies/rate-limit/reservation.ts';
import type { RateLimitPolicy } from '../policies/rate-limit-policy.ts';
import { type ChargedRequest, FleetCosts } from './fleet-costs.ts';
import type { FleetWorker } from './fleet-worker.ts';
import {
  type AttemptReports,
  PACED,
  type ReportedAttempt,
  WAITED,
} from './learning/attempt-reports.ts';
import type { SharedConfig, Shortage } from './protocol.ts';

/** The gate that a wait is counted under, by the reason of the store. */
const BINDING: Readonly<Record<Shortage, GateKind>> = {
  '': 'shared',
  limit: 'rateLimit',
  learned: 'pace',
  slots: 'concurrency',
  bytes: 'byteBudget',
  closed: 'backoff',
  broken: 'circuitBreaker',
  recovering: 'shared',
};

/** The charges of one attempt. */
interface Charge {
  readonly own: Reservation | 0;
  readonly request: ChargedRequest;
  readonly limits: SharedConfig['limits'];
  readonly attempt: ReportedAttempt | undefined;
  readonly ledger: number;
  /** In ms of the worker's clock. */
  readonly at: number;
}

/**
 * The limits that all workers of a key share, as a policy of attempts: an attempt is sent when the
 * store allows it. The worker's own rate limits give its cost, and refuse one that can never pass.
 */
export class FleetPolicy implements Policy<Charge> {
  binding: GateKind = 'shared';
  bindingLimit: string | undefined = undefined;
  /** Whether the rate adapts: then attempts are reported. */
  isLearning = false;
  /** Whether the head of the queue has waited for more than the reply of the store. */
  private hasWaited = false;
  private readonly find: () => FleetWorker | undefined;
  private found: FleetWorker | undefined = undefined;
  private readonly own: RateLimitPolicy | undefined;
  private readonly costs: FleetCosts;
  private readonly reports: AttemptReports;

  /** @param find returns the worker, which exists before the first request */
  constructor(
    find: () => FleetWorker | undefined,
    own: RateLimitPolicy | undefined,
    reports: AttemptReports,
  ) {
    this.find = find;
    this.own = own;
    this.reports = reports;
    this.costs = new FleetCosts(own);
  }

  private get worker(): FleetWorker {
    this.found ??= this.find();
    return this.found as FleetWorker;
  }

  get readsUsage(): boolean {
    return this.own?.readsUsage === true || this.isLearning;
  }

  wait(request: RequestCost, now: number): number {
    // Only for a cost that can never pass: the buckets of the store let fewer requests pass at once
    // than the windows of this worker.
    if ((this.own?.wait(request, now) ?? 0) === REFUSED) {
      this.binding = 'rateLimit';
      this.bindingLimit = this.own?.bindingLimit;
      return REFUSED;
    }
    const { worker } = this;
    const head = this.of(request);
    const waitMs = worker.error === undefined ? worker.wait(head, now) : 0;
    if (worker.error !== undefined) return REFUSED;
    if (waitMs === 0) return 0;
    const shortage = worker.account.shortageOf(head);
    if (shortage !== '' || Number.isFinite(waitMs)) this.hasWaited = true;
    this.binding = worker.isAway ? 'shared' : BINDING[shortage];
    this.bindingLimit = this.binding === 'rateLimit' ? worker.account.shortLimit : undefined;
    return waitMs;
  }

  refusal(request: RequestCost, now: number): Error {
    const error = this.worker.error ?? this.own?.refusal(request, now);
    return error ?? new TypeError('the shared store has refused this request');
  }

  take(request: RequestCost, now: number): Charge {
    const cost = this.of(request);
    const own = this.own?.take(request, now) ?? 0;
    const { worker } = this;
    const hasWaited = this.hasWaited || worker.isHeldBack;
    const flags = hasWaited ? (worker.account.isPaced ? PACED | WAITED : WAITED) : 0;
    const attempt = this.isLearning ? this.reports.sent(flags, request.tokens, now) : undefined;
    this.hasWaited = false;
    worker.take(cost, now);
    this.costs.forget();
    return {
      own,
      request: cost,
      limits: worker.account.limits,
      attempt,
      ledger: worker.account.ledger,
      at: now,
    };
  }

  giveBack(charge: Charge, completed: CompletedAttempt, time: Time): void {
    const { own, request, limits, attempt, ledger, at } = charge;
    const now = time.now();
    const { account } = this.worker;
    // Where other limits apply by now, their buckets are new.
    const corrections =
      limits === account.limits
        ? this.costs.corrections(request, limits, completed, now - at)
        : undefined;
    const isKnown = ledger === account.ledger;
    // A charge that the store no longer knows is not refunded.
    const due = isKnown ? corrections : corrections?.map((amount) => Math.max(0, amount));
    this.worker.giveBack(request, due, now);
    if (own !== 0) this.own?.giveBack(own, completed, time);
    if (attempt === undefined) return;
    const isRejected = this.reports.ended(attempt, completed, now);
    if (isRejected) this.worker.rejected(now, completed.verdict?.retryAfterMs);
  }

  begun({ attempt }: Charge, verdict: Verdict, time: Time): void {
    if (attempt === undefined) return;
    const now = time.now();
    if (this.reports.begun(attempt, verdict, now)) this.worker.reportSoon(now);
  }

  idle(): void {
    this.costs.forget();
  }

  snapshot(now: number): object {
    return this.own?.snapshot(now) ?? {};
  }

  private of(request: RequestCost): ChargedRequest {
    const { limits, mostSlots } = this.worker.account;
    return this.costs.of(request, limits, mostSlots);
  }
}
