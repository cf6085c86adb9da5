import type { FleetRateLearner } from './fleet-rate-learner.ts';

/** What a learner has learned, as JSON can say it. */
export type State =
  | number
  | string
  | boolean
  | null
  | readonly State[]
  | { readonly [name: string]: State };

/** What JSON has no words for. */
const WORDS = new Map<unknown, string>([
  [Number.POSITIVE_INFINITY, '+'],
  [Number.NEGATIVE_INFINITY, '-'],
  [undefined, '?'],
]);
const VALUES = new Map([...WORDS].map(([value, word]) => [word, value]));

/** What is not told to another learner: what is in flight, and what the next answers tell anew. */
const OMITTED = new Set([
  ...['hard', 'listener', 'requests', 'tokens', 'inFlight', 'reaction'],
  ...['reactsUntil', 'reactionMs', 'closure', 'resumed', 'mostMs', 'recent'],
  // Of the history of sends.
  ...['attempts', 'head', 'asked', '_unknown'],
]);

/** What a learner has learned, for another one that goes on. */
export function learnedBy(learner: FleetRateLearner): State {
  return stateOf(learner);
}

/** Lets a new learner go on from there. */
export function teach(learner: FleetRateLearner, state: State, now: number): void {
  learner.prepare(now);
  restore(learner, state);
  learner.resume(now);
}

/** The fields of an object and of the objects in them, but for those that are left out. */
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

/** Sets the fields of a new object to what `stateOf` has told of another one. */
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
