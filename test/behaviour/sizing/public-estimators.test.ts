import { from } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { byteEstimate, chunkBy, estimateBytes } from '../../../src/index.ts';

const tokens = (count: number) => Array.from({ length: count }, (_, n) => n);

/** The inputs and the figures of the byte estimator that was the model for this one. */
describe('estimateBytes.chunk', () => {
  it.each([
    [{ type: 'image', data: new Uint8Array(5) }, 5],
    [{ type: 'image_asset_pointer', location: 'tinker://path/to/asset' }, 22],
    [{ type: 'encoded_text', tokens: tokens(5) }, 50],
    [{ type: 'encoded_text', data: tokens(5) }, 50],
    [{ type: 'encoded_text', length: 5 }, 50],
    [{ tokens: tokens(5) }, 50],
    [{ data: tokens(5) }, 50],
    [{ type: 'audio', length: 7 }, 70],
    [{ unknown: true }, 0],
    [undefined, 0],
  ])('of %j is %i', (chunk, bytes) => {
    expect(estimateBytes.chunk(chunk)).toBe(bytes);
  });
});

describe('estimateBytes.modelInput', () => {
  it.each([
    [
      [
        { type: 'encoded_text', data: tokens(3) },
        { type: 'image', data: new Uint8Array(8) },
      ],
      38,
    ],
    [[{ unknown: true }], 0],
    [[{ type: 'audio', length: 7 }], 70],
    [[], 0],
  ])('of the chunks %j is %i, as it is where the shape alone tells', (chunks, bytes) => {
    expect(estimateBytes.modelInput({ chunks })).toBe(bytes);
    expect(estimateBytes({ chunks })).toBe(bytes);
  });
});

describe('estimateBytes.datum and .list', () => {
  const example = (count: number, targets: number) => ({
    modelInput: { chunks: [{ type: 'encoded_text', data: tokens(count) }] },
    lossFnInputs: { target_tokens: { data: tokens(targets), dtype: 'int32' } },
  });

  it('a training example is its model input and the inputs of its loss function', () => {
    expect(estimateBytes.datum(example(3, 2))).toBe(50);
    expect(estimateBytes.datum({ loss_fn_inputs: { a: tokens(3), b: tokens(4) } })).toBe(70);
  });

  it('a list is the sum of its training examples', () => {
    expect(estimateBytes.list([example(2, 0), example(3, 0)])).toBe(50);
    expect(estimateBytes.list([])).toBe(0);
  });
});

describe('a shape that says nothing', () => {
  it.each([
    [{ tokens: tokens(3) }, 30],
    [{ type: 'encoded_text', data: tokens(3) }, 30],
  ])('%j is a chunk on its own', (chunk, bytes) => {
    expect(estimateBytes(chunk)).toBe(bytes);
  });

  it.each([
    { chunks: [{ text: 'a passage that was found' }] },
    { chunks: [{ parts: ['text'] }] },
    { chunks: ['text'] },
    { chunks: [{ length: 4 }, 'text'] },
    { tokens: [1, 2], prompt: 'a long text' },
    { tokens: ['a', 'b'] },
    { type: 'audio', length: 7 },
  ])('%j counts as its JSON, which is never too little', (value) => {
    expect(estimateBytes(value)).toBe(JSON.stringify(value).length);
  });
});

describe('the public estimators', () => {
  it('never throw', () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const { chunk, modelInput, datum, list } = estimateBytes;
    for (const estimate of [estimateBytes, chunk, modelInput, datum, list]) {
      expect(estimate(proxy)).toBe(0);
    }
  });

  it('are what an operator takes', () => {
    const sizes: number[] = [];
    const example = { modelInput: { chunks: [{ type: 'encoded_text', tokens: tokens(3) }] } };
    from([example, example])
      .pipe(byteEstimate(estimateBytes.datum), chunkBy({ maxBytes: 30 }))
      .subscribe(({ bytes }) => sizes.push(bytes));
    expect(sizes).toEqual([30, 30]);
  });
});
