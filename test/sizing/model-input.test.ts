import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateBytes } from '../../src/sizing/estimate.ts';
import {
  type Datum,
  estimateChunkBytes,
  estimateDataBytes,
  estimateDatumBytes,
  estimateLossFnInputsBytes,
  estimateModelInputBytes,
  type ModelInput,
  type ModelInputChunk,
} from '../../src/sizing/model-input.ts';

const text = (...tokens: number[]): ModelInputChunk => ({ type: 'encoded_text', tokens });
const image = (bytes: number): ModelInputChunk => ({ type: 'image', data: new Uint8Array(bytes) });
const example = (...tokens: number[]): Datum => ({
  modelInput: { chunks: [text(...tokens)] },
  lossFnInputs: {},
});

describe('chunks (seed: 002)', () => {
  it('an image counts its data as it is', () => {
    expect(estimateChunkBytes({ type: 'image', data: Buffer.from([0, 1, 2, 3, 4]) })).toBe(5);
    expect(estimateChunkBytes({ type: 'image', data: new ArrayBuffer(6) })).toBe(6);
    expect(estimateChunkBytes({ type: 'image', data: new Float64Array(2) })).toBe(16);
  });

  it('base64 text of an image counts as the bytes that it stands for', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (data) => {
        const base64 = Buffer.from(data).toString('base64');
        expect(estimateChunkBytes({ type: 'image', data: base64 })).toBe(data.length);
      }),
    );
  });

  it('an image asset pointer counts the UTF-8 of its location', () => {
    const location = 'tinker://path/to/asset';
    expect(estimateChunkBytes({ type: 'image_asset_pointer', location })).toBe(22);
    expect(estimateChunkBytes({ type: 'image_asset_pointer', location: 'a/ü/水' })).toBe(8);
    expect(estimateChunkBytes({ type: 'image_asset_pointer' })).toBe(0);
  });

  it('encoded text counts ten bytes a token', () => {
    expect(estimateChunkBytes(text(1, 2, 3, 4, 5))).toBe(50);
    expect(estimateChunkBytes({ type: 'encoded_text', tokens: new Uint32Array(7) })).toBe(70);
    expect(estimateChunkBytes({ type: 'encoded_text' })).toBe(0);
  });

  it('a chunk without a type is told by its fields', () => {
    expect(estimateChunkBytes({ tokens: [1, 2] })).toBe(20);
    expect(estimateChunkBytes({ location: 'abc' })).toBe(3);
    expect(estimateChunkBytes({ data: 'AAAA' })).toBe(3);
  });

  it('a type goes before fields', () => {
    expect(estimateChunkBytes({ type: 'image', data: 'AAAA', tokens: [1, 2], location: 'x' })).toBe(
      3,
    );
    expect(estimateChunkBytes({ type: 'audio', data: 'AAAA', tokens: [1, 2] })).toBe(0);
  });

  it('a chunk of another kind counts ten bytes for each of its length', () => {
    expect(estimateChunkBytes({ length: 4 })).toBe(40);
    for (const length of [-4, 0.5, Number.NaN, '4']) {
      expect(estimateChunkBytes({ length })).toBe(0);
    }
  });

  it.each([{ unknown: true }, {}, null, undefined, 7, 'text'])(
    'an unknown chunk counts nothing: %s',
    (chunk) => {
      expect(estimateChunkBytes(chunk)).toBe(0);
    },
  );
});

describe('model inputs (seed: 002)', () => {
  it('sum their chunks', () => {
    expect(estimateModelInputBytes({ chunks: [text(1, 2, 3), image(8)] })).toBe(38);
  });

  it('without chunks are 0', () => {
    expect(estimateModelInputBytes({ chunks: [] })).toBe(0);
    for (const none of [{}, { chunks: 'text' }, null, 'text']) {
      expect(estimateModelInputBytes(none)).toBe(0);
    }
  });

  it('leave unknown chunks out', () => {
    expect(estimateModelInputBytes({ chunks: [{ unknown: true }, text(1), null] })).toBe(10);
  });
});

describe('inputs of loss functions (seed: 002)', () => {
  it('count ten bytes a number', () => {
    const inputs = { target_tokens: { data: [1, 2, 3, 4, 5], dtype: 'int32' } };
    expect(estimateLossFnInputsBytes(inputs)).toBe(50);
  });

  it('sum several', () => {
    const inputs = {
      target_tokens: { data: [1, 2, 3], dtype: 'int32' },
      weights: { data: [0.1, 0.2, 0.3, 0.4], dtype: 'float32' },
    };
    expect(estimateLossFnInputsBytes(inputs)).toBe(70);
  });

  it('may be arrays, typed arrays and nested arrays', () => {
    expect(estimateLossFnInputsBytes({ a: [1, 2, 3, 4] })).toBe(40);
    expect(estimateLossFnInputsBytes({ a: new Float32Array(4) })).toBe(40);
    expect(estimateLossFnInputsBytes({ a: { data: new BigInt64Array(4) } })).toBe(40);
    const cube = [
      [[1, 2], [3]],
      [[4, 5, 6], []],
    ];
    expect(estimateLossFnInputsBytes({ a: cube, b: { data: cube } })).toBe(120);
    expect(estimateLossFnInputsBytes({ a: [new Float32Array(3), new Float32Array(2)] })).toBe(50);
  });

  it('of another kind count nothing', () => {
    for (const unknown of [null, undefined, 5, 'text', {}, { data: 'text' }, { data: null }]) {
      expect(estimateLossFnInputsBytes({ unknown, known: [1] })).toBe(10);
    }
    for (const none of [{}, null, undefined]) expect(estimateLossFnInputsBytes(none)).toBe(0);
  });
});

describe('training examples (seed: 002)', () => {
  const camel: Datum = {
    modelInput: { chunks: [text(1, 2, 3)] },
    lossFnInputs: { target_tokens: { data: [1, 2], dtype: 'int32' } },
  };

  it('combine model input and loss-function inputs', () => {
    expect(estimateDatumBytes(camel)).toBe(50);
  });

  it('may come under the names of the wire', () => {
    const { modelInput: model_input, lossFnInputs: loss_fn_inputs } = camel;
    expect(estimateDatumBytes({ model_input, loss_fn_inputs })).toBe(50);
  });

  it('may lack either', () => {
    expect(estimateDatumBytes({ modelInput: camel.modelInput })).toBe(30);
    expect(estimateDatumBytes({ lossFnInputs: camel.lossFnInputs })).toBe(20);
    for (const none of [{}, null, 'text']) expect(estimateDatumBytes(none)).toBe(0);
  });

  it('in a list are summed', () => {
    expect(estimateDataBytes([example(1, 2), example(1, 2, 3)])).toBe(50);
    expect(estimateDataBytes([])).toBe(0);
    expect(estimateDataBytes(camel)).toBe(0);
  });
});

describe('estimateBytes tells them by their shape', () => {
  const chunk = fc.oneof(
    fc.array(fc.nat()).map((tokens) => text(...tokens)),
    fc.nat(100).map(image),
    fc.string().map((location): ModelInputChunk => ({ type: 'image_asset_pointer', location })),
  );
  const modelInput = fc.array(chunk).map((chunks): ModelInput => ({ chunks }));
  const tensor = fc.array(fc.double()).map((data) => ({ data, dtype: 'float32' }));
  const inputs = fc.dictionary(fc.string(), tensor);

  it('as the functions for each do', () => {
    fc.assert(
      fc.property(chunk, modelInput, inputs, (oneChunk, input, lossFnInputs) => {
        const datum = { modelInput: input, lossFnInputs };
        const wire = { model_input: input, loss_fn_inputs: lossFnInputs };
        expect(estimateBytes(oneChunk)).toBe(estimateChunkBytes(oneChunk));
        expect(estimateBytes(input)).toBe(estimateModelInputBytes(input));
        expect(estimateBytes(datum)).toBe(estimateDatumBytes(datum));
        expect(estimateBytes(wire)).toBe(estimateDatumBytes(datum));
        expect(estimateBytes([datum, wire])).toBe(estimateDataBytes([datum, datum]));
      }),
    );
    expect(estimateBytes({ data: [[1, 2], [3]], dtype: 'int64' })).toBe(30);
  });

  it('and takes objects that merely share a name for what they are', () => {
    const other = [
      { chunks: ['a text', 'another'] },
      { chunks: [{ text: 'a paragraph' }] },
      { data: 'AAAA' },
      { type: 'image', url: 'https://a.io', caption: 'a text' },
      { type: 'image_asset_pointer', id: 1 },
      { location: 'Berlin' },
      { modelInput: 'text' },
      { modelInput: { text: 'a text' } },
      { data: 'AAAA', dtype: 'int32' },
    ];
    for (const value of other) expect(estimateBytes(value)).toBe(JSON.stringify(value).length);
  });
});
