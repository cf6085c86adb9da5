import type { FleetRateLearner } from './fleet-rate-learner.ts';

/** The state of a learner, as JSON. */
export type State =
  | number
  | string
  | boolean
  | null
  | readonly State[]
  | { readonly [name: string]: State };

/** Values that JSON cannot represent, and the strings that stand for them. */
const WORDS = new Map<unknown, string>([
  [Number.POSITIVE_INFINITY, '+'],
  [Number.NEGATIVE_INFINITY, '-'],
  [Number.NaN, 'n'],
  [undefined, '?'],
]);
const VALUES = new Map([...WORDS].map(([value, word]) => [word, value]));

/**
 * Fields that are not passed on: attempts in flight, and values that the next answers set again.
 */
const OMITTED = new Set([
  ...['hard', 'listener', 'requests', 'reaction'],
  ...['reactsUntil', 'reactionMs', 'closure', 'resumed', 'mostMs', 'recent', 'waitsUntil'],
  // Of the history of sends.
  ...['attempts', 'head', 'asked', '_unknown', 'inFlight'],
]);

/** The state of a learner, for another learner that continues from it. */
export function learnedBy(learner: FleetRateLearner): State {
  return stateOf(learner);
}

/** Lets a new learner continue from the state of another one. */
export function teach(learner: FleetRateLearner, state: State, now: number): void {
  learner.prepare(now);
  restore(learner, state);
  learner.resume(now);
}

/** The fields of an object, also those of nested objects, without the omitted ones. */
function stateOf(object: object): State {
  const fields = object as Readonly<Record<string, unknown>>;
  const state: Record<string, State> = {};
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (OMITTED.has(name) || typeof value === 'function') continue;
    state[name] = plain(value);
  }
  return state;
}

function plain(value: unknown): State {
  if (typeof value === 'boolean' || Number.isFinite(value)) return value as State;
  const word = WORDS.get(value);
  if (word !== undefined) return word;
  if (Array.isArray(value)) return value.map((each) => plain(each));
  if (typeof value === 'object' && value !== null) return stateOf(value);
  return value as State;
}

/** Sets the fields of a new object to the state that `stateOf` returned for another one. */
function restore(object: object, state: State): void {
  if (typeof state !== 'object' || state === null || Array.isArray(state)) return;
  const fields = object as Record<string, unknown>;
  for (const [name, value] of Object.entries(state)) {
    const present = fields[name];
    const isPart =
      typeof present === 'object' && present !== null && !Array.isArray(present) && value !== '?';
    if (!Object.hasOwn(fields, name)) continue;
    if (isPart) restore(present, value);
    else fields[name] = parsed(value);
  }
}

function parsed(value: State): unknown {
  if (typeof value === 'string') return VALUES.get(value);
  if (Array.isArray(value)) return value.map(parsed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, parsed(each)]));
}
