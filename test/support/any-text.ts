import fc from 'fast-check';

/** All code points except the surrogates. */
const CHARACTERS = 0x110000 - 0x800;

const character = fc.nat(CHARACTERS - 1).map(
  (index) => String.fromCodePoint(index < 0xd800 ? index : index + 0x800),
  (text) => {
    const code = typeof text === 'string' ? text.codePointAt(0) : undefined;
    if (code === undefined || text !== String.fromCodePoint(code)) throw new Error('no character');
    return code < 0xd800 ? code : code - 0x800;
  },
);

/**
 * Draws the same texts as `fc.string({ unit: 'binary' })`, for each seed. The original builds a
 * table of a million characters first, which takes a second and 100 MB in each process.
 */
export function anyText(constraints: { minLength?: number; maxLength?: number } = {}) {
  return fc.string({ ...constraints, unit: character });
}
