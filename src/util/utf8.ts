const encoder = new TextEncoder();

/** The length of a text in UTF-8. Browsers have no `Buffer`, which makes no copy of the text. */
export const utf8Bytes: (text: string) => number =
  typeof Buffer === 'undefined' ? (text) => encoder.encode(text).length : Buffer.byteLength;
