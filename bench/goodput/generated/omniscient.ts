/** The best possible schedule: it knows the server's state, and has no network delay. */
import { answerTimes } from './answer-times.ts';
import { LimitSet, tokenSource } from './limit-set.ts';
import { grainMs } from './limits.ts';
import type { Scenario } from './space.ts';

/** When each request is accepted, in ms, in the order of arrival, up to the end of the run. */
export function omniscientTimes(
  scenario: Scenario,
  arrivals: readonly number[],
  endMs = scenario.horizonMs,
): number[] {
  const limits = new LimitSet(scenario);
  const tokens = tokenSource(scenario.seed);
  const service = new Service(scenario, limits);
  const times: number[] = [];
  let now = 0;
  for (const arrival of arrivals) {
    const cost = { tokens: tokens() };
    now = Math.max(now, arrival);
    for (;;) {
      now = afterOutage(scenario, now);
      service.advance(now);
      const waitMs = limits.waitMs(now, cost);
      if (waitMs === 0) break;
      const answerMs = service.nextMs - now;
      // A changing limit may accept the request sooner than it now predicts.
      now += Math.max(1e-6, Math.min(waitMs, answerMs, grainOf(scenario, waitMs)));
      if (now >= endMs) return times;
    }
    if (now >= endMs) return times;
    limits.admit(now, cost);
    service.begin(now);
    times.push(now);
  }
  return times;
}

function grainOf({ change, windowMs, latencyMs, kind }: Scenario, waitMs: number): number {
  if (!Number.isFinite(waitMs)) return kind === 'cap' ? latencyMs : windowMs;
  return change === 'none' ? waitMs : Math.max(grainMs(windowMs), 0.05);
}

function afterOutage({ outageFromMs, outageMs }: Scenario, now: number): number {
  const isOut = now >= outageFromMs && now < outageFromMs + outageMs;
  return isOut ? outageFromMs + outageMs : now;
}

/** The requests in flight, which only a cap needs. */
class Service {
  private readonly ends: number[] = [];
  private readonly scenario: Scenario;
  private readonly limits: LimitSet;
  private readonly nextAnswerMs: () => number;

  constructor(scenario: Scenario, limits: LimitSet) {
    this.scenario = scenario;
    this.limits = limits;
    this.nextAnswerMs = answerTimes(scenario);
  }

  get nextMs(): number {
    return this.ends[0] ?? Number.POSITIVE_INFINITY;
  }

  begin(now: number): void {
    if (this.scenario.kind !== 'cap') return;
    const end = now + this.nextAnswerMs();
    let low = 0;
    let high = this.ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.ends[middle] ?? 0) < end) low = middle + 1;
      else high = middle;
    }
    this.ends.splice(low, 0, end);
  }

  advance(now: number): void {
    while (this.nextMs <= now) {
      this.ends.shift();
      this.limits.release();
    }
  }
}
