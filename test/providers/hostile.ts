import fc from 'fast-check';
import { BODIES, HEADERS, MORE_HEADERS, ODD_TEXTS } from './documented.ts';

const oddText = fc.constantFrom(...ODD_TEXTS);
const number = fc.oneof(
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -1, -0, 0, 1e300, 2 ** 53, 8, 14, 429, 503),
  fc.integer(),
  fc.double(),
);

/** Anything at all in the place of a value. */
export const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  oddText,
  number,
  fc.string({ maxLength: 20 }),
  fc.constantFrom<unknown>(
    null,
    undefined,
    true,
    [],
    {},
    1n,
    Symbol('x'),
    () => 429,
    new Date(0),
    new Date(Number.NaN),
    new Uint8Array(3),
    [['a']],
  ),
);

/** A documented text, cut, doubled, or with something put into it. */
function mangled(text: string): fc.Arbitrary<string> {
  return fc
    .tuple(fc.nat(), fc.constantFrom('cut', 'tail', 'double', 'insert', 'as is', 'as is'), oddText)
    .map(([seed, how, odd]) => {
      const at = text.length === 0 ? 0 : seed % text.length;
      if (how === 'cut') return text.slice(0, at);
      if (how === 'tail') return text.slice(at);
      if (how === 'double') return `${text}${text}`;
      return how === 'insert' ? `${text.slice(0, at)}${odd}${text.slice(at)}` : text;
    });
}

const headerEntry = fc
  .constantFrom(...Object.entries(HEADERS), ...MORE_HEADERS)
  .chain(([name, value]) =>
    fc.tuple(fc.constantFrom(name, name.toUpperCase()), fc.oneof(mangled(value), oddText)),
  );

/** Some headers, documented or not, as one of the things that hold headers. */
export const headers: fc.Arbitrary<unknown> = fc
  .tuple(
    fc.array(headerEntry, { maxLength: 8 }),
    fc.constantFrom('record', 'map', 'pairs', 'get', 'odd'),
    oddValue,
  )
  .map(([entries, how, odd]) => {
    if (how === 'map') return new Map<unknown, unknown>(entries);
    if (how === 'pairs') return entries;
    const record = Object.fromEntries(entries);
    if (how === 'get') return { get: (name: string) => record[name] };
    return how === 'odd' ? { ...record, 'retry-after': odd, date: odd } : record;
  });

/** One documented value after the other may be replaced by something odd. */
function mangledJson(value: unknown, odd: readonly unknown[], seed: number): unknown {
  let left = seed;
  const next = (n: number) => {
    left = (Math.imul(left, 1_103_515_245) + 12_345) >>> 0;
    return (left >>> 8) % n;
  };
  const visit = (inner: unknown): unknown => {
    if (next(9) === 0) return odd[next(odd.length)];
    if (Array.isArray(inner)) return inner.map(visit);
    if (typeof inner !== 'object' || inner === null) return inner;
    return Object.fromEntries(Object.entries(inner).map(([key, one]) => [key, visit(one)]));
  };
  return visit(value);
}

const body = fc
  .tuple(fc.constantFrom(...BODIES), fc.array(oddValue, { minLength: 1, maxLength: 3 }), fc.nat())
  .map(([documented, odd, seed]) => mangledJson(documented, odd, seed));

/** The JSON of a body, perhaps cut. */
export const bodyText: fc.Arbitrary<string> = fc
  .constantFrom(...BODIES)
  .map((one) => JSON.stringify(one))
  .chain(mangled);

/** An error as one of many clients would throw it, with much of it out of joint. */
export const thrown: fc.Arbitrary<unknown> = fc
  .tuple(
    fc.oneof(fc.constantFrom(429, 429, 400, 408, 410, 498, 503, 529), number, oddValue),
    body,
    bodyText,
    headers,
    fc.nat(11),
    oddValue,
  )
  .map(([status, json, text, held, how, odd]): unknown => {
    switch (how) {
      case 0:
        return { status, headers: held, error: json, code: odd };
      case 1:
        return { statusCode: status, responseHeaders: held, responseBody: text, data: json };
      case 2:
        return { lastError: { statusCode: status, responseBody: text }, errors: [odd] };
      case 3:
        return Object.assign(new Error(text), { status });
      case 4:
        return { response: { status, headers: held, data: json }, code: odd };
      case 5:
        return { name: odd, $metadata: { httpStatusCode: status }, $response: { headers: held } };
      case 6:
        return text;
      case 7:
        return { code: status, details: odd, metadata: held };
      case 8:
        return { cause: json, status, body: text };
      case 9:
        return { error: { error: { error: json } }, headers: held };
      case 10:
        return json;
      default:
        return odd;
    }
  });
