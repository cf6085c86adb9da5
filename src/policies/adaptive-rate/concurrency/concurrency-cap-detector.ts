import type { Verdict } from '../../../model/feedback.ts';
import type { SentAttempt } from '../attempts/sent-attempt.ts';
import { ServedAttempts } from './served-attempts.ts';
import { SmallCap } from './small-cap.ts';

/** The number of consecutive stops (see `stopped`) that must look like those of a cap. */
const STOPS = 2;
/** The least number of accepted attempts between two stops, and the same as a share of the cap. */
const LEAST_ACCEPTED = 8;
const LEAST_PART = 0.5;
/** At most this share of these attempts had as many others in flight as the rejected one. */
const MOST_OVER = 0.05;
/** Numbers in flight that differ by at most this share count as equal. */
const SAME = 0.2;
/**
 * A higher limit is tried after this many accepted attempts at the cap, and after as many as the
 * cap, so that at most one in forty is rejected.
 */
const TRY_AFTER = 40;
/**
 * The same as a share of the attempts accepted since the cap changed: a cap that has changed lately
 * may change again, and an old one will probably hold.
 */
const TRY_PART = 0.25;
/**
 * If rejections at the cap name a wait, no request is sent meanwhile, so a higher limit is tried
 * only after this many times that wait.
 */
const TRY_WAITS = 40;
const STEP = 0.02;
/**
 * If a higher limit is accepted, the next step is twice as large, up to this share, and comes
 * sooner.
 */
const MOST_STEP = 0.25;
const AGAIN_AFTER = 16;
/** A cap rejects nothing below it: this many rejections below it disprove it. */
const DISPROOFS = 3;

/**
 * Distinguishes a cap on concurrent requests from a rate. A cap rejects every attempt while that
 * many are in flight, and no other; a rate rejects attempts that come too soon, however many are in
 * flight.
 */
export class ConcurrencyCapDetector {
  private cap: number | undefined = undefined;
  private readonly served = new ServedAttempts();
  /** The limit in force: the cap, or a higher limit that is tried. */
  private open = 0;
  private readonly small = new SmallCap();
  private stops = 0;
  /**
   * The number of others in flight at the last stop (NaN: there was none), the number of attempts
   * accepted since, and how many of these had as many others in flight.
   */
  private stoppedAt = Number.NaN;
  private accepted = 0;
  private over = 0;
  private atCap = 0;
  /** When the first of them was sent. */
  private atCapSince = 0;
  /** The wait that the last rejection at the cap has named, in ms. */
  private waitMs = 0;
  /** Attempts accepted at the cap since it changed. */
  private held = 0;
  private disproofs = 0;
  /** How often in a row a higher limit was accepted. */
  private raised = 0;
  /** Whether an attempt was accepted since the last stop at the cap. */
  private hasAccepted = true;
  /** The number of stops needed; one more each time a cap was disproved. */
  private needed = STOPS;

  /** How many attempts may be in flight; undefined if no cap is known. */
  get limit(): number | undefined {
    return this.cap === undefined ? undefined : this.open;
  }

  /**
   * Whether the cap explains a rejection with this number of others in flight. Of rejections in a
   * row it explains only the first.
   */
  explains(others: number): boolean {
    const { cap, hasAccepted } = this;
    return hasAccepted && cap !== undefined && others >= Math.max(1, (1 - SAME) * cap - 1);
  }

  /**
   * An attempt was rejected.
   * @param isLater whether it was sent after the last reaction
   * @param share the share of attempts that is rejected by chance: with any, no new cap is found
   * @returns whether a cap explains it
   */
  rejected(
    sent: SentAttempt,
    { kind, limit, retryAfterMs }: Verdict,
    isLater: boolean,
    share: number,
    now: number,
  ): boolean {
    const others = this.served.beside(sent);
    this.served.rejected(sent, now);
    const isTold = limit === 'concurrency';
    const isAtCap = (isTold && others > 0) || this.explains(others);
    if (isLater && isTold) this.told(others);
    else if (isLater && !sent.isExplained && this.mayBe(share)) {
      // By a 429 with a wait, a rate rejects more often than a cap.
      const isLikely = sent.mayBeByCap && (kind === 'overloaded' || retryAfterMs === undefined);
      this.stopped(others, isLikely, retryAfterMs);
    }
    return isAtCap;
  }

  isAccepted(sent: SentAttempt): void {
    this.hasAccepted = true;
    if (this.cap !== undefined) return;
    this.accepted += 1;
    if (this.served.beside(sent) >= this.stoppedAt) this.over += 1;
  }

  /**
   * The results of the attempt and of all that were sent before it are known.
   * @param share as for `rejected`
   */
  settled(sent: SentAttempt, share: number): void {
    if (!this.mayBe(share)) return;
    if (this.cap !== undefined) {
      if (sent.outcome === 'accepted') this.isKept(this.cap, sent);
    } else if (this.needed === STOPS) {
      const small = this.small.settled(sent, this.served.beside(sent));
      if (small !== undefined) this.believe(small);
    }
  }

  /** An attempt was accepted under the cap. */
  private isKept(cap: number, sent: SentAttempt): void {
    if (this.served.beside(sent) + 1 < this.open) return;
    if (this.atCap === 0) this.atCapSince = sent.at;
    this.atCap += 1;
    const isTried = this.open > cap;
    if (!isTried) this.held += 1;
    const least = isTried ? AGAIN_AFTER : Math.max(TRY_AFTER, TRY_PART * this.held);
    if (this.atCap < Math.max(least, this.open)) return;
    if (!isTried && sent.at - this.atCapSince < TRY_WAITS * this.waitMs) return;
    if (isTried) {
      this.raised += 1;
      this.held = 0;
    }
    this.cap = this.open;
    const most = Math.max(1, Math.floor(MOST_STEP * this.open));
    const step = Math.max(1, Math.floor(STEP * this.open));
    this.open += Math.min(most, step * 2 ** this.raised);
    this.atCap = 0;
    this.disproofs = 0;
  }

  /** The provider reports too many in flight. */
  told(others: number): void {
    this.believe(Math.max(1, others));
  }

  /**
   * An attempt that was sent after the last reaction was rejected.
   * @param isLikely whether the rejection's details are those of a cap
   * @param waitMs the wait that it names
   */
  stopped(others: number, isLikely: boolean, waitMs = 0): void {
    if (this.cap === undefined || this.explains(others)) this.waitMs = waitMs;
    if (this.cap !== undefined) this.doubt(this.cap, others);
    else if (isLikely) this.suspect(others);
    else this.stops = 0;
  }

  private mayBe(share: number): boolean {
    return this.cap !== undefined || share === 0;
  }

  private suspect(others: number): void {
    const isSame = Math.abs(others - this.stoppedAt) <= Math.max(1, SAME * this.stoppedAt);
    const isAbove = this.over <= MOST_OVER * this.accepted;
    const isLike = others >= 1 && isSame && isAbove;
    const isShown = this.accepted >= Math.max(LEAST_ACCEPTED, LEAST_PART * others);
    // A small cap stops several times before enough attempts are accepted: count these over equal
    // stops.
    if (isLike && !isShown && Math.abs(others - this.stoppedAt) <= 1) return;
    if (isLike && isShown) this.stops += 1;
    else if (others < 1 || this.over > MOST_OVER * this.accepted + 1) this.stops = 0;
    this.stoppedAt = others;
    this.accepted = 0;
    this.over = 0;
    if (this.stops >= this.needed) this.believe(others);
  }

  private doubt(cap: number, others: number): void {
    this.atCap = 0;
    this.raised = 0;
    if (this.open > cap) {
      this.open = cap;
      return;
    }
    // Rejections in a row may be an outage: only the first of them is evidence about the cap.
    if (!this.hasAccepted) return;
    const isAtCap = this.explains(others);
    this.hasAccepted = false;
    this.disproofs += 1;
    if (this.disproofs >= DISPROOFS) {
      this.cap = undefined;
      this.stops = 0;
      this.needed += 1;
    } else if (isAtCap) {
      this.cap = Math.min(others, cap);
      this.open = this.cap;
      this.held = 0;
    }
  }

  private believe(cap: number): void {
    this.cap = cap;
    this.open = cap;
    this.atCap = 0;
    this.raised = 0;
    this.held = 0;
    this.disproofs = 0;
  }
}
