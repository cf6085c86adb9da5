import { SentAttempt } from './attempts/sent-attempt.ts';
import { LearnerParts } from './learner-parts.ts';

/** How long a computed rate is valid, in ms: it changes while requests wait. */
export const REASK_MS = 1_000;
/** The shortest delay, which lets the present turn end. */
const TURN_MS = 1e-3;

/** Decides when an attempt may be sent, and records with it in which circumstances it was. */
export abstract class AttemptPacer extends LearnerParts {
  /**
   * Milliseconds until the next attempt may be sent, or until the caller must ask again; Infinity
   * if an answer must come first.
   * @param estimate the estimated tokens of the attempt
   */
  wait(now: number, estimate = 0): number {
    const waitMs = this.waitMs(estimate, now);
    if (waitMs > 0) {
      this.demand.hasWaited = true;
      this.demand.waitsUntil = now + waitMs;
    }
    return waitMs;
  }

  private waitMs(estimate: number, now: number): number {
    this.log.advance(now);
    if (!this.estimate.trial.isSending && !this.trust.mayGo && this.log.unknown > 0) {
      return Math.max(TURN_MS, this.log.nextMs(now) + TURN_MS);
    }
    const waitMs = this.heldMs(estimate, now);
    if (waitMs > 0) this.demand.isHeld = true;
    return waitMs;
  }

  private heldMs(estimate: number, now: number): number {
    const { limit } = this.cap;
    if (limit !== undefined && this.inFlight >= limit) return Number.POSITIVE_INFINITY;
    const { until } = this.closed;
    if (now < until) return until - now;
    const { rates } = this;
    const waitMs = rates.wait(this.learnedPerMs, estimate, now);
    if (rates.isPacing(now)) this.demand.isPaced = true;
    return Math.min(waitMs, REASK_MS);
  }

  /** Milliseconds until the present rates let an attempt pass, however long that is. */
  plannedMs(estimate: number, now: number): number {
    const waitMs = this.rates.wait(this.learnedPerMs, estimate, now);
    return Math.max(0, this.closed.until - now, waitMs);
  }

  /**
   * @param estimate the estimated tokens of the attempt
   * @param hasRoom whether more could be in flight, so that only the demand bounds what is sent
   */
  take(estimate: number, now: number, hasRoom = true): SentAttempt {
    const { demand, intervalMs, rates } = this;
    const { requests } = rates;
    demand.endWait(intervalMs, now);
    const { isPaced, hasWaited } = demand;
    const stepMs = 1 / requests.perMs;
    // While the provider is closed, `lateMs` says how long nothing was asked.
    const idleMs = this.closed.isClosed
      ? 0
      : demand.idleMs(requests.freeAt, stepMs, intervalMs, now);
    // If a named wait held requests back, there may have been demand.
    const isPause = hasRoom && this.closed.named.until <= demand.lastSentAt;
    if (isPause && idleMs > 0) rates.resumed(now);
    // Time spent waiting for other causes, such as the end of a closure, saves no capacity.
    // Capacity that was saved before stays while the attempt waits for results.
    const newMs = hasWaited ? 0 : this.estimate.saved * stepMs;
    const unpacedMs = demand.goesOn ? Number.POSITIVE_INFINITY : newMs;
    const savedMs = isPaced ? requests.lateMs : unpacedMs;
    const pacePerMs = requests.perMs;
    const lateMs = this.lateMs(now);
    const charges = rates.take(estimate, now, savedMs);
    const sending = this.add(
      new SentAttempt({
        at: now,
        order: demand.count,
        others: this.inFlight,
        pacePerMs,
        isPaced,
        isSaved: demand.isEarly(now),
        idleMs,
        lateMs,
        estimate,
        tokens: charges.tokens,
        requests: charges.requests,
      }),
    );
    sending.lacksDemand = hasRoom && idleMs > 0;
    if (this.estimate.trial.isSending) {
      sending.isTrial = true;
      this.estimate.trial.sent();
    }
    demand.saves(requests.freeAt + requests.lateMs, stepMs, now);
    return sending;
  }

  /**
   * While the provider rejects everything: how much later than planned an attempt is sent now, in
   * ms. A busy process or another policy has delayed it, or there was no demand.
   */
  private lateMs(now: number): number {
    if (!this.closed.isClosed) return 0;
    const plannedAt = Math.max(this.closed.until, this.rates.requests.freeAt);
    return Number.isFinite(plannedAt) ? Math.max(0, now - plannedAt) : 0;
  }

  /** An attempt in flight that was sent before anything was learned. */
  early(at: number): SentAttempt {
    return this.add(
      new SentAttempt({
        at,
        order: this.demand.count,
        others: this.inFlight,
        pacePerMs: Number.POSITIVE_INFINITY,
        isPaced: false,
        isSaved: false,
        idleMs: 0,
        requests: this.rates.requests.take(1, at),
      }),
    );
  }

  private add(sending: SentAttempt): SentAttempt {
    this.reactions.sent(sending);
    this.demand.add(sending.at);
    this.inFlight += 1;
    this.trust.spend();
    this.log.add(sending);
    return sending;
  }

  /**
   * An attempt that was sent elsewhere.
   * @param isPaced whether it had to wait for the pace
   * @param hasWaited whether it had to wait at all
   */
  observed(estimate: number, at: number, isPaced: boolean, hasWaited: boolean): SentAttempt {
    this.log.advance(at);
    this.rates.wait(this.learnedPerMs, estimate, at);
    this.demand.isPaced = isPaced;
    this.demand.hasWaited = hasWaited;
    this.demand.waitsUntil = Number.POSITIVE_INFINITY;
    // The cause of its wait is not known here.
    this.demand.isHeld = hasWaited;
    return this.take(estimate, at);
  }

  /** An attempt in flight whose sending another learner recorded. */
  resumed(at: number): SentAttempt {
    const sending = this.early(at);
    // The other learner has charged it.
    this.trust.giveBack();
    this.reactions.covers(sending.order);
    return sending;
  }
}
