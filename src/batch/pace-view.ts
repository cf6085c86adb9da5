import type { LimiterOptions, LimiterSnapshot } from 'headgate';
import { duration, plural, rate as rateText } from './screen/text.ts';

const MINUTE_MS = 60_000;

/** How long the screen shows that the provider has rejected a request. */
const CUT_SHOWN_MS = 3_000;

/** A rate that differs from a limit of the user by less than this part is that limit. */
const TOLD_PART = 0.01;

/** The snapshot of an adaptive rate. */
type RateView = Extract<NonNullable<LimiterSnapshot['adaptive']>, { origin: unknown }>;

/** What holds requests back now, and how fast they may be sent. */
export interface PaceView {
  /** Requests that may be sent a second; undefined: nothing bounds them. */
  readonly perSecond: number | undefined;
  /**
   * The source of `perSecond`: a limit of the user, the provider's headers, the provider's 429s, or
   * none of these yet (`start`).
   */
  readonly source: 'limit' | 'headers' | 'learned' | 'start' | undefined;
  /** The reason why requests wait, in words; undefined: there is nothing to show. */
  readonly heldBy: string | undefined;
  /** To what rejections by the provider slow the run, in words; undefined: they do not. */
  readonly slowedTo: string | undefined;
  /** Requests in flight at the most now. */
  readonly limit: number;
}

/**
 * @param snapshots of the limiters: the one in which most requests wait is shown
 * @param options of the limiters
 */
export function paceOf(
  snapshots: readonly LimiterSnapshot[],
  options: LimiterOptions,
): PaceView | undefined {
  const fullest = snapshots.reduce<LimiterSnapshot | undefined>(
    (most, snapshot) => (most === undefined || snapshot.waiting > most.waiting ? snapshot : most),
    undefined,
  );
  return fullest && viewOf(fullest, options);
}

function viewOf(snapshot: LimiterSnapshot, options: LimiterOptions): PaceView {
  const { adaptive, concurrency, mode, binding, backoff, rateLimit } = snapshot;
  const rate: RateView | undefined =
    adaptive !== undefined && 'origin' in adaptive ? adaptive : undefined;
  const perSecond = rate && Number.isFinite(rate.perSecond) ? rate.perSecond : undefined;
  const source = rate && sourceOf(rate);
  const shownRate = source === 'limit' ? toldRate(perSecond, options) : perSecond;
  const isOut = rate?.isOut ?? false;
  const held =
    binding === undefined ? undefined : binding === 'concurrency' ? 'slots' : backoff.waitsFor;
  const isSlowed =
    isOut || (mode !== 'normal' && (source !== 'headers' || held === 'backoff' || isCut(rate)));
  const view = {
    perSecond,
    source,
    limit: concurrency.limit,
    slowedTo: isSlowed ? slowWords(isOut, held === 'backoff', perSecond) : undefined,
  };
  switch (held) {
    case undefined:
    case 'retry':
      return { ...view, heldBy: undefined };
    case 'slots':
      return { ...view, heldBy: slotWords(concurrency.limit, rate?.cap) };
    case 'byteBudget':
      return { ...view, heldBy: 'the bytes that may be in flight' };
    case 'backoff':
      return { ...view, heldBy: backoffWords(backoff, rate) };
    case 'circuitBreaker':
      return { ...view, heldBy: 'the circuit breaker' };
    case 'paused':
      return { ...view, heldBy: 'a pause' };
    case 'shared':
      return { ...view, heldBy: 'the store that workers share' };
    case 'rateLimit':
      if (rateLimit !== undefined && source !== 'headers' && source !== 'learned') {
        return { ...view, heldBy: ownLimit(rateLimit, options) };
      }
      return { ...view, heldBy: rateWords(source, shownRate) + longWords(snapshot.nextInMs) };
    default:
      return { ...view, heldBy: rateWords(source, shownRate) + longWords(snapshot.nextInMs) };
  }
}

/** A `learned` rate that no 429 has lowered is still the initial rate of the run. */
function sourceOf({ origin, sinceCutMs }: RateView): PaceView['source'] {
  return origin === 'start' || (origin === 'learned' && sinceCutMs === undefined)
    ? 'start'
    : origin;
}

/**
 * Whether a rejection has lowered the rate a short time ago. Throttled mode alone does not show
 * this: it also begins when headers report that a limit is used up.
 */
function isCut(rate: RateView | undefined): boolean {
  return rate?.sinceCutMs !== undefined && rate.sinceCutMs < CUT_SHOWN_MS;
}

/** @param perSecond the most that may be sent; undefined: only the slots are fewer */
function slowWords(isOut: boolean, isWaiting: boolean, perSecond: number | undefined): string {
  if (isOut) return 'single requests, until it accepts one';
  if (isWaiting) return 'nothing, until the wait has passed';
  if (perSecond === undefined) return 'fewer requests at a time, until it accepts more';
  return `at most ${rateText(perSecond)}, until it accepts more`;
}

function backoffWords({ outage }: LimiterSnapshot['backoff'], rate: RateView | undefined): string {
  if (outage !== undefined) return 'an outage of the server';
  if (rate?.isOut) return 'single probes, since the provider rejects everything';
  return rate === undefined ? 'the backoff after a rejection' : "the provider's request to wait";
}

function slotWords(limit: number, cap: number | undefined): string {
  const requests = plural(limit, 'request');
  if (cap !== undefined) return `${requests} at a time, which the provider allows`;
  return `${requests} in flight`;
}

function rateWords(source: PaceView['source'], perSecond: number | undefined): string {
  if (perSecond === undefined) return 'the rate limit';
  const rate = perMinute(perSecond);
  if (source === 'headers') return `the provider's limits, now ${rate}`;
  if (source === 'learned') return `${rate}, learned from rejections`;
  if (source === 'start') return `a careful start, now ${rate}`;
  return `your limit of ${rate}`;
}

/** The rate of the user's limit, in its own figure: requests are sent a little slower than it. */
function toldRate(
  perSecond: number | undefined,
  { requestsPerMinute }: LimiterOptions,
): number | undefined {
  if (perSecond === undefined || requestsPerMinute === undefined) return perSecond;
  const told = (requestsPerMinute * 1_000) / MINUTE_MS;
  return Math.abs(perSecond / told - 1) < TOLD_PART ? told : perSecond;
}

/** The time until the next request, if it is long. */
function longWords(nextInMs = 0): string {
  return nextInMs < MINUTE_MS ? '' : `; the next in ${duration(nextInMs)}`;
}

function perMinute(perSecond: number): string {
  const minute = perSecond * 60;
  if (minute === 1) return '1 request/min';
  if (minute < 0.1) return `${(minute * 60).toFixed(1)} requests/h`;
  return `${minute >= 10 ? Math.round(minute).toLocaleString('en') : minute.toFixed(1)} requests/min`;
}

/** The limit of the user that is used up most. */
function ownLimit(
  usage: NonNullable<LimiterSnapshot['rateLimit']>,
  { limits = {} }: LimiterOptions,
): string {
  const fullest = Object.entries(usage).sort(
    ([, a], [, b]) => b.used / b.limit - a.used / a.limit,
  )[0];
  if (fullest === undefined) return 'your limits';
  const [name, { limit }] = fullest;
  const windowMs = limits[name]?.windowMs ?? MINUTE_MS;
  const amount = `${limit.toLocaleString('en')} ${limit === 1 ? name.replace(/s$/, '') : name}`;
  if (windowMs === Number.POSITIVE_INFINITY) {
    return `your quota of ${amount}`;
  }
  const window = windowMs === MINUTE_MS ? 'min' : `${windowMs / 1_000} s`;
  return `your limit of ${amount}/${window}`;
}
