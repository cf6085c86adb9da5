import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { base64Bytes, mediaBytes, urlBytes } from '../../src/sizing/media.ts';
import { anyText } from '../support/any-text.ts';

const bytes = fc.uint8Array({ maxLength: 200 });
const encoding = fc.constantFrom('base64', 'base64url');
const blanks = fc.array(fc.tuple(fc.nat(300), fc.constantFrom(' ', '\n', '\r\n', '\t', '\f')));

/** Puts blanks into a text at any place. */
function scatter(text: string, places: readonly (readonly [number, string])[]): string {
  let scattered = text;
  for (const [place, blank] of places) {
    const at = place % (scattered.length + 1);
    scattered = scattered.slice(0, at) + blank + scattered.slice(at);
  }
  return scattered;
}

describe('base64Bytes', () => {
  it('is the length of what was encoded', () => {
    fc.assert(
      fc.property(bytes, encoding, (data, alphabet) => {
        expect(base64Bytes(Buffer.from(data).toString(alphabet))).toBe(data.length);
      }),
    );
  });

  it('does not mind blanks, also among the padding', () => {
    fc.assert(
      fc.property(bytes, encoding, blanks, (data, alphabet, places) => {
        const text = scatter(Buffer.from(data).toString(alphabet), places);
        expect(base64Bytes(text)).toBe(data.length);
      }),
    );
  });

  it('agrees with the decoder for any base64 characters, however many', () => {
    const character = fc.constantFrom(...'ABab01+/-_ \n\t');
    fc.assert(
      fc.property(fc.string({ unit: character }), fc.nat(3), (text, padding) => {
        const padded = text + '='.repeat(padding);
        expect(base64Bytes(padded)).toBe(Buffer.from(padded, 'base64').length);
      }),
    );
  });

  it('starts where it is told', () => {
    expect(base64Bytes('=\nAAAA', 2)).toBe(3);
  });
});

describe('mediaBytes', () => {
  it('counts text as base64, alone or in a data: URL', () => {
    expect(mediaBytes('iVBORw==')).toBe(4);
    expect(mediaBytes('data:image/png;base64,iVBORw==')).toBe(4);
  });

  it('counts binary data as it is, and nothing else', () => {
    expect(mediaBytes(new Uint8Array(7))).toBe(7);
    expect(mediaBytes(new ArrayBuffer(9))).toBe(9);
    expect(mediaBytes(new Blob(['abc']))).toBe(3);
    for (const none of [undefined, null, 5, {}, [1, 2]]) expect(mediaBytes(none)).toBe(0);
  });
});

describe('urlBytes', () => {
  it('is what a data: URL carries', () => {
    fc.assert(
      fc.property(bytes, encoding, (data, alphabet) => {
        const text = Buffer.from(data).toString(alphabet);
        expect(urlBytes(`data:image/png;base64,${text}`)).toBe(data.length);
        expect(urlBytes(`DATA:;charset=utf-8; Base64 ,${text}`)).toBe(data.length);
      }),
    );
  });

  it('takes the escapes out of a data: URL without base64', () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        const url = `data:image/svg+xml,${encodeURIComponent(text)}`;
        expect(urlBytes(url)).toBe(Buffer.byteLength(text));
      }),
    );
    expect(urlBytes('data:,100%')).toBe(4);
    expect(urlBytes('data:%41,ü')).toBe(2);
  });

  it('is the UTF-8 length of any other URL', () => {
    expect(urlBytes('https://example.com/ü.png')).toBe(26);
    expect(urlBytes('https://example.com/?u=data:;base64,AAAA')).toBe(40);
    expect(urlBytes('data:image/png;base64')).toBe(21);
  });
});
