/** Describes a generated provider in one line. */
import type { Scenario } from './space.ts';

export function describeScenario(scenario: Scenario): string {
  const { kind, headers, load, countsRejected, latencyMs, latencySigma } = scenario;
  const { networkMs, rejectionMs, change, outage, outageMs, horizonMs, estimateBias } = scenario;
  return [
    `${kind} ${limitText(scenario)}`,
    `answers in ${timeText(latencyMs)} (sigma ${latencySigma.toFixed(2)}), network ${timeText(networkMs)}`,
    `rejects in ${timeText(rejectionMs)}${countsRejected && kind !== 'cap' ? ' and counts that' : ''}`,
    headers === 'nothing' ? 'tells nothing' : `headers ${headers}`,
    load,
    ...(kind === 'requests-and-tokens' ? [`estimates x${estimateBias.toFixed(2)}`] : []),
    ...(change === 'none' ? [] : [change]),
    ...(outage === 'none' ? [] : [`outage of ${timeText(outageMs)} by ${outage}`]),
    `runs ${timeText(horizonMs)}`,
  ].join('; ');
}

function limitText({ kind, limit, windowMs, perMs, burst }: Scenario): string {
  const perSecond = `${figure(1_000 * perMs)}/s`;
  switch (kind) {
    case 'cap':
      return `of ${limit} (${perSecond})`;
    case 'token-bucket':
    case 'gcra':
    case 'requests-and-tokens':
      return `of ${perSecond}, burst ${figure(burst)}`;
    default:
      return `of ${limit} in ${timeText(windowMs)} (${perSecond})`;
  }
}

function timeText(ms: number): string {
  if (ms < 1_000) return `${figure(ms)} ms`;
  if (ms < 600_000) return `${figure(ms / 1_000)} s`;
  return ms < 36_000_000 ? `${figure(ms / 60_000)} min` : `${figure(ms / 3_600_000)} h`;
}

function figure(value: number): string {
  return value >= 100 ? value.toFixed(0) : `${Number(value.toPrecision(2))}`;
}
