import { utf8Bytes } from '../util/utf8.ts';
/**
 * The UTF-8 bytes of `JSON.stringify(text)`, quotes included, without making that string.
 *
 * Escapes are those of ECMA-262, QuoteJSONString: two characters for `"`, `\`, \b, \t, \n, \f and
 * \r, six (`\u001f`) for other control characters and for surrogates that stand alone.
 */
export function jsonStringBytes(text: string): number {
  return text.length < SHORT ? countEach(text) : 2 + utf8Bytes(text) + escapeBytes(text);
}

/** Up to this length (measured) a loop over the characters is faster than two native scans. */
const SHORT = 24;

function countEach(text: string): number {
  let bytes = 2;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x80) {
      bytes += code < 0x20 || code === QUOTE || code === BACKSLASH ? 1 + escapeExtra(code) : 1;
    } else if (code < 0x800) {
      bytes += 2;
    } else if (code < 0xd800 || code > 0xdfff) {
      bytes += 3;
    } else if (code < 0xdc00 && isLowSurrogate(text.charCodeAt(index + 1))) {
      bytes += 4;
      index++;
    } else {
      bytes += 6;
    }
  }
  return bytes;
}

/** The bytes that escaping adds to the UTF-8 of a text. */
function escapeBytes(text: string): number {
  let extra = 0;
  ESCAPED.lastIndex = 0;
  while (ESCAPED.test(text)) extra += escapeExtra(text.charCodeAt(ESCAPED.lastIndex - 1));
  return extra;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * With the flag `u`, the range of surrogates matches only lone surrogates, which UTF-8 cannot
 * encode.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what JSON escapes
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/gu;

/**
 * The bytes added: one for `\n` and the like, five for `\u001f` and the like, three for a surrogate
 * (6 instead of 3).
 */
function escapeExtra(code: number): number {
  if (code >= 0xd800) return 3;
  // 0x0b has no short escape.
  return code >= 0x20 || (code >= 0x08 && code <= 0x0d && code !== 0x0b) ? 1 : 5;
}

/** False for NaN too, which `charCodeAt` returns after the end of a text. */
function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
