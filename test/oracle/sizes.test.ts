import { expect, it } from 'vitest';
import { estimateBytes } from '../../src/index.ts';
import { recorded } from './fixtures.ts';

interface Chunk {
  readonly location?: string;
}

interface Input {
  readonly chunks: readonly Chunk[];
}

interface Case {
  readonly bytes: number;
  readonly input?: Input;
  readonly datum?: { readonly model_input: Input };
}

const cases = recorded<Case>('sizes');

/** How many bytes of locations are not characters of theirs. */
function wideBytes({ input, datum }: Case): number {
  const { chunks = [] } = input ?? datum?.model_input ?? {};
  const extra = ({ location = '' }: Chunk) => Buffer.byteLength(location) - [...location].length;
  return chunks.reduce((sum, chunk) => sum + extra(chunk), 0);
}

const sizeOf = ({ input, datum }: Case) => estimateBytes(input ?? datum);

it('has the size of a model input, or of training data, that tinker has', () => {
  const plain = cases.filter((each) => wideBytes(each) === 0);
  expect(plain.length).toBeGreaterThan(1_000);
  expect(plain.map(sizeOf)).toEqual(plain.map(({ bytes }) => bytes));
});

it('unlike tinker, which counts its characters, counts the bytes of a location', () => {
  const wide = cases.filter((each) => wideBytes(each) > 0);
  expect(wide.length).toBeGreaterThan(100);
  expect(wide.map(sizeOf)).toEqual(wide.map((each) => each.bytes + wideBytes(each)));
});
