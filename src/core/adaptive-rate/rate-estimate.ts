import { CongestionMarks, type RateBounds } from './congestion-marks.ts';
import { RejectionDamping } from './rejection-damping.ts';
import type { SentAttempt } from './sent-attempt.ts';

/** Of what was measured, what is left unused until more is tried. */
const MARGIN = 0.005;
/** Evidence beyond so many attempts makes the rate no surer: providers change. */
const MOST_EVIDENCE = 400;
/** What is tried above the rate doubles with so many verified attempts, or with the evidence. */
const LEAST_DOUBLING = 8;
const MOST_DOUBLING = 100;
/** More is tried by no more than this at once: what is verified was sent at a lower pace. */
const LEAD = 1.5;
/** The first excess that is tried where the rate is not known well. */
const LEAST_EXCESS = 0.05;
const MOST_EXCESS = 1;
/** Bounds that lie no further apart are one rate. */
const WIDE = 1.5;
/** Where they do, the way from the lower to the upper bound at which the next try lies, as a power. */
const TRY = 0.25;
/** Nothing lowers the rate by more than this at once: a closed window looks like no rate at all. */
const MOST_FALL = 4;
/** Accepted so much faster than the pace began, it was the pace that grew. */
const GREW = 1.15;
/** Part of the time without demand from which a measurement is of the demand. */
const IDLE_PART = 0.05;
/** A rate that rests on so much evidence is kept when nothing is let in for so long ... */
const SURE_EVIDENCE = 20;
const OUTAGE_INTERVALS = 4;
const OUTAGE_PROBES = 3;
/** ... that it would have fallen below this part: such a closure has other reasons. */
const OUTAGE_PART = 0.5;
/** Where a rate falls below this part, and it was closed for this part of the time, it is not sure. */
const FELL = 0.9;
const CLOSED_PART = 0.1;
/** After an outage it is less sure than it was. */
const EVIDENCE_AFTER = 50;
/** Of what was seen to be saved before it was too much, what is used. */
const SAVED_PART = 0.7;
/** It is tried to be more by this, each time that all of it was used. */
const SAVED_GROWTH = 1.25;

/** What was sent and accepted before anything was rejected. */
export interface Past {
  readonly accepted: number;
  /** When the first of it was sent; of no meaning where nothing was accepted. */
  readonly firstAt: number;
}

/** Rejections in a row, with nothing sent after the reaction to them accepted between. */
interface Closure {
  readonly startedAt: number;
  /** Attempts of a lower order were out when it was noticed. */
  readonly noticedAt: number;
  readonly pacePerMs: number;
  /** Whether it was begun by an attempt that was sent from what was saved. */
  readonly isBySaved: boolean;
  lastAt: number;
  rejected: number;
  /** Single attempts that were rejected since it was noticed. */
  probes: number;
  /** Whether no rejection of it looks like those of the limit. */
  isForeign: boolean;
  /** Accepted, and without demand, between the last closure and the end of this one. */
  accepted: number;
  idleMs: number;
}

/**
 * The rate that the provider accepts, learned from what it accepted and rejected, in the order of
 * sending. After each closure the rate is measured anew; then more is tried, the faster the less the
 * measurement rests on, and faster still the longer nothing is rejected.
 */
export class RateEstimate {
  private readonly hardPerMs: () => number;
  private marks: CongestionMarks | undefined = undefined;
  private perMs = 0;
  private evidence = 1;
  private excess = 0;
  /** Verified attempts with which the excess doubles. */
  private doubling = LEAST_DOUBLING;
  /** Attempts that were sent at a pace and verified since the last mark. */
  private verified = 0;
  /** The highest pace that was verified since. */
  private verifiedPerMs = Number.POSITIVE_INFINITY;
  private verifiedAt = 0;
  /** Attempts sent from this order on are of the present try. */
  private triedFrom = 0;
  private closure: Closure | undefined = undefined;
  private readonly damping = new RejectionDamping();
  private firstAt: number | undefined;
  private accepted: number;
  private idleMs = 0;
  /** When the last closure ended. */
  private openedAt = 0;
  /** From the last rejection of that closure to its end. */
  private gapMs = 0;
  /** Whether that was only interrupted: a few that were let in by chance end no closure, but once. */
  private wasStray = false;
  /** What does not count in the times of marks. */
  private skippedMs = 0;
  /** What the provider may have saved up when it opened, so that it tells nothing. */
  private unearned = 0;
  /** What was accepted before the first closure. */
  private mostAtOnce = 0;
  private _saved = 0;
  private resumed: { readonly at: number; readonly idleMs: number; accepted: number } | undefined =
    undefined;
  private _bounds: RateBounds | undefined = undefined;

  /** @param hardPerMs the rate of a limit that was configured; Infinity: none was */
  constructor({ accepted, firstAt }: Past, hardPerMs: () => number) {
    this.hardPerMs = hardPerMs;
    this.accepted = accepted;
    this.firstAt = accepted > 0 ? firstAt : undefined;
  }

  /** Begins with a rate that was measured before, in another process say. */
  begin(perMs: number, now: number): void {
    this.perMs = perMs;
    this.evidence = SURE_EVIDENCE;
    this.doubling = SURE_EVIDENCE;
    this.excess = 1 / SURE_EVIDENCE;
    this.marks = new CongestionMarks({ from: now, to: now });
    this.openedAt = now;
    this.verifiedAt = now;
    this.verifiedPerMs = this.pacePerMs;
  }

  /** Whether anything was measured. */
  get isKnown(): boolean {
    return this.marks !== undefined;
  }

  /** What was measured, per ms; 0: nothing was. */
  get measuredPerMs(): number {
    return this.perMs;
  }

  /** Accepted attempts that it rests on. */
  get restsOn(): number {
    return this.evidence;
  }

  get bounds(): RateBounds | undefined {
    return this._bounds;
  }

  /** Attempts that may be sent at once after a time without demand. */
  get saved(): number {
    return this._saved;
  }

  /** At what pace to send now, per ms; Infinity: nothing was measured. */
  get pacePerMs(): number {
    if (this.marks === undefined) return Number.POSITIVE_INFINITY;
    const earned = Math.max(0, this.verified - this.unearned);
    const excess = this.excess * 2 ** Math.min(40, earned / this.doubling);
    // What is rejected at any rate takes nothing of it.
    const perMs = this.perMs / (1 - this.damping.share);
    return Math.min(LEAD * this.verifiedPerMs, perMs * (1 + excess - MARGIN));
  }

  /**
   * Takes in an attempt of which, and of all sent before, it is known what became.
   * @param horizonMs within which rejections come back
   * @param namedUntil until when the provider asked to send nothing; -Infinity: it did not
   * @returns whether the rate was measured anew
   */
  settled(sent: SentAttempt, namedUntil: number, horizonMs: number): boolean {
    this.firstAt ??= sent.at;
    this.damping.settled();
    this.resume(sent);
    if (sent.outcome === 'rejected') {
      this.reject(sent);
      return false;
    }
    const { closure } = this;
    const hasReopened = closure !== undefined && sent.order >= closure.noticedAt;
    const isByChance = hasReopened && this.isByChance(closure);
    if (isByChance) {
      this.closure = undefined;
      this.tryFrom(sent);
    } else if (hasReopened) this.reopened(closure, sent, namedUntil);
    this.accept(sent, horizonMs);
    return hasReopened && !isByChance;
  }

  private isByChance({ rejected, pacePerMs, isBySaved }: Closure): boolean {
    if (rejected > 1 || isBySaved || this.marks === undefined) return false;
    if (pacePerMs === Number.POSITIVE_INFINITY || !this.damping.isByChance(pacePerMs)) return false;
    this.perMs = Math.max(this.perMs, this.damping.ratePerMs);
    return true;
  }

  private accept(sent: SentAttempt, horizonMs: number): void {
    this.accepted += 1;
    if (!sent.isPaced || sent.order < this.triedFrom) return;
    this.verified += 1;
    // A higher pace is verified when its rejections could have come back.
    if (sent.pacePerMs === Number.POSITIVE_INFINITY) return;
    // Before the first rejection nothing is known of how long they take.
    const silenceMs = horizonMs === Number.POSITIVE_INFINITY ? 0 : horizonMs;
    if (sent.at < this.verifiedAt + silenceMs) return;
    this.verifiedAt = sent.at;
    this.verifiedPerMs = Math.max(this.verifiedPerMs, sent.pacePerMs);
  }

  private reject(sent: SentAttempt): void {
    if (this.closure === undefined) {
      const isBySaved = sent.isSaved && sent.pacePerMs !== Number.POSITIVE_INFINITY;
      if (isBySaved) this.savedTooMuch(sent.at);
      this.closure = {
        startedAt: sent.at,
        noticedAt: sent.reactedAt,
        pacePerMs: sent.pacePerMs,
        isBySaved,
        lastAt: sent.at,
        rejected: 0,
        probes: 0,
        isForeign: true,
        accepted: 0,
        idleMs: 0,
      };
    }
    if (sent.order >= this.closure.noticedAt) this.closure.probes += 1;
    if (!sent.isForeign) this.closure.isForeign = false;
    this.closure.rejected += 1;
    this.closure.lastAt = sent.at;
    this.closure.accepted = this.accepted;
    this.closure.idleMs = this.idleMs;
  }

  private reopened(closure: Closure, sent: SentAttempt, namedUntil: number): void {
    this.closure = undefined;
    const to = sent.at;
    if (closure.isForeign && closure.probes >= OUTAGE_PROBES && this.marks === undefined) {
      // It was open until then: nothing is known of a limit.
      this.firstAt = (this.firstAt ?? to) + to - closure.startedAt;
      return;
    }
    this.accepted -= closure.accepted;
    this.idleMs -= closure.idleMs;
    // Where the provider has named the end of it, it was closed until then.
    const from = Math.min(to, Math.max(closure.lastAt, namedUntil));
    if (this.marks === undefined) this.firstMeasure(closure, from, to);
    else if (closure.isBySaved) {
      this.skippedMs = 0;
      this.marks.restart(from, to);
    } else this.measure(this.marks, closure, from, to);
    this.gapMs = to - from;
    this.unearned = Math.min(this.mostAtOnce, this.perMs * (to - closure.startedAt));
    this.openedAt = to;
    this.tryFrom(sent);
  }

  /** The first closure: what was accepted until then is a window's limit at the most. */
  private firstMeasure({ accepted }: Closure, from: number, to: number): void {
    const least = Math.max(1, accepted);
    this.perMs = least / Math.max(1, to - (this.firstAt ?? from));
    const hardPerMs = this.hardPerMs();
    // One closure is no reason to doubt a limit that was configured.
    if (hardPerMs !== Number.POSITIVE_INFINITY) this.perMs = Math.max(this.perMs, hardPerMs);
    this.evidence = 1;
    this.doubling = Math.max(LEAST_DOUBLING, Math.min(MOST_DOUBLING, least));
    this.excess = Math.min(MOST_EXCESS, Math.max(1 / least, 2 * LEAST_EXCESS));
    this.mostAtOnce = least;
    this._saved = SAVED_PART * least;
    this.marks = new CongestionMarks({ from, to });
  }

  private measure(marks: CongestionMarks, closure: Closure, from: number, to: number): void {
    const { accepted, idleMs, startedAt, pacePerMs } = closure;
    const closedMs = to - startedAt;
    const openMs = Math.max(1e-3, startedAt - this.openedAt - idleMs);
    const isOutage =
      (closure.isForeign && closure.probes >= OUTAGE_PROBES) ||
      (Math.min(this.evidence, accepted) >= SURE_EVIDENCE &&
        closedMs * this.perMs > OUTAGE_INTERVALS &&
        accepted / (openMs + closedMs) < OUTAGE_PART * this.perMs);
    if (isOutage) {
      this.skippedMs += idleMs + closedMs;
      const at = to - this.skippedMs;
      marks.add({ accepted, from: at, to: at, isFull: false, pacePerMs });
      this.evidence = Math.min(this.evidence, EVIDENCE_AFTER);
      this.excess = 1 / this.evidence;
      return;
    }
    const isStray =
      !this.wasStray && marks.hasRow && accepted <= 2 && idleMs === 0 && openMs < this.gapMs;
    this.wasStray = isStray;
    if (isStray) marks.prolong(accepted, from - this.skippedMs, to - this.skippedMs);
    else {
      const grew = pacePerMs > (GREW * (accepted + 1)) / openMs;
      const isFull = !grew && idleMs < IDLE_PART * (to - this.openedAt);
      this.skippedMs += idleMs;
      const [begin, end] = [from - this.skippedMs, to - this.skippedMs];
      marks.add({ accepted, from: begin, to: end, isFull, pacePerMs });
    }
    const before = this.perMs;
    const bounds = marks.bounds();
    if (bounds !== undefined) this.follow(bounds);
    // It has fallen by the closure alone, which may have had other reasons.
    if (this.perMs < FELL * before && closedMs > CLOSED_PART * (openMs + closedMs)) {
      this.evidence = Math.min(this.evidence, LEAST_DOUBLING);
      this.doubling = LEAST_DOUBLING;
      this.excess = 1 / this.evidence;
    }
  }

  private follow(bounds: RateBounds): void {
    const { least, most, best, evidence, isFull } = bounds;
    const before = this.perMs;
    this._bounds = bounds;
    const width = most / least;
    if (width <= WIDE) {
      this.perMs = best;
      this.evidence = Math.max(1, evidence);
    } else {
      this.perMs = least * width ** TRY;
      this.evidence = Math.max(1, Math.min(evidence, 1 / (width - 1)));
    }
    if (this.perMs < before / MOST_FALL) {
      this.perMs = before / MOST_FALL;
      this.evidence = 1;
    }
    this.doubling = Math.max(LEAST_DOUBLING, Math.min(MOST_DOUBLING, this.evidence));
    this.excess = isFull
      ? Math.min(MOST_EXCESS, 1 / Math.min(MOST_EVIDENCE, this.evidence))
      : Math.max(LEAST_EXCESS, 1 / Math.max(1, evidence));
  }

  private tryFrom({ order, at }: SentAttempt): void {
    this.verifiedAt = at;
    this.verified = 0;
    this.triedFrom = order;
    this.verifiedPerMs = Number.POSITIVE_INFINITY;
    this.verifiedPerMs = this.pacePerMs;
  }

  /** What goes at once after a time without demand tells how much the provider saves. */
  private resume(sent: SentAttempt): void {
    if (sent.idleMs > 0) {
      this.idleMs += sent.idleMs;
      this.resumed = { at: sent.at, idleMs: sent.idleMs, accepted: 0 };
    }
    const { resumed } = this;
    if (resumed === undefined || sent.outcome === 'rejected') return;
    resumed.accepted += 1;
    const used = resumed.accepted - this.perMs * (sent.at - resumed.at);
    if (resumed.idleMs * this.perMs < this._saved || used < this._saved) return;
    this._saved = this._saved * SAVED_GROWTH + 1;
    this.resumed = undefined;
  }

  private savedTooMuch(at: number): void {
    const { resumed } = this;
    const accepted = resumed?.accepted ?? 0;
    const used = Math.max(0, accepted - this.perMs * (at - (resumed?.at ?? at)) - 1);
    this._saved = Math.min(this._saved, SAVED_PART * used);
    if (this._saved < 1) this._saved = 0;
  }
}
