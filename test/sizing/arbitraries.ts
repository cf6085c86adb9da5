/** Values that fast-check's own arbitraries rarely or never make. */
import fc from 'fast-check';
import { anyText } from '../support/any-text.ts';

const ESCAPES = '"\\\b\t\n\v\f\r\u0000\u001f\u007f/\u2028';
const SURROGATES = '\ud800\udbff\udc00\udfff';

/** Text of any UTF-16 code units: lone surrogates and control characters come up often. */
export const utf16Text = fc
  .array(
    fc.oneof(
      fc.constantFrom(...ESCAPES.split(''), ...SURROGATES.split('')),
      fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
      anyText(),
      fc.string({ unit: 'grapheme-ascii', minLength: 20 }),
    ),
  )
  .map((pieces) => pieces.join(''));

/** Any value that JSON may meet, with and without a JSON form. */
export const anyValue = fc.anything({
  key: utf16Text,
  maxDepth: 5,
  values: [
    utf16Text,
    fc.double(),
    fc.integer(),
    fc.boolean(),
    fc.constantFrom(null, undefined, Number.NaN, -0, Number.POSITIVE_INFINITY, 1e21, 5e-324),
    fc.constantFrom(Symbol('key'), () => 1, /pattern/),
  ],
  withBigInt: true,
  withBoxedValues: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withObjectString: true,
  withSet: true,
  withSparseArray: true,
  withTypedArray: true,
});

/** The size that `jsonBytes` must give; 0 where JSON.stringify gives or makes nothing. */
export function stringifiedBytes(value: unknown): number {
  try {
    return Buffer.byteLength(JSON.stringify(value) ?? '');
  } catch {
    return 0;
  }
}
