import { getOrMake } from '../util/collections.ts';
import {
  AROUND_METHODS,
  contain,
  EVENT_METHODS,
  type Instrumentation,
  trust,
} from './instrumentation.ts';

type Method = (...facts: unknown[]) => unknown;

const partsBy = new WeakMap<Instrumentation, readonly Instrumentation[]>();

/** The parts of a joined instrumentation; any other instrumentation is its only part. */
export function partsOf(instrumentation: Instrumentation): readonly Instrumentation[] {
  return partsBy.get(instrumentation) ?? [instrumentation];
}

/**
 * Joins several instrumentations into one, which calls each of them once, in order. An error of one
 * does not stop the others. Undefined if there is none.
 */
export function joinInstrumentations(
  ...instrumentations: readonly (Instrumentation | undefined)[]
): Instrumentation | undefined {
  const contained = [
    ...new Set(instrumentations.flatMap((instrumentation) => contain(instrumentation) ?? [])),
  ];
  if (contained.length < 2) return contained[0];
  const parts = [...new Set(contained.flatMap(partsOf))];
  const joined: Partial<Record<keyof Instrumentation, Method>> = {};
  for (const method of EVENT_METHODS) {
    const receivers = methodsOf(parts, method);
    if (receivers.length > 0) joined[method] = inTurn(receivers);
  }
  for (const method of AROUND_METHODS) {
    const carriers = methodsOf(parts, method);
    if (carriers.length > 0) joined[method] = nested(carriers);
  }
  // Only the first part that reads the surrounding context gets the context back.
  const around = parts.find((part) => part.around !== undefined)?.around;
  if (around !== undefined) joined.around = around;
  const askers = methodsOf(parts, 'needsArrival');
  // A part without `needsArrival` needs all arrivals.
  if (askers.length === parts.length) {
    joined.needsArrival = (feedback) => askers.some((needs) => needs(feedback));
  }
  const openers = methodsOf(parts, 'opened');
  if (openers.length > 0) {
    joined.opened = (read) => {
      const closers = openers.map((open) => open(read) as () => void);
      return () => {
        for (const close of closers) close();
      };
    };
  }
  const whole = trust(joined as Instrumentation);
  partsBy.set(whole, parts);
  return whole;
}

const united = new WeakMap<Instrumentation, WeakMap<Instrumentation, Instrumentation>>();

/** `joinInstrumentations` of two: returns the same instrumentation for the same two. */
export function uniteInstrumentations(
  one: Instrumentation,
  other: Instrumentation,
): Instrumentation {
  if (one === other) return one;
  const known = getOrMake(united, one, () => new WeakMap<Instrumentation, Instrumentation>());
  return getOrMake(known, other, () => joinInstrumentations(one, other) ?? one);
}

function methodsOf(parts: readonly Instrumentation[], method: keyof Instrumentation): Method[] {
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
