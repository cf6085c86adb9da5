import { Subject } from 'rxjs';
import type { GateKind, SettleOutcome } from '../model/outcome.ts';
import type { Ticket } from '../model/ticket.ts';
import { Progress, type ProgressOptions, type ProgressSnapshot } from '../policies/progress.ts';
import type { RequestListener } from '../request/ticket-factory.ts';
import type { Clock } from '../util/clock.ts';
import type { UnchargedRequests } from './uncharged-requests.ts';

/** The least time between two progress reports without a milestone. */
const REPORT_MS = 1_000;

/** Ended requests by outcome. */
export interface Counts {
  readonly ok: number;
  readonly failed: number;
  readonly rejected: number;
  readonly cancelled: number;
}

/** The counts of a limiter, for the next limiter of its key. */
export interface CountedBefore {
  readonly ended: Counts;
  /** Requests that found the queue full, or were given up for newcomers. */
  readonly dropped: number;
}

/** The progress of a limiter's requests. */
export interface LimiterProgress extends ProgressSnapshot {
  /** The cause of the wait of the most urgent request; undefined if none waits. */
  readonly binding: GateKind | undefined;
  /** The reached milestone, in per cent; undefined if none was reached. */
  readonly milestone: number | undefined;
}

/** The values that the counters read from the limiter. */
export interface CountedRequests {
  /** Requests that hold a slot. */
  readonly inFlight: number;
  /** Requests that wait, with a ticket or without. */
  readonly waiting: number;
  readonly binding: GateKind | undefined;
}

/** The progress if no request is present, and no total is known. */
export function progressOf({ ok, failed, rejected }: Counts, now: number): LimiterProgress {
  const progress = new Progress({}, now, { completed: ok, failed: failed + rejected });
  return { ...progress.snapshot(now, 0), binding: undefined, milestone: undefined };
}

/** Counts a limiter's requests: present ones, ended ones by outcome, and their progress. */
export class RequestCounters implements RequestListener {
  /** For options that may bound nothing. */
  uncharged: readonly UnchargedRequests<Ticket>[] = [];
  /** Unfinished requests, without those that wait without a ticket. */
  private present = 0;
  private readonly _counts = { ok: 0, failed: 0, rejected: 0, cancelled: 0, reclaimed: 0 };
  private readonly clock: Clock;
  private readonly limiter: CountedRequests;
  private readonly options: ProgressOptions;
  private readonly onMilestone: (percent: number) => void;
  private readonly _reports = new Subject<LimiterProgress>();
  /** Durations are measured from the first subscription to progress on. */
  private _progress: Progress | undefined = undefined;
  private reportedAt = Number.NEGATIVE_INFINITY;
  /** Whether requests have ended since the last report. */
  private isReportDue = false;
  private onEmpty: (() => void)[] = [];
  private total: number | undefined;

  constructor(
    clock: Clock,
    limiter: CountedRequests,
    options: ProgressOptions,
    onMilestone: (percent: number) => void,
  ) {
    this.clock = clock;
    this.limiter = limiter;
    this.options = options;
    this.onMilestone = onMilestone;
    this.total = options.total;
    // Construct once, so that wrong options throw here.
    const progress = new Progress(options, clock.now());
    if (options.total !== undefined) this._progress = progress;
  }

  get counts(): Counts {
    const { ok, failed, rejected, cancelled, reclaimed } = this._counts;
    return { ok, failed, rejected, cancelled: cancelled + reclaimed };
  }

  /** Adds the counts of an earlier limiter of the same key. */
  countedBefore({ ok, failed, rejected, cancelled }: Counts): void {
    Object.assign(this._counts, { ok, failed, rejected, cancelled });
  }

  /** The number of ended requests, and the total. */
  get standing(): { readonly completed: number; readonly total: number | undefined } {
    const { ok, failed, rejected } = this._counts;
    return { completed: ok + failed + rejected, total: this.total };
  }

  /** The progress towards the total; undefined if no total was given. */
  get measured(): LimiterProgress | undefined {
    return this.total === undefined ? undefined : this.progress();
  }

  /** Whether no request waits or runs. */
  get isEmpty(): boolean {
    return this.present === 0 && this.limiter.waiting === 0;
  }

  /** Emits as requests end: at each milestone, at the end, and otherwise at most once a second. */
  get reports(): Subject<LimiterProgress> {
    this.measure();
    return this._reports;
  }

  arrived(): void {
    this.present += 1;
  }

  settled(ticket: Ticket, outcome: SettleOutcome): void {
    this.present -= 1;
    this._counts[outcome] += 1;
    if (outcome === 'ok') for (const each of this.uncharged) each.count(ticket);
    if (this._progress !== undefined) this.record(this._progress, ticket, outcome);
    this.lookIfEmpty();
  }

  abandoned(count: number): void {
    this._counts.cancelled += count;
    this.lookIfEmpty();
  }

  /** A request that was sent without the limiter has ended. */
  recorded(outcome: 'ok' | 'failed', durationMs: number | undefined): void {
    this._counts[outcome] += 1;
    const now = this.clock.now();
    if (this._progress !== undefined) {
      this.reached(this._progress.record(outcome, durationMs, now), now);
    }
  }

  /** Called when no more requests will arrive: emits the last progress. */
  end(): void {
    if (this.isReportDue && this._reports.observed) this.report(this.clock.now());
  }

  /** Calls back when no request is present any more; at once if none is. */
  whenEmpty(callback: () => void): void {
    this.onEmpty.push(callback);
    this.lookIfEmpty();
  }

  setTotal(total: number | undefined): void {
    const progress = this.measure();
    this.total = total;
    this.reached(progress.setTotal(total), this.clock.now());
  }

  /** @param least the least parallelism to assume */
  progress(milestone?: number, least = 0): LimiterProgress {
    const { inFlight, binding } = this.limiter;
    const parallelism = Math.max(least, inFlight);
    const snapshot = this.measure().snapshot(this.clock.now(), parallelism);
    return { ...snapshot, binding, milestone };
  }

  private measure(): Progress {
    if (this._progress === undefined) {
      const { ok, failed, rejected } = this._counts;
      const ended = { completed: ok, failed: failed + rejected };
      this._progress = new Progress(this.options, this.clock.now(), ended);
    }
    return this._progress;
  }

  /** Only sent requests are measured: from the slot to the end. */
  private record(progress: Progress, ticket: Ticket, outcome: SettleOutcome): void {
    if (outcome === 'cancelled' || outcome === 'reclaimed') return;
    const now = this.clock.now();
    const durationMs = ticket.attempts > 0 ? Math.max(0, now - ticket.startedAt) : undefined;
    this.reached(progress.record(outcome === 'ok' ? 'ok' : 'failed', durationMs, now), now);
  }

  private reached(milestones: readonly number[], now: number): void {
    for (const percent of milestones) {
      this.onMilestone(percent);
      if (this._reports.observed) this.report(now, percent);
    }
    if (!this._reports.observed) return;
    if (now - this.reportedAt >= REPORT_MS) this.report(now);
    else this.isReportDue = milestones.length === 0;
  }

  /**
   * Counts the request that has just ended too: with sequential sending, none is left in flight.
   */
  private report(now: number, milestone?: number): void {
    this.reportedAt = now;
    this.isReportDue = false;
    this._reports.next(this.progress(milestone, 1));
  }

  /**
   * Calls back if no request is present, now or at the end of this turn. A request may end in the
   * turn in which it began, while requests behind it still have no ticket and are not counted.
   */
  private lookIfEmpty(): void {
    if (this.onEmpty.length === 0 || this.present > 0) return;
    if (this.isEmpty) this.tellEmpty();
    else {
      queueMicrotask(() => {
        if (this.isEmpty) this.tellEmpty();
      });
    }
  }

  private tellEmpty(): void {
    const callbacks = this.onEmpty;
    this.onEmpty = [];
    for (const callback of callbacks) callback();
  }
}
