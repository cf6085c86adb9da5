import { Subject } from 'rxjs';
import { Progress, type ProgressOptions, type ProgressSnapshot } from '../core/progress.ts';
import type { Clock } from '../model/clock.ts';
import type { GateKind, SettleOutcome } from '../model/outcome.ts';
import type { Ticket } from '../model/ticket.ts';
import type { RequestListener } from '../request/ticket-factory.ts';

/** Least time between two reports of progress that reach no milestone. */
const REPORT_MS = 1_000;

/** Requests that have ended, by how they did. */
export interface Counts {
  readonly ok: number;
  readonly failed: number;
  readonly rejected: number;
  readonly cancelled: number;
}

/** How far the requests of a limiter have got. */
export interface LimiterProgress extends ProgressSnapshot {
  /** What those wait for that have got furthest; undefined: nobody waits. */
  readonly binding: GateKind | undefined;
  /** The milestone that was reached, in per cent; undefined: none was. */
  readonly milestone: number | undefined;
}

/** What the census asks of the limiter. */
export interface CountedRequests {
  /** Requests that hold a slot. */
  readonly inFlight: number;
  /** Requests that wait, with a ticket or without. */
  readonly waiting: number;
  readonly binding: GateKind | undefined;
  refusal(ticket: Ticket): Error | undefined;
}

/** Counts the requests of a limiter: who is there, how they ended, how far all have got. */
export class RequestCounters implements RequestListener {
  /** Until limits are changed. */
  limitsStand = true;
  /** Requests that have come and not ended, but for those that wait without a ticket. */
  private present = 0;
  private readonly _counts = { ok: 0, failed: 0, rejected: 0, cancelled: 0, reclaimed: 0 };
  private readonly clock: Clock;
  private readonly limiter: CountedRequests;
  private readonly options: ProgressOptions;
  private readonly onMilestone: (percent: number) => void;
  private readonly _reports = new Subject<LimiterProgress>();
  /** Durations are measured once somebody wants to know when it will end. */
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
    // What is wrong with the options is found by making what they are for.
    const progress = new Progress(options, clock.now());
    if (options.total !== undefined) this._progress = progress;
  }

  get counts(): Counts {
    const { ok, failed, rejected, cancelled, reclaimed } = this._counts;
    return { ok, failed, rejected, cancelled: cancelled + reclaimed };
  }

  /** How many have ended, well or not, and how many there will be. */
  get standing(): { readonly completed: number; readonly total: number | undefined } {
    const { ok, failed, rejected } = this._counts;
    return { completed: ok + failed + rejected, total: this.total };
  }

  /** How far all have got, where a total was given; else it is not measured. */
  get measured(): LimiterProgress | undefined {
    return this.total === undefined ? undefined : this.progress();
  }

  /** Whether nobody waits or runs. */
  get isEmpty(): boolean {
    return this.present === 0 && this.limiter.waiting === 0;
  }

  /** Emits as requests end: at each milestone, at the end, and else once a second at the most. */
  get reports(): Subject<LimiterProgress> {
    this.measure();
    return this._reports;
  }

  refusal(ticket: Ticket): Error | undefined {
    return this.limiter.refusal(ticket);
  }

  arrived(): void {
    this.present += 1;
  }

  settled(ticket: Ticket, outcome: SettleOutcome): void {
    this.present -= 1;
    this._counts[outcome] += 1;
    if (this._progress !== undefined) this.record(this._progress, ticket, outcome);
    if (this.onEmpty.length > 0 && this.present === 0) this.lookIfEmpty();
  }

  abandoned(count: number): void {
    this._counts.cancelled += count;
  }

  /** A request that went past the limiter has ended. */
  recorded(outcome: 'ok' | 'failed', durationMs: number | undefined): void {
    this._counts[outcome] += 1;
    const now = this.clock.now();
    if (this._progress !== undefined) {
      this.reached(this._progress.record(outcome, durationMs, now), now);
    }
  }

  /** Nobody will come any more: reports what was not reported yet. */
  end(): void {
    if (this.isReportDue && this._reports.observed) this.report(this.clock.now());
  }

  /** Calls back when nobody is there any more; at once if nobody is. */
  whenEmpty(callback: () => void): void {
    this.onEmpty.push(callback);
    if (this.present === 0) this.lookIfEmpty();
  }

  setTotal(total: number | undefined): void {
    const progress = this.measure();
    this.total = total;
    this.reached(progress.setTotal(total), this.clock.now());
  }

  /** @param least how many requests are worked on at once, at least */
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

  /** Only what was sent tells how long requests take: from the slot to the end. */
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

  /** Of those in flight one has just ended; whoever sends one after the other has none left. */
  private report(now: number, milestone?: number): void {
    this.reportedAt = now;
    this.isReportDue = false;
    this._reports.next(this.progress(milestone, 1));
  }

  /**
   * A request may end in the turn in which it began, while those behind it wait without a ticket. At
   * the end of that turn they have tickets, or have gone.
   */
  private lookIfEmpty(): void {
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
