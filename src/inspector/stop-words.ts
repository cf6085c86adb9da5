import type { SuspensionSnapshot } from '../policies/backoff.ts';
import { count, duration, plural } from './format.ts';
import type { GateState } from './gate-state.ts';
import type { Condition } from './wire.ts';

/** The state of a gate in words. */
export interface Words {
  readonly condition: Condition;
  readonly headline: string;
  readonly hint: string;
  /** The time until the state changes by itself, in ms, and below its label. */
  readonly leftMs: number | undefined;
  readonly leftLabel: string;
}

export function plain(condition: Condition, headline: string, hint = ''): Words {
  return { condition, headline, hint, leftMs: undefined, leftLabel: '' };
}

export function waits(waiting: number): string {
  if (waiting === 0) return 'nothing waits';
  return `${count(waiting)} ${waiting === 1 ? 'waits' : 'wait'}`;
}

export function run(inFlight: number): string {
  return inFlight === 0 ? 'none runs' : `${count(inFlight)} ${inFlight === 1 ? 'runs' : 'run'}`;
}

export function stillRun(inFlight: number): string {
  if (inFlight === 0) return '';
  return `${plural(inFlight, 'request')} that ${inFlight === 1 ? 'was' : 'were'} sent before still ${inFlight === 1 ? 'runs' : 'run'}.`;
}

/** Why nothing but a probe is sent, in words; undefined: requests flow. */
export function stopWords(state: GateState): Words | undefined {
  return (
    circuitWords(state) ??
    suspendedWords(state) ??
    unreachableWords(state) ??
    outageWords(state) ??
    backoffWords(state)
  );
}

function circuitWords({ circuit, waiting }: GateState): Words | undefined {
  if (circuit === undefined || circuit.state === 'closed') return undefined;
  const why = circuit.reason ?? `${plural(circuit.failures, 'request')} in a row failed`;
  if (circuit.state === 'half-open') {
    return plain(
      'circuitOpen',
      `The circuit is half open: a probe tests the provider; ${waits(waiting)}.`,
      `It opened because: ${why}.`,
    );
  }
  return {
    condition: 'circuitOpen',
    headline: `The circuit is open: nothing is sent; ${waits(waiting)}.`,
    hint: `It opened because: ${why}.`,
    leftMs: circuit.retryAfterMs,
    leftLabel: 'A probe is sent in',
  };
}

/** After an answer that concerns all requests: they fail until a time, or wait for it. */
function suspendedWords({ backoff, waiting, running }: GateState): Words | undefined {
  const { suspended } = backoff;
  if (suspended === undefined) return undefined;
  const { reason, onLongWait, leftMs } = suspended;
  const isWaiting = onLongWait === 'wait';
  return {
    condition: 'suspended',
    headline: `${SUSPENDED_BY[reason]}; ${isWaiting ? waits(waiting) : 'requests fail at once'}.`,
    hint: [isWaiting ? '' : suspendedHint(suspended), stillRun(running)].filter(Boolean).join(' '),
    leftMs,
    leftLabel: 'Sends again in',
  };
}

const SUSPENDED_BY = {
  longWait: 'The provider asked for a long wait',
  quota: 'The quota at the provider is used up',
  billing: 'The credit at the provider is used up',
} as const;

/** How long requests fail where a quota is used up whose end the provider does not name. */
const UNNAMED_END_MS = 60_000;

/** Requests can wait for an end that the provider has named. */
function suspendedHint({ reason, leftMs }: SuspensionSnapshot): string {
  const isNamed = reason === 'longWait' || leftMs > UNNAMED_END_MS;
  return isNamed ? "With onLongWait: 'wait' they would wait." : 'One request tests it then.';
}

/** While no connection can be made: requests wait for the provider, up to a bound. */
function unreachableWords({ backoff, waiting, running, nextInMs }: GateState): Words | undefined {
  const { outage } = backoff;
  if (outage === undefined) return undefined;
  const { sinceMs, leftMs, failedProbes } = outage;
  const probes = failedProbes === 0 ? '' : `, and ${plural(failedProbes, 'probe')} failed`;
  const end = Number.isFinite(leftMs)
    ? `Requests that wait fail in ${duration(leftMs)} if none is answered.`
    : 'Single probes are sent until one is answered.';
  const headline = `The provider cannot be reached; ${waits(waiting)}.`;
  const hint = `That has lasted for ${duration(sinceMs)}${probes}. ${end}`;
  if (nextInMs === undefined && running > 0) return plain('outage', headline, hint);
  return { condition: 'outage', headline, hint, leftMs: nextInMs, leftLabel: 'Next probe in' };
}

function outageWords({ rate: adaptive, waiting, nextInMs }: GateState): Words | undefined {
  if (adaptive?.isOut !== true) return undefined;
  return {
    condition: 'outage',
    headline: `The provider turns everything away; ${waits(waiting)}.`,
    hint: 'Single probes are sent until one goes well.',
    leftMs: nextInMs,
    leftLabel: 'Next probe in',
  };
}

function backoffWords({ backoff, waiting, running }: GateState): Words | undefined {
  if (backoff.state === 'probing') {
    return plain(
      'backoff',
      `A probe tests whether the provider accepts requests again; ${waits(waiting)}.`,
    );
  }
  if (backoff.state !== 'closed') return undefined;
  return {
    condition: 'backoff',
    headline: `Nothing is sent after a rejection; ${waits(waiting)}.`,
    hint: stillRun(running),
    leftMs: backoff.closedForMs,
    leftLabel: 'Sends again in',
  };
}
