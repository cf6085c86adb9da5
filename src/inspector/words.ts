import { bytes, count, duration, perWindow, plural, rate, shownName, spaced } from './format.ts';
import { type GateState, isThrottled, windowOf } from './gate-state.ts';
import type { RecentCalls } from './recent-calls.ts';
import { plain, run, stillRun, stopWords, type Words, waits } from './stop-words.ts';
import type { Condition, Gate } from './wire.ts';

/** Conditions that failed calls have caused. */
const EXPLAINED: readonly Condition[] = ['outage', 'circuitOpen'];

/** The state of a gate in words. The most serious condition is chosen. */
export function wordsOf(state: GateState, perSecond: number, calls: RecentCalls): Words {
  const { failures, refusals, silence, areFailing } = calls;
  const stopped = lifecycleWords(state) ?? stopWords(state);
  if (stopped !== undefined) {
    const hint = EXPLAINED.includes(stopped.condition) ? failures : '';
    return { ...stopped, hint: [stopped.hint, hint].filter(Boolean).join(' ') };
  }
  const words = waitWords(state) ?? flowWords(state, perSecond);
  const hint = [failures, refusals, silence, words.hint].filter(Boolean).join(' ');
  if (!areFailing) return { ...words, hint };
  return {
    ...words,
    condition: 'failing',
    headline: `Most calls fail; ${waits(state.waiting)}.`,
    hint,
  };
}

function lifecycleWords({
  lifecycle,
  waiting,
  running,
  pauseReason,
}: GateState): Words | undefined {
  switch (lifecycle) {
    case 'closed':
      return plain('closed', 'It takes no requests, and all have ended.');
    case 'draining':
      return plain('draining', `It takes no new requests; ${waits(waiting)} and ${run(running)}.`);
    case 'paused':
      return plain(
        'paused',
        `Nothing is sent; ${waits(waiting)}.`,
        [pauseReason && `Reason: ${shownName(pauseReason, 120)}.`, stillRun(running)]
          .filter(Boolean)
          .join(' '),
      );
    case 'running':
      return undefined;
  }
}

function waitWords(state: GateState): Words | undefined {
  const { binding, waiting, nextInMs, longestWaitMs } = state;
  if (binding === undefined) return undefined;
  const condition = isThrottled(state) ? 'throttled' : 'held';
  const hints = [`The first has waited for ${duration(longestWaitMs)}.`];
  if (condition === 'throttled') hints.push(modeHint(state));
  return {
    condition,
    headline: `${waits(waiting)}: ${reason(state)}.`,
    hint: hints.join(' '),
    leftMs: isTimed(binding, nextInMs) ? nextInMs : undefined,
    leftLabel: 'Next in',
  };
}

/** Shorter waits for the next request are not shown: their number would only flicker. */
const LEAST_TOLD_MS = 1_000;

/** Whether the first waiting request is sent at a known time that is worth showing. */
function isTimed(binding: Gate, nextInMs: number | undefined): boolean {
  if (binding === 'concurrency' || binding === 'byteBudget') return false;
  return nextInMs !== undefined && nextInMs >= LEAST_TOLD_MS;
}

/** The end of throttled mode, or the time of the provider's last rejection. */
function modeHint({ throttledForMs, rate: adaptive }: GateState): string {
  if (throttledForMs > 0) return `Throttled mode ends in ${duration(throttledForMs)}.`;
  const ago = adaptive?.sinceCutMs;
  if (ago === undefined) return 'The provider has turned requests away lately.';
  return `The provider turned a request away ${duration(ago)} ago.`;
}

/** The cause of a wait, where it is a limit that all keys of a group share. */
const SHARED_REASONS: Readonly<Partial<Record<Gate, string>>> = {
  concurrency: 'all slots that the keys of its group share are taken',
  byteBudget: 'the bytes that the keys of its group share are in flight',
  pace: 'the keys of its group share a pace',
  costBudget: 'the budget of money that the keys of its group share is used up for now',
};

/** The cause of the wait of the first waiting request. */
function reason(state: GateState): string {
  const { binding, bytes: budget, intervalMs, circuit, isSharedBinding } = state;
  const shared = isSharedBinding && binding !== undefined ? SHARED_REASONS[binding] : undefined;
  if (shared !== undefined) return shared;
  switch (binding) {
    case 'concurrency':
      return slotReason(state);
    case 'byteBudget':
      return `${bytes(budget.used)} of ${bytes(budget.limit)} are in flight`;
    case 'backoff':
      return 'the provider asked for a pause';
    case 'circuitBreaker':
      return `the circuit is ${circuit?.state ?? 'open'}`;
    case 'rateLimit':
      return limitReason(state);
    case 'pace':
      return rateReason(state) ?? `one goes every ${duration(intervalMs ?? 0)}`;
    case 'retry':
      return 'a failed request is sent again after a delay';
    case 'costBudget':
      return 'the budget of money is used up for now';
    case 'paused':
      return 'it is paused';
    case 'shared':
      return storeReason(state);
    case undefined:
      return '';
    default:
      return `the ${spaced(binding)} lets nothing pass for now`;
  }
}

function storeReason({ gate }: GateState): string {
  const isAway = gate.fleet?.snapshot()?.isAway === true;
  return `the store that workers share ${isAway ? 'cannot be reached' : 'has not answered yet'}`;
}

function slotReason({ gate, inFlight, limit, maxLimit, hasThrottledSlots }: GateState): string {
  // The other workers hold the slots that this worker does not use.
  if (gate.fleet !== undefined && inFlight < limit) {
    return `the workers of this key hold all ${count(limit)} slots`;
  }
  // A request may need several slots, all or none.
  if (inFlight < limit)
    return `${count(inFlight)} of ${count(limit)} slots are taken, and the first needs more`;
  if (hasThrottledSlots) {
    const taken = limit === 1 ? 'it is taken' : 'all are taken';
    return `throttled mode leaves ${plural(limit, 'slot')}, and ${taken}`;
  }
  const taken = limit === 1 ? 'the one slot is taken' : `all ${count(limit)} slots are taken`;
  return limit < maxLimit ? `${taken}; there may be up to ${count(maxLimit)}` : taken;
}

function limitReason(state: GateState): string {
  const { limits = {}, bindingLimit } = state;
  const names = Object.keys(limits);
  const name = bindingLimit ?? names[0];
  const usage = name === undefined ? undefined : limits[name];
  if (name === undefined || usage === undefined) return 'a shared limit is used up';
  const windowMs = windowOf(state, name, usage.limit) ?? 0;
  return `your limit allows ${count(usage.limit)} ${unitOf(name, usage.limit)} ${perWindow(windowMs)}`;
}

/** The unit of a limit: `1 request`, `20 requests`; a name that the user made stays as it is. */
function unitOf(name: string, limit: number): string {
  return limit === 1 ? (SINGULAR[name] ?? shownName(name, 40)) : shownName(name, 40);
}

const SINGULAR: Readonly<Record<string, string>> = {
  requests: 'request',
  tokens: 'token',
  bytes: 'byte',
};

/** A wait of more than so many intervals has another cause than the rate. */
const LONGEST_INTERVALS = 3;

/** The cause of a wait for an adaptive rate; undefined: the rate is fixed, or not known yet. */
function rateReason({ rate: adaptive, nextInMs = 0 }: GateState): string | undefined {
  if (adaptive === undefined) return undefined;
  const { tokens, perSecond, origin } = adaptive;
  // The rate itself would let the next request go much sooner, or none is known.
  const intervalMs = tokens === undefined ? 1_000 / perSecond : Number.POSITIVE_INFINITY;
  if (nextInMs >= LEAST_TOLD_MS && nextInMs > LONGEST_INTERVALS * intervalMs) {
    return 'the provider accepts no more for now, as its answers showed';
  }
  if (origin === 'start') return undefined;
  const isTokens = tokens !== undefined && tokens.origin === 'headers' && origin !== 'headers';
  const amount = isTokens ? rate(tokens.perSecond, 'token') : rate(perSecond);
  switch (isTokens ? 'headers' : origin) {
    case 'headers':
      return `what the provider reports as left allows ${amount} for now`;
    case 'learned':
      return adaptive.sinceCutMs === undefined
        ? `${amount} are sent, and more as long as none is rejected`
        : `the provider accepts about ${amount}, as its rejections showed`;
    case 'limit':
      return `your limit allows ${amount}`;
  }
}

function flowWords(state: GateState, perSecond: number): Words {
  const { inFlight, limit } = state;
  if (inFlight === 0 && perSecond === 0) {
    return plain('idle', 'No request waits or runs.');
  }
  const verb = inFlight === 1 ? 'is' : 'are';
  const slots = Number.isFinite(limit)
    ? `${count(inFlight)} of ${plural(limit, 'slot')} ${verb} in use`
    : `${plural(inFlight, 'slot')} ${verb} in use`;
  const headline = `Nothing waits: ${slots}.`;
  if (!isThrottled(state)) return plain('flowing', headline);
  return plain('throttled', headline, modeHint(state));
}
