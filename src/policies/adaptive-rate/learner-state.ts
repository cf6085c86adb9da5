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

/** The fields of an object and of the objects in them, but for those that are left out. */
export function stateOf(object: object, omitted: ReadonlySet<string>): State {
  const fields = object as Readonly<Record<string, unknown>>;
  const state: Record<string, State> = {};
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (omitted.has(name) || typeof value === 'function') continue;
    state[name] = plain(value, omitted);
  }
  return state;
}

function plain(value: unknown, omitted: ReadonlySet<string>): State {
  if (typeof value === 'boolean' || Number.isFinite(value)) return value as State;
  const word = WORDS.get(value);
  if (word !== undefined) return word;
  if (Array.isArray(value)) return value.map((each) => plain(each, omitted));
  if (typeof value === 'object' && value !== null) return stateOf(value, omitted);
  return value as State;
}

/** Sets the fields of a new object to what `stateOf` has told of another one. */
export function restore(object: object, state: State): void {
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
