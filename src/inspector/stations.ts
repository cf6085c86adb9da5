import { bytes, count, duration, rate, shownName } from './format.ts';
import type { GateState } from './gate-state.ts';
import type { Gate, Station } from './wire.ts';

type Part = Pick<Station, 'title' | 'text'> &
  Partial<Pick<Station, 'fill' | 'isClosed'>> & { readonly gate: Gate };

/** The policies of a gate, in the order in which they decide about a request. */
export function stationsOf(state: GateState): readonly Station[] {
  const parts = [
    backoffPart(state),
    circuitPart(state),
    limitPart(state),
    costPart(state),
    pacePart(state),
    slotsPart(state),
    bytesPart(state),
  ].filter((part) => part !== undefined);
  const { binding, waitingBy } = state;
  // Requests that wait for a retry wait before the gate, at none of its policies.
  return parts.map(({ fill, isClosed = false, ...part }) => ({
    ...part,
    fill,
    isClosed,
    isBinding: binding === part.gate,
    waiting: waitingBy[part.gate] ?? 0,
  }));
}

function backoffPart({ backoff }: GateState): Part {
  const title = 'Backoff';
  if (backoff.outage !== undefined)
    return { gate: 'backoff', title, text: 'unreachable: single probes', isClosed: true };
  if (backoff.suspended !== undefined) {
    const text = `suspended, ${duration(backoff.suspended.leftMs)} left`;
    return { gate: 'backoff', title, text, isClosed: true };
  }
  switch (backoff.state) {
    case 'closed':
      return {
        gate: 'backoff',
        title,
        text: `${duration(backoff.closedForMs)} left`,
        isClosed: true,
      };
    case 'probing':
      return { gate: 'backoff', title, text: 'a probe is in flight' };
    case 'open':
      return { gate: 'backoff', title, text: 'open' };
  }
}

function circuitPart({ circuit }: GateState): Part | undefined {
  if (circuit === undefined) return undefined;
  const { state, retryAfterMs, failures } = circuit;
  const left = state === 'open' ? `open, ${duration(retryAfterMs)} left` : 'half open';
  const text = state === 'closed' ? `closed, ${count(failures)} failed` : left;
  return { gate: 'circuitBreaker', title: 'Circuit', text, isClosed: state === 'open' };
}

/**
 * The limit that the first waiting request waits for, or else the limit with the greatest used
 * share.
 */
function limitPart({ limits, bindingLimit }: GateState): Part | undefined {
  if (limits === undefined) return undefined;
  const entries = Object.entries(limits).sort(
    ([, a], [, b]) => b.used / b.limit - a.used / a.limit,
  );
  const [name, usage] = entries.find(([each]) => each === bindingLimit) ?? entries[0] ?? [];
  if (name === undefined || usage === undefined) return undefined;
  const { used, limit } = usage;
  return {
    gate: 'rateLimit',
    title: 'Rate limits',
    text: `${count(used)} of ${count(limit)} ${shownName(name, 40)}`,
    fill: share(used, limit),
  };
}

function costPart({ costs }: GateState): Part | undefined {
  if (costs === undefined) return undefined;
  const { used, maxCost } = costs;
  return {
    gate: 'costBudget',
    title: 'Money',
    text: `${count(used)} of ${count(maxCost)}`,
    fill: share(used, maxCost),
  };
}

function pacePart({ rate: adaptive, intervalMs }: GateState): Part | undefined {
  if (adaptive === undefined) {
    if (intervalMs === undefined || intervalMs === 0) return undefined;
    return { gate: 'pace', title: 'Pace', text: `one every ${duration(intervalMs)}` };
  }
  const { perSecond, origin, isOut } = adaptive;
  const title = 'Pace';
  if (isOut) return { gate: 'pace', title, text: 'outage: single probes', isClosed: true };
  const isKnown = origin !== 'start' && Number.isFinite(perSecond);
  return {
    gate: 'pace',
    title,
    text: isKnown ? `${rate(perSecond)}, adapts` : 'adapts, no bound yet',
  };
}

function slotsPart({ inFlight, limit }: GateState): Part {
  return {
    gate: 'concurrency',
    title: 'Slots',
    text: `${count(inFlight)} of ${count(limit)}`,
    fill: share(inFlight, limit),
  };
}

function bytesPart({ bytes: { used, limit } }: GateState): Part {
  return {
    gate: 'byteBudget',
    title: 'Bytes',
    text: `${bytes(used)} of ${bytes(limit)}`,
    fill: share(used, limit),
  };
}

function share(used: number, limit: number): number {
  return limit > 0 && Number.isFinite(limit) ? Math.min(1, Math.max(0, used / limit)) : 0;
}
