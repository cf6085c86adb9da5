import type { ReportedReset } from './reset-times.ts';
import type { WindowKind } from './window-classifier.ts';

/** The share of the limit that is left unused, for other clients and for unknown usage. */
const SPARE_PART = 0.005;
/**
 * A process that has the whole rate of a bucket leaves this multiple of that share unused in
 * addition; a process that has half of the rate leaves half as much. All processes see the same
 * amount left, so they all keep their rates only where these are equal (as generators share a load
 * by "droop control"). A bucket saves the unused amount; a window would lose it.
 */
const DROOP = 3;
export const LEAST_SPARE = 1;
/** A limit really holds the reported amount if this share of it was left at some time. */
const HOLDS_PART = 0.5;
/** At most this share of what the limit holds. A bucket may hold a few requests of a large limit. */
const HELD_PART = 0.5;

/** A sliding window below this limit would lose more than a twentieth by the least spare amount. */
const SMALL_LIMIT = 20;
/** Each attempt uses up much of a bucket that holds no more than this. */
const SMALL_BUCKET = 5;

/** The last report: the amount left right after an attempt, and the amount sent by then. */
export interface Report extends ReportedReset {
  readonly limit: number;
  readonly remaining: number;
  readonly windowMs: number;
  readonly at: number;
  readonly order: number;
  total: number;
  /** The refill rate of a bucket that is full at the reported reset; 0 if none was reported. */
  readonly fullPerMs: number;
  /** The refill rate that the reported reset promises at least, per ms; 0 if none was reported. */
  readonly promisedPerMs: number;
  /** The factor by which the rate may be higher, because the length of the window is rounded. */
  readonly lengthError: number;
}

/** What is known about the reported limit. */
export interface Described {
  readonly kind: WindowKind | undefined;
  /** The length of its window. */
  readonly lengthMs: number;
  /** The greatest amount that was ever left. */
  readonly highest: number;
  /** The refill rate, per ms; 0 while it is unknown. */
  readonly refillPerMs: number;
}

/** What reports have shown about a limit, as JSON. Null: it is not clear. */
export interface KnownLimit {
  readonly kind: WindowKind | null;
  /** How often its end has moved before it was reached. */
  readonly moves: number;
  /** The greatest amount that was ever left. */
  readonly highest: number;
  /** The refill rate of a bucket, per ms. */
  readonly perMs: number | null;
  /** Our share of the limit, per ms. */
  readonly sharePerMs: number | null;
}

/** The amount left now: the reported one, minus the amount sent since, plus the refill since. */
export function leftOf(report: Report, perMs: number, total: number, now: number): number {
  return report.remaining - (total - report.total) + perMs * (now - report.at);
}

/** The least amount left after a time in which little was sent, for every kind of limit. */
export function savedOf(report: Report, described: Described, total: number, now: number): number {
  const { limit, remaining, earliestEnd } = report;
  const { kind, lengthMs, highest, refillPerMs } = described;
  if (kind === 'bucket') return Math.min(highest, leftOf(report, refillPerMs, total, now));
  // A sliding counter still counts a part of the last window after its end.
  const whole = Math.min(1, Math.max(0, now - earliestEnd) / lengthMs);
  return Math.min(highest, remaining + whole * (limit - remaining)) - (total - report.total);
}

/**
 * The amount that is left unused.
 * @param share our rate, as a share of the rate of the whole limit
 */
export function spareOf({ limit }: Report, { kind, highest }: Described, share = 1): number {
  const factor = kind === 'bucket' ? 1 + DROOP * Math.min(1, share) : 1;
  return Math.min(Math.max(LEAST_SPARE, factor * SPARE_PART * limit), HELD_PART * highest);
}

/**
 * Whether a limit is so small that the amount left shows too little about the rate. A bucket holds
 * the greatest amount that was left, and the attempt that reported it. If that is little of a large
 * limit, others use the rest.
 */
export function isSmall({ limit }: Report, { kind, highest }: Described): boolean {
  if (limit >= SMALL_LIMIT) return false;
  return kind === 'sliding' || Math.min(limit, highest + 1) <= SMALL_BUCKET;
}

/** Whether a limit holds about as much as it reports. */
export function holdsLimit(limit: number, highest: number): boolean {
  return highest >= HOLDS_PART * limit;
}
