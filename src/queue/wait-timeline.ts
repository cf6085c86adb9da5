import type { GateKind } from '../model/outcome.ts';

/** The cause of a wait: a policy, and its binding named limit if it has several. */
interface WaitCause {
  readonly gate: GateKind;
  readonly limit: string | undefined;
}

/** A part of a wait, from one change of its cause to the next. */
interface WaitSegment {
  readonly cause: WaitCause;
  readonly waitMs: number;
  /** How long ago it ended, in ms. */
  readonly endedMsAgo: number;
}

/** The greatest number of segments that are kept. */
const MAX_SEGMENTS = 256;

/**
 * The causes of a queue's waits over time. Each wait in the queue is cut along it: a request that
 * waited first for a slot and then for the rate is booked so, without a record for each request.
 * The timeline keeps at most {@link MAX_SEGMENTS} changes; beyond that two neighbours become one,
 * with the cause of the longer.
 */
export class WaitTimeline {
  private starts: number[] = [];
  private causes: WaitCause[] = [];
  /** The last of them, in a field: V8 reads index -1 of an empty array through its runtime. */
  private present: WaitCause | undefined = undefined;

  /** The present cause; undefined if nothing has held this queue back since it was empty. */
  get cause(): WaitCause | undefined {
    return this.present;
  }

  /**
   * Whether this is the present cause already: then there is nothing to note, and the clock is not
   * read.
   */
  isBoundBy(gate: GateKind, limit: string | undefined): boolean {
    return isOf(this.present, gate, limit);
  }

  /** Makes this the present cause, which it was not. */
  note(gate: GateKind, limit: string | undefined, now: number): void {
    const last = this.starts.length - 1;
    // A cause of no duration is dropped.
    if (last >= 0 && now <= (this.starts[last] as number)) {
      this.starts.pop();
      this.causes.pop();
      this.present = this.causes.at(-1);
      if (this.isBoundBy(gate, limit)) return;
    }
    if (this.starts.length >= MAX_SEGMENTS) this.coarsen(now);
    this.present = { gate, limit };
    this.starts.push(now);
    this.causes.push(this.present);
  }

  /** The queue is empty. */
  clear(): void {
    if (this.starts.length === 0) return;
    this.starts = [];
    this.causes = [];
    this.present = undefined;
  }

  /** The cause during the whole time since; undefined if it changed, see `cut`. */
  soleCauseSince(since: number): WaitCause | undefined {
    const last = this.starts.length - 1;
    return last <= 0 || (this.starts[last] as number) <= since ? this.present : undefined;
  }

  /** The parts of a wait that ends now, in order, without those of no duration. */
  cut(since: number, now: number): WaitSegment[] {
    const segments: WaitSegment[] = [];
    let end = now;
    for (let at = this.starts.length - 1; at >= 0 && end > since; at -= 1) {
      const start = at === 0 ? since : Math.max(since, this.starts[at] as number);
      const cause = this.causes[at] as WaitCause;
      if (start < end) segments.push({ cause, waitMs: end - start, endedMsAgo: now - end });
      end = Math.min(end, start);
    }
    return segments.reverse();
  }

  /** Joins neighbouring segments in pairs. */
  private coarsen(now: number): void {
    const starts: number[] = [];
    const causes: WaitCause[] = [];
    for (let at = 0; at < this.starts.length; at += 2) {
      const start = this.starts[at] as number;
      const middle = this.starts[at + 1] ?? now;
      const end = this.starts[at + 2] ?? now;
      const longer = end - middle > middle - start ? this.causes[at + 1] : this.causes[at];
      const before = causes[causes.length - 1];
      if (longer === undefined || isOf(before, longer.gate, longer.limit)) continue;
      starts.push(start);
      causes.push(longer);
    }
    this.starts = starts;
    this.causes = causes;
  }
}

function isOf(cause: WaitCause | undefined, gate: GateKind, limit: string | undefined): boolean {
  return cause?.gate === gate && cause.limit === limit;
}
