import { NamedWait } from './named-wait.ts';
import { ProbeDelay } from './probe-delay.ts';

/** How many consecutive rejected probes make an outage. */
const OUTAGE_PROBES = 3;
/** How many probes are sent when a named wait is over, however short it was. */
const NAMED_PROBES = 2;

/** The time in which the provider lets nothing in: what it names as its end, and when single probes go. */
export class ClosedTime {
  readonly named: NamedWait;
  private readonly probes = new ProbeDelay();
  private _isClosed = false;
  private probeAt = Number.NEGATIVE_INFINITY;
  /** The highest order of attempts rejected since the last accepted one. */
  private rejectedOrder = -1;

  /** @param maxRetryAfterMs no correction makes a named wait longer than this */
  constructor(maxRetryAfterMs: number) {
    this.named = new NamedWait(maxRetryAfterMs);
  }

  get isClosed(): boolean {
    return this._isClosed;
  }

  /** Whether the provider rejects everything, so that single probes are sent. */
  get isOut(): boolean {
    return this._isClosed && this.probes.count >= OUTAGE_PROBES;
  }

  /** Nothing goes before this time. */
  get until(): number {
    return Math.max(this.named.until, this.probeAt);
  }

  rejected(order: number): void {
    this.rejectedOrder = Math.max(this.rejectedOrder, order);
  }

  /** An attempt is known to be accepted. If it was sent after all that were rejected, the provider is open. */
  accepted(order: number): void {
    if (!this._isClosed || order <= this.rejectedOrder) return;
    this._isClosed = false;
    this.probes.reset();
    this.probeAt = Number.NEGATIVE_INFINITY;
  }

  /** @returns whether it has only now begun */
  begin(): boolean {
    if (this._isClosed) return false;
    this._isClosed = true;
    this.named.reset();
    this.probes.reset();
    this.probeAt = Number.NEGATIVE_INFINITY;
    return true;
  }

  /** Plans the next probe. Parameters as for `ProbeDelay.next`. */
  probe(now: number, horizonMs: number, intervalMs: number, meanMs: number): void {
    this.probeAt = now + this.probes.next(horizonMs, intervalMs, meanMs);
  }

  /** A rejection names a wait. Parameters as for `NamedWait.named`. */
  name(ms: number, sentAt: number, now: number, isLater: boolean): void {
    this.named.named(ms, sentAt, now, isLater);
    // It names a wait, unless named waits have proved wrong.
    if (this.probes.count <= NAMED_PROBES) this.probeAt = Number.NEGATIVE_INFINITY;
  }
}
