/** Things that may be thrown, and of which most cannot be printed. */

const revoked = () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};

const throwing = () => {
  throw Object.create(null);
};

/** Each call makes a new one. */
export const UNPRINTABLE: Readonly<Record<string, () => unknown>> = {
  'an object without a prototype': () => Object.create(null),
  'a revoked proxy': revoked,
  'a toString that throws': () => ({ toString: throwing, valueOf: throwing }),
  'an error whose fields throw': () =>
    Object.defineProperties(new Error('hidden'), {
      message: { get: throwing },
      name: { get: throwing },
      status: { get: throwing },
      headers: { get: throwing },
      cause: { get: throwing },
    }),
  'a proxy whose traps throw': () =>
    new Proxy(() => undefined, { get: throwing, has: throwing, getPrototypeOf: throwing }),
  'a symbol': () => Symbol('thrown'),
  undefined: () => undefined,
  null: () => null,
  'a bigint': () => 429n,
  'an error': () => new Error('of a callback'),
};

export const NAMES = Object.keys(UNPRINTABLE);

/** Throws one of them. */
export function throwOne(name: string): never {
  throw UNPRINTABLE[name]?.();
}
