/** Draws the arrival times of a run's requests. */
import type { Scenario } from './space.ts';

/** More requests than are ever admitted, so that there is always a backlog. */
const BACKLOG = 1.7;

/** Arrival times in ms, ascending. */
export function arrivalsOf(scenario: Scenario): readonly number[] {
  const { load, requests, perMs, horizonMs, burst, burstRequests, burstLoad } = scenario;
  if (load === 'saturated') {
    return new Array<number>(Math.ceil(BACKLOG * requests + burst + 10)).fill(0);
  }
  const times: number[] = [];
  if (load === 'bursts') {
    const periodMs = burstRequests / (burstLoad * perMs);
    for (let at = 0; at < horizonMs; at += periodMs) {
      for (let index = 0; index < burstRequests; index += 1) times.push(at);
    }
    return times;
  }
  const waveMs = horizonMs / 4;
  let at = 0;
  while (at < horizonMs) {
    times.push(at);
    at += 1 / (perMs * (0.8 + 0.6 * Math.sin((2 * Math.PI * at) / waveMs)));
  }
  return times;
}
