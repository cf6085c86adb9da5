import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateBytes, estimateTokens } from '../../src/sizing/estimate.ts';
import { jsonBytes } from '../../src/sizing/json.ts';
import { anyValue, stringifiedBytes, utf16Text } from './arbitraries.ts';

const fail = () => {
  throw new Error('no');
};

describe('estimateBytes', () => {
  it('of a string is its UTF-8, not its JSON', () => {
    fc.assert(
      fc.property(utf16Text, (text) => {
        expect(estimateBytes(text)).toBe(new TextEncoder().encode(text).length);
      }),
    );
  });

  it.each<[string, unknown, number]>([
    ['a Buffer', Buffer.alloc(5), 5],
    ['an ArrayBuffer', new ArrayBuffer(6), 6],
    ['a SharedArrayBuffer', new SharedArrayBuffer(7), 7],
    ['a typed array', new Float64Array(3), 24],
    ['a part of a typed array', new Uint32Array(8).subarray(2, 5), 12],
    ['a DataView', new DataView(new ArrayBuffer(9), 1, 4), 4],
    ['a Blob', new Blob(['ü', new Uint8Array(3)]), 5],
    ['a File', new File(['abcd'], 'a.txt'), 4],
  ])('of %s is what it holds', (_name, value, bytes) => {
    expect(estimateBytes(value)).toBe(bytes);
    expect(estimateTokens(value, bytes)).toBe(Math.ceil(bytes / 4));
  });

  it('of a plain object or a primitive that is no string is the length of its JSON', () => {
    const plain = fc.oneof(
      fc.dictionary(
        fc.string().map((key) => `field ${key}`),
        anyValue,
      ),
      fc.jsonValue().filter((value) => typeof value !== 'string' && !Array.isArray(value)),
    );
    fc.assert(
      fc.property(plain, (value) => {
        expect(estimateBytes(value)).toBe(stringifiedBytes(value));
      }),
    );
    expect(estimateBytes(null)).toBe(4);
    expect(estimateBytes(new Date(0))).toBe(26);
    expect(estimateBytes(new Map([[1, 2]]))).toBe(2);
  });

  it('of a list is the sum of its items, however they are nested', () => {
    fc.assert(
      fc.property(fc.array(anyValue), fc.array(anyValue), (left, right) => {
        const sum = [...left, ...right].reduce<number>(
          (bytes, item) => bytes + estimateBytes(item),
          0,
        );
        expect(estimateBytes([...left, ...right])).toBe(sum);
        expect(estimateBytes([[left], [[], [right]]])).toBe(sum);
      }),
    );
    expect(estimateBytes([])).toBe(0);
    expect(estimateBytes([1, 23, 456])).toBe(6);
    expect(estimateBytes(['ü', Buffer.alloc(3), { a: 1 }])).toBe(2 + 3 + 7);
  });

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['a function', fail],
    ['a symbol', Symbol('s')],
    ['a BigInt', 1n],
    ['an object with a BigInt', { a: 1n }],
    ['a toJSON that throws', { toJSON: fail }],
    ['a field that throws', Object.defineProperty({}, 'messages', { get: fail })],
    ['a proxy that throws', new Proxy({}, { get: fail })],
    ['a prototype that throws', new Proxy({}, { getPrototypeOf: fail })],
  ])('of %s is 0', (_name, value) => {
    expect(estimateBytes(value)).toBe(0);
    expect(estimateTokens(value, 0)).toBe(0);
    expect(estimateBytes([value, 'abc'])).toBe(3);
  });

  it('of a list that throws is 0', () => {
    expect(estimateBytes(new Proxy([1], { get: fail }))).toBe(0);
    expect(estimateTokens(new Proxy([1], { get: fail }), 8)).toBe(2);
  });

  it('of a list that holds itself is 0, wherever', () => {
    const list: unknown[] = ['abc'];
    list.push([{ a: 1 }, [list]]);
    expect(estimateBytes(list)).toBe(0);
    expect(estimateTokens(list, 0)).toBe(0);
  });

  it('goes no second time round a list that holds itself', () => {
    for (const length of [1, 2, 40]) {
      let reads = 0;
      const lists: unknown[][] = Array.from({ length }, (_, index) =>
        Object.defineProperty(['abc'], 0, {
          get: () => {
            reads++;
            return lists[(index + 1) % length];
          },
        }),
      );
      expect(estimateBytes(lists[0])).toBe(0);
      expect(reads).toBe(length);
    }
  });

  it('of lists nested deeper than any stack is exact', () => {
    let deep: unknown = 'abc';
    for (let depth = 0; depth < 100_000; depth++) deep = [deep];
    expect(estimateBytes(deep)).toBe(3);
    expect(estimateBytes({ deep })).toBe('{"deep":"abc"}'.length + 200_000);
  });

  it('of few lists that stand for very many is quick', () => {
    const double = (levels: number) => {
      let value: unknown = ['ab'];
      for (let level = 0; level < levels; level++) value = [value, value];
      return value;
    };
    expect(estimateBytes(double(40))).toBe(2 ** 41);
    expect(estimateBytes(double(2000))).toBe(0);
    expect(estimateBytes(new Array(2 ** 32 - 1))).toBe(0);
  });

  it('is a whole number for anything, and never throws', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const bytes = estimateBytes(value);
        expect(Number.isSafeInteger(bytes) && bytes >= 0).toBe(true);
        const tokens = estimateTokens(value, bytes);
        expect(Number.isSafeInteger(tokens) && tokens >= 0).toBe(true);
      }),
    );
  });

  it('leaves what it measures alone', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const before = JSON.stringify(value);
        estimateBytes(value);
        jsonBytes(value);
        expect(JSON.stringify(value)).toBe(before);
      }),
    );
  });
});

describe('estimateTokens', () => {
  const text = (...tokens: number[]) => ({ type: 'encoded_text', tokens });
  const image = { type: 'image', data: new Uint8Array(100) };
  const input = { chunks: [text(1, 2, 3), image, text(4)] };
  const tensor = { data: [1, 2, 3], dtype: 'int32' };
  const datum = { modelInput: input, lossFnInputs: { weights: tensor } };
  const tokensOf = (value: unknown) => estimateTokens(value, estimateBytes(value));

  it('of text and of anything else is a quarter of the bytes, rounded up', () => {
    fc.assert(
      fc.property(fc.nat(), (bytes) => {
        for (const value of ['text', 5, null, undefined, {}, [], ['text', { a: 1 }], new Date()]) {
          expect(estimateTokens(value, bytes)).toBe(Math.ceil(bytes / 4));
        }
      }),
    );
  });

  it('of model inputs and training examples is that of their encoded text, exactly', () => {
    expect(tokensOf(input)).toBe(4);
    expect(tokensOf(datum)).toBe(4);
    expect(tokensOf({ model_input: input, loss_fn_inputs: {} })).toBe(4);
    expect(tokensOf(text(1, 2))).toBe(2);
    expect(tokensOf({ chunks: [text(1), { length: 4 }] })).toBe(5);
    for (const none of [image, tensor, { chunks: [] }]) expect(tokensOf(none)).toBe(0);
  });

  it('does not depend on the bytes where the tokens are known', () => {
    const message = { role: 'user', content: 'abcde' };
    expect(estimateTokens(datum, 999)).toBe(4);
    expect(estimateTokens({ messages: [message] }, 999)).toBe(2);
    expect(estimateTokens([datum, message], 999)).toBe(6);
  });

  it('of a list adds what is known and a quarter of the rest, rounded up once', () => {
    const message = { role: 'user', content: [{ type: 'text', text: 'abcde' }, image] };
    expect(tokensOf([datum, datum])).toBe(8);
    expect(tokensOf([message, message])).toBe(3);
    expect(tokensOf(['a', 'b', 'c'])).toBe(1);
    expect(tokensOf([[input, 'ab'], [[message]], { b: 1 }, 5, tensor])).toBe(4 + Math.ceil(15 / 4));
  });
});
