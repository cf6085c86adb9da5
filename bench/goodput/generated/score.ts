/** Scores a run against the omniscient schedule of the same requests. */
import type { ServerLog } from './server.ts';
import type { Scenario } from './space.ts';

export interface Score {
  /**
   * In % of the omniscient schedule: accepted requests, or for bursts its drain time over the
   * client's.
   */
  readonly goodput: number;
  /** Rejections for each 1,000 accepted requests. */
  readonly rejectedPerMille: number;
  readonly accepted: number;
  readonly rejected: number;
  /** The number of minutes with more rejections than a well-behaved client has. */
  readonly floodedMinutes: number;
}

/**
 * Rejections in the first seconds are ignored: a client that does not know the limit must find it.
 */
const START_MS = 10_000;
const MINUTE_MS = 60_000;
/**
 * A minute is flooded if it has more rejections than this number, and than this share of its
 * successes.
 */
const FLOOD_REJECTIONS = 6;
const FLOOD_PART = 0.03;

export function scoreOf(
  scenario: Scenario,
  arrivals: readonly number[],
  bound: readonly number[],
  log: ServerLog,
): Score {
  const isBursts = scenario.load === 'bursts';
  const accepted = isBursts ? log.accepted : until(log.accepted, scenario.horizonMs);
  const rejected = isBursts ? log.rejected : until(log.rejected, scenario.horizonMs);
  const part = isBursts
    ? drainPart(scenario, arrivals, bound, accepted)
    : accepted.length / Math.max(1, bound.length);
  return {
    goodput: 100 * part,
    rejectedPerMille: (1_000 * rejected.length) / Math.max(1, accepted.length),
    accepted: accepted.length,
    rejected: rejected.length,
    floodedMinutes: floodedMinutes(accepted, rejected),
  };
}

function until(times: readonly number[], endMs: number): readonly number[] {
  return (times.at(-1) ?? 0) < endMs ? times : times.filter((at) => at < endMs);
}

/** The time until all bursts are answered: that of the omniscient schedule over the client's. */
function drainPart(
  { latencyMs, networkMs, horizonMs }: Scenario,
  arrivals: readonly number[],
  bound: readonly number[],
  accepted: readonly number[],
): number {
  let best = 0;
  let own = 0;
  const roundTripMs = latencyMs + 2 * networkMs;
  arrivals.forEach((arrival, index) => {
    if (arrivals[index + 1] === arrival) return;
    best += (bound[index] ?? 2 * horizonMs) - arrival + roundTripMs;
    own += (accepted[index] ?? 3 * horizonMs) - arrival + roundTripMs - networkMs;
  });
  return Math.min(1, best / own);
}

function floodedMinutes(accepted: readonly number[], rejected: readonly number[]): number {
  const good = byMinute(accepted);
  let flooded = 0;
  for (const [minute, count] of byMinute(rejected)) {
    if (count > Math.max(FLOOD_REJECTIONS, FLOOD_PART * (good.get(minute) ?? 0))) flooded += 1;
  }
  return flooded;
}

function byMinute(times: readonly number[]): Map<number, number> {
  const minutes = new Map<number, number>();
  for (const at of times) {
    if (at < START_MS) continue;
    const minute = Math.floor((at - START_MS) / MINUTE_MS);
    minutes.set(minute, (minutes.get(minute) ?? 0) + 1);
  }
  return minutes;
}
