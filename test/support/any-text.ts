import fc from 'fast-check';

/** Code points that are characters: all but the surrogates. */
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
 * The texts of `fc.string({ unit: 'binary' })`, the same ones for a seed. That one first makes a table
 * of a million characters: a second of computing in each process, and 100 MB that stay.
 */
export function anyText(constraints: { minLength?: number; maxLength?: number } = {}) {
  return fc.string({ ...constraints, unit: character });
}
