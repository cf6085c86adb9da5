import { CARRIERS, contain, FACTS, type Probe, trust } from './probe.ts';

type Method = (...facts: unknown[]) => unknown;

const partsBy = new WeakMap<Probe, readonly Probe[]>();

/** The probes that one tells: itself, unless it was joined of several. */
export function partsOf(probe: Probe): readonly Probe[] {
  return partsBy.get(probe) ?? [probe];
}

/** One probe that tells several, in order, each once; each is contained for itself. Undefined: there is none. */
export function joinProbes(...probes: readonly (Probe | undefined)[]): Probe | undefined {
  const contained = [...new Set(probes.flatMap((probe) => contain(probe) ?? []))];
  if (contained.length < 2) return contained[0];
  const parts = [...new Set(contained.flatMap(partsOf))];
  const joined: Partial<Record<keyof Probe, Method>> = {};
  for (const method of FACTS) {
    const told = methodsOf(parts, method);
    if (told.length > 0) joined[method] = inTurn(told);
  }
  for (const method of CARRIERS) {
    const carriers = methodsOf(parts, method);
    if (carriers.length > 0) joined[method] = nested(carriers);
  }
  // What is around is known to the first that looks: only that one is told of it again.
  const around = parts.find((part) => part.around !== undefined)?.around;
  if (around !== undefined) joined.around = around;
  const openers = methodsOf(parts, 'opened');
  if (openers.length > 0) {
    joined.opened = (read) => {
      const closers = openers.map((open) => open(read) as () => void);
      return () => {
        for (const close of closers) close();
      };
    };
  }
  const whole = trust(joined as Probe);
  partsBy.set(whole, parts);
  return whole;
}

const united = new WeakMap<Probe, WeakMap<Probe, Probe>>();

/** `joinProbes` of two: the same probe for the same two. */
export function uniteProbes(one: Probe, other: Probe): Probe {
  if (one === other) return one;
  let known = united.get(one);
  if (known === undefined) {
    known = new WeakMap();
    united.set(one, known);
  }
  let whole = known.get(other);
  if (whole === undefined) {
    whole = joinProbes(one, other) ?? one;
    known.set(other, whole);
  }
  return whole;
}

function methodsOf(parts: readonly Probe[], method: keyof Probe): Method[] {
  return parts.flatMap((part) => (part[method] as Method | undefined) ?? []);
}

function inTurn([first, second, ...rest]: readonly Method[]): Method {
  if (first === undefined) return () => {};
  if (second === undefined) return first;
  const after = rest.length === 0 ? second : inTurn([second, ...rest]);
  return (...facts) => {
    first(...facts);
    after(...facts);
  };
}

function nested([outer, ...inner]: readonly Method[]): Method {
  if (outer === undefined) return (_subject, step) => (step as () => void)();
  if (inner.length === 0) return outer;
  const within = nested(inner);
  return (subject, step) => outer(subject, () => within(subject, step));
}
