import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readLines } from '../../../src/batch/input/lines.ts';

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

async function linesOf(text: string, size: number) {
  const lines = [];
  for await (const line of readLines(inPieces(Buffer.from(text), size))) lines.push(line);
  return lines;
}

it('are the same in pieces of any size', async () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'ä', '🙂', '\n', '\r', ' ') });
  await fc.assert(
    fc.asyncProperty(text, fc.integer({ min: 1, max: 9 }), async (whole, size) => {
      const lines = await linesOf(whole, size);
      const expected = whole.split('\n');
      if (expected.at(-1) === '') expected.pop();
      expect(lines.map((line) => line.text)).toEqual(
        expected.map((line) => line.replace(/\r$/, '')),
      );
      expect(lines.map(({ number }) => number)).toEqual(lines.map((_, index) => index + 1));
      // Each says where the next one begins.
      let end = 0;
      for (const [index, line] of lines.entries()) {
        end += Buffer.byteLength(expected[index] ?? '') + (line.isWhole ? 1 : 0);
        expect(line.end).toBe(end);
      }
      expect(lines.every(({ isWhole }, index) => isWhole || index === lines.length - 1)).toBe(true);
    }),
  );
});

it('are refused by number if they are not UTF-8', async () => {
  const bytes = new Uint8Array([97, 10, 0xc3, 10]);
  const read = async () => {
    for await (const _line of readLines(inPieces(bytes, 10)));
  };
  await expect(read()).rejects.toMatchObject({
    line: 2,
    message: expect.stringContaining('UTF-8'),
  });
});

it('are refused if one has no end', async () => {
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (;;) yield new Uint8Array(8 * 1024 * 1024).fill(97);
  }
  const read = async () => {
    for await (const _line of readLines(endless()));
  };
  await expect(read()).rejects.toMatchObject({ line: 1, message: /longer than 64 MiB/ });
});
