import type { RateBounds } from './congestion-samples.ts';
import { LEAST_EXCESS, MOST_EXCESS } from './first-stop.ts';

/** More evidence than this does not make the rate more certain: providers change. */
const MOST_EVIDENCE = 400;
/** The upper bound if the rate has changed lately: rejections by chance look like a change too. */
const CHANGED_EVIDENCE = 200;
/** Bounds this close count as one rate. */
const WIDE = 1.5;
/** If the bounds are wider, the position of the next rate between them, as an exponent. */
const TRY = 0.25;
/** The greatest decrease at once: a closed window looks like a rate of 0. */
const MOST_FALL = 4;

/** The rate chosen within the measured bounds, per ms. */
export interface NextRate {
  readonly perMs: number;
  /** The number of accepted attempts behind it. */
  readonly evidence: number;
  /** The excess that is tried first, as a share of the rate. */
  readonly excess: number;
}

/** Whether bounds are too far apart to count as one rate. */
export function isWide(least: number, most: number): boolean {
  return most > WIDE * least;
}

/** The rate to try between two bounds: nearer to the lower one. */
export function rateBetween(least: number, most: number): number {
  return least * Math.max(1, most / least) ** TRY;
}

/** @param before the rate so far, per ms */
export function nextRate(bounds: RateBounds, before: number): NextRate {
  const { least, most, best, isFull, hasChanged } = bounds;
  const isNarrow = !isWide(least, most);
  let perMs = isNarrow ? best : rateBetween(least, most);
  const behind = isNarrow ? bounds.evidence : Math.min(bounds.evidence, 1 / (most / least - 1));
  let evidence = Math.max(1, behind);
  if (perMs < before / MOST_FALL) {
    perMs = before / MOST_FALL;
    evidence = 1;
  }
  const mostEvidence = hasChanged ? CHANGED_EVIDENCE : MOST_EVIDENCE;
  const excess = isFull
    ? Math.min(MOST_EXCESS, 1 / Math.min(mostEvidence, evidence))
    : Math.max(LEAST_EXCESS, 1 / Math.max(1, bounds.evidence));
  return { perMs, evidence, excess };
}
