import { OUTAGE_PROBES } from '../attempts/closure.ts';
import { NamedWait } from './named-wait.ts';
import { ProbeDelay } from './probe-delay.ts';

/** A reported end may be rounded down: probes are at least this far apart. */
const LEAST_END_MS = 100;
/** Until this many probes were planned, a named wait alone decides when the next one is sent. */
const NAMED_PROBES = 2;

/** As many rejections in a row are an outage if they are less probable by chance than this. */
const IMPROBABLE = 0.05;

/** The time in which the provider rejects all requests: its named end, and the times of probes. */
export class ClosedTime {
  readonly named: NamedWait;
  private readonly probes = new ProbeDelay();
  private _isClosed = false;
  private probeAt = Number.NEGATIVE_INFINITY;
  /** How many attempts were rejected in a row, each after the reaction to the one before. */
  private row = 0;
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

  /**
   * Whether one more rejection is probable by chance.
   * @param share the share of attempts that is rejected whatever the rate
   */
  isByChance(share: number): boolean {
    return share > 0 && share ** (this.row + 1) > IMPROBABLE;
  }

  /** No request is sent before this time. */
  get until(): number {
    return Math.max(this.named.until, this.probeAt);
  }

  /**
   * While the provider rejects everything: how much later than planned an attempt is sent now, in
   * ms. A busy process or another policy has delayed it, or there was no demand.
   * @param freeAt when its rate permitted it
   */
  lateMs(freeAt: number, now: number): number {
    if (!this._isClosed) return 0;
    const plannedAt = Math.max(this.until, freeAt);
    return Number.isFinite(plannedAt) ? Math.max(0, now - plannedAt) : 0;
  }

  rejected(order: number): void {
    this.rejectedOrder = Math.max(this.rejectedOrder, order);
  }

  /**
   * An attempt is known to be accepted. If it was sent after all rejected ones, the provider is
   * open.
   */
  accepted(order: number): void {
    if (!this._isClosed || order <= this.rejectedOrder) return;
    this._isClosed = false;
    this.row = 0;
    this.probes.reset();
    this.probeAt = Number.NEGATIVE_INFINITY;
  }

  /** @returns false if the provider was closed already */
  begin(): boolean {
    this.row += 1;
    if (this._isClosed) return false;
    // No probe is planned while the provider is open.
    this._isClosed = true;
    this.named.reset();
    return true;
  }

  /**
   * Plans the next probe. Other parameters as for `ProbeDelay.next`.
   * @param endMs how long a used-up limit stays closed, as reported; by default that is not known
   */
  probe(
    now: number,
    endMs = Number.POSITIVE_INFINITY,
    ...delays: Parameters<ProbeDelay['next']>
  ): void {
    this.probeAt = now + Math.min(this.probes.next(...delays), Math.max(LEAST_END_MS, endMs));
  }

  /** A rejection names a wait. Parameters as for `NamedWait.named`. */
  name(ms: number, sentAt: number, now: number, isLater: boolean): void {
    this.named.named(ms, sentAt, now, isLater);
    // The named wait replaces the planned probe, unless named waits have proved too short.
    if (this.probes.count <= NAMED_PROBES) this.probeAt = Number.NEGATIVE_INFINITY;
  }
}
