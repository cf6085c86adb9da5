import { isRejection, type Verdict } from '../../model/feedback.ts';
import type { SentAttempt } from '../../policies/adaptive-rate/attempts/sent-attempt.ts';
import { NOT_SENT, PACED, TOLD, WAITED, WITHDRAWN } from './attempt-reports.ts';
import type { FleetRateLearner } from './fleet-rate-learner.ts';

/** Tells the learner of a fleet what one worker has observed. Times in ms of the store's clock. */
export class ObservedAttempts {
  private readonly learner: FleetRateLearner;
  /** By id, in the order in which they were sent. */
  private readonly inFlight = new Map<number, SentAttempt>();
  /** The number of others in flight: sent before this worker led. */
  private earlier = 0;

  constructor(learner: FleetRateLearner) {
    this.learner = learner;
  }

  sent(id: number, tokens: number, flags: number, at: number): void {
    const isPaced = (flags & PACED) !== 0;
    const hasWaited = (flags & WAITED) !== 0;
    this.inFlight.set(id, this.learner.observed(tokens, at, isPaced, hasWaited));
  }

  /** The answer to an attempt has begun, and goes on. */
  begun(id: number, sentAt: number, verdict: Verdict | number, at: number): void {
    const sending = this.inFlight.get(id);
    const told = verdictOf(verdict);
    if (sending !== undefined) this.learner.begun(sending, told.limits, at);
    // It was sent before this worker led: it ends here, as its end shows no more.
    else this.learner.answered(this.learner.resumed(sentAt), told, undefined, at);
  }

  /** @param used its tokens, if they are known */
  ended(
    id: number,
    sentAt: number,
    verdict: Verdict | number,
    used: number | undefined,
    at: number,
  ): void {
    const { inFlight, learner } = this;
    const known = inFlight.get(id);
    if (known === undefined) this.countEarlier(Math.max(0, this.earlier - 1));
    if (known === undefined && verdict === TOLD) return;
    inFlight.delete(id);
    const sending = known ?? learner.resumed(sentAt);
    const told = verdictOf(verdict);
    if (verdict === WITHDRAWN || verdict === NOT_SENT) {
      learner.withdrawn(sending, verdict === WITHDRAWN, at);
    } else if (isRejection(told)) learner.rejected(sending, told, at);
    else learner.answered(sending, told, used === undefined ? undefined : { tokens: used }, at);
  }

  /**
   * The worker has this many attempts in flight. Without those that an earlier leader recorded,
   * rejections would seem to come with few in flight, as those of a small cap do.
   */
  counted(inFlight: number): void {
    this.countEarlier(Math.max(0, inFlight - this.inFlight.size));
  }

  private countEarlier(earlier: number): void {
    this.learner.countEarlier(earlier - this.earlier);
    this.earlier = earlier;
  }

  /** Attempts before this one are over: if their end was not reported, it never will be. */
  endBefore(first: number, at: number): void {
    for (const [id, sending] of this.inFlight) {
      if (id >= first) break;
      this.inFlight.delete(id);
      this.learner.withdrawn(sending, true, at);
    }
  }
}

/** A number: it was accepted, and tells no limits. */
function verdictOf(verdict: Verdict | number): Verdict {
  return typeof verdict === 'number' ? { kind: 'ok' } : verdict;
}
