import { MappingType, type ValueMapping } from '@grafana/grafana-foundation-sdk/dashboard';
import { GATE_COLOURS, STATE } from './colours.ts';
import { LABELS } from './metrics.ts';
import { max, series, sum } from './promql.ts';

/** Shows numbers as words: the n-th word for n. */
function words(...texts: readonly (readonly [text: string, colour: string])[]): ValueMapping[] {
  const options = texts.map(([text, color], index) => [String(index), { text, color, index }]);
  return [{ type: MappingType.ValueToText, options: Object.fromEntries(options) }];
}

const GATES = Object.entries(GATE_COLOURS);

/**
 * Which gate binds, as a number for each limiter: 0 for none, else its place in the order of
 * passing. Requests in an earlier queue wait because a later one does, so the last queue binds.
 */
export function bindingGate(): string {
  const kept = [LABELS.name, LABELS.gate];
  const ranked = GATES.map(([gate], index) => {
    const queued = series('queued', { [LABELS.gate]: `="${gate}"` });
    return `${index + 1} * (${sum(kept, queued)} > bool 0)`;
  });
  return max([LABELS.name], ranked.join(' or '));
}

export const BINDING_WORDS = words(['nothing waits', STATE.good], ...GATES);

/** How the states of a selector are read: as they are, or over the time up to the next point. */
type Read = (selector: string) => string;
const asItIs: Read = (selector) => selector;

/** 1 in throttled mode in any instance, else 0, for each limiter. */
export function throttledMode(read = asItIs): string {
  return max([LABELS.name], read(series('mode', { [LABELS.mode]: '="throttled"' })));
}

/** 1 while the API lets nothing in, else 0, for each limiter with a rate that adapts. */
export function outage(read = asItIs): string {
  return max([LABELS.name], read(series('outage')));
}

/** 1 while the circuit breaker is open, else 0, for each limiter that has one. */
export function breakerOpen(read = asItIs): string {
  return max([LABELS.name], read(series('circuit', { [LABELS.state]: '="open"' })));
}

/** 1 while its user has paused it, else 0, for each limiter. */
function paused(): string {
  return max([LABELS.name], series('paused'));
}

/** 1 while the API takes nothing for long, as it has said, else 0, for each limiter. */
function suspended(): string {
  return max([LABELS.name], series('suspended'));
}

/**
 * 0 in normal mode, 1 in throttled mode, 2 during an outage, 3 while paused, 4 while suspended, for
 * each limiter.
 */
export function modeInForce(): string {
  const stopped = `3 * (${paused()} == 1) or 4 * (${suspended()} == 1)`;
  return `${stopped} or 2 * (${outage()} == 1) or ${throttledMode()}`;
}

export const MODE_WORDS = words(
  ['normal', STATE.good],
  ['throttled', STATE.fair],
  ['outage', STATE.bad],
  ['paused', STATE.idle],
  ['suspended', STATE.bad],
);

/** 0 while the circuit breaker is closed, 1 while it is half-open, 2 while it is open. */
export function breakerState(): string {
  const kept = [LABELS.name, LABELS.state];
  const inState = (match: string) => max(kept, series('circuit', { [LABELS.state]: match }));
  const closed = `0 * ${inState('="closed"')}`;
  return max(
    [LABELS.name],
    `${closed} or ${inState('=~"half.open"')} or 2 * ${inState('="open"')}`,
  );
}

export const BREAKER_WORDS = words(
  ['closed', STATE.good],
  ['half-open', STATE.fair],
  ['open', STATE.bad],
);

/** 0 while the shared store answers, 1 while it is away and a share is used, 2 while nothing is sent. */
export function storeState(): string {
  const away = (meanwhile: string) =>
    max(['instance'], series('storeAway', { [LABELS.meanwhile]: `="${meanwhile}"` }));
  return `2 * (${away('pause')} == 1) or (${away('share')} == 1) or 0 * ${max(['instance'], series('storeAway'))}`;
}

export const STORE_WORDS = words(
  ['reached', STATE.good],
  ['away: goes on with its share', STATE.fair],
  ['away: nothing is sent', STATE.bad],
);

/**
 * The concurrency limit of the mode in force: the other is what it would be. An outage has no limit
 * of its own: then it is the usual one. One series for each instance, as instances may be in
 * different modes.
 */
export function limitInForce(): string {
  const usual = series('concurrencyLimit', { [LABELS.mode]: '="normal"' });
  const isOut = `${series('mode', { [LABELS.mode]: '="outage"' })} == 1`;
  const inOutage = `${usual} and ignoring (${LABELS.mode}) (${isOut})`;
  return `(${series('concurrencyLimit')} and (${series('mode')} == 1) or ${inOutage})`;
}
