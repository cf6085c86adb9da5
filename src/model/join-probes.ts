import { CARRIERS, contain, FACTS, type Probe, trust } from './probe.ts';

type Method = (...facts: unknown[]) => unknown;

const partsBy = new WeakMap<Probe, readonly Probe[]>();

/** The probes that one tells: itself, unless it was joined of several. */
export function partsOf(probe: Probe): readonly Probe[] {
  return partsBy.get(probe) ?? [probe];
}

/** One probe that tells several, in order; each is contained for itself. Undefined: there is none. */
export function joinProbes(...probes: readonly (Probe | undefined)[]): Probe | undefined {
  const parts = probes.flatMap((probe) => contain(probe) ?? []);
  if (parts.length < 2) return parts[0];
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
