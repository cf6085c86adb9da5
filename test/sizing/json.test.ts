import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonBytes } from '../../src/sizing/json.ts';
import { runs } from '../support/runs.ts';
import { anyValue, stringifiedBytes, utf16Text } from './arbitraries.ts';

describe('jsonBytes equals the UTF-8 length of JSON.stringify', () => {
  it('for text of any UTF-16 code units', () => {
    fc.assert(
      fc.property(utf16Text, (text) => {
        expect(jsonBytes(text)).toBe(stringifiedBytes(text));
      }),
      { numRuns: runs(1_000) },
    );
  });

  it('for every code unit, in short text and in long', () => {
    for (let code = 0; code <= 0xffff; code++) {
      const unit = String.fromCharCode(code);
      const long = unit + 'x'.repeat(40) + unit;
      if (jsonBytes(unit) !== stringifiedBytes(unit)) expect.fail(`short, unit ${code}`);
      if (jsonBytes(long) !== stringifiedBytes(long)) expect.fail(`long, unit ${code}`);
    }
  });

  it('for JSON values', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        expect(jsonBytes(value)).toBe(stringifiedBytes(value));
      }),
    );
  });

  it('for anything at all', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        expect(jsonBytes(value)).toBe(stringifiedBytes(value));
      }),
      { numRuns: runs(1_000) },
    );
  });

  it('for anything behind a toJSON, which gets its key as a string', () => {
    fc.assert(
      fc.property(utf16Text, anyValue, (name, value) => {
        const converted = { toJSON: (key: unknown) => [typeof key, key, value] };
        for (const outer of [converted, [value, converted], { [name]: converted }]) {
          expect(jsonBytes(outer)).toBe(stringifiedBytes(outer));
        }
      }),
    );
  });

  it('for a value that occurs many times', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const twice = [value, { value }, value];
        const often = { twice, again: [twice, [twice]] };
        expect(jsonBytes(often)).toBe(stringifiedBytes(often));
      }),
    );
  });

  class Point {
    readonly x = 1;
    get inherited(): string {
      return 'skipped';
    }
  }
  const withProperties = Object.assign([1, 2], { skipped: true });
  const hidden = Object.defineProperty({ seen: 1 }, 'hidden', { value: 2, enumerable: false });

  it.each<[string, unknown]>([
    ['an empty object', {}],
    ['an empty array', []],
    ['null', null],
    ['minus zero', -0],
    ['numbers that are none', [Number.NaN, Number.POSITIVE_INFINITY]],
    ['numbers with an exponent', [1e21, 1e-7, -1.5e300]],
    ['absent members of an object', { a: undefined, b: () => 1, c: Symbol('c'), d: 1 }],
    ['absent items of an array', [undefined, () => 1, Symbol('c'), 1]],
    ['an object of absent members alone', { a: undefined }],
    ['holes', new Array(3)],
    ['symbol keys', { [Symbol('skipped')]: 1, kept: 2 }],
    ['getters of a class', new Point()],
    ['an inherited property', Object.create({ inherited: 1 }, {})],
    ['an object without a prototype', Object.assign(Object.create(null), { a: 1 })],
    ['a property that is not enumerable', hidden],
    ['an array with properties', withProperties],
    ['a Map', new Map([['a', 1]])],
    ['a Set', new Set([1])],
    ['a Date', new Date(0)],
    ['an invalid Date', [new Date(Number.NaN)]],
    ['a URL', new URL('https://example.com/ü')],
    ['a RegExp', /a/],
    ['an Error', new Error('message')],
    ['a Buffer', Buffer.from('bytes')],
    ['a typed array', new Uint16Array([1, 20, 300])],
    ['boxes', [Object(1), Object('ü'), Object(true), Object(Symbol('s'))]],
    ['a box with its own valueOf', Object.assign(Object(1), { valueOf: () => 1234 })],
    ['a BigInt', 1n],
    ['a BigInt deep inside', [{ a: 1n }]],
    ['a boxed BigInt', [Object(1n)]],
    ['undefined', undefined],
    ['a function', () => 1],
    ['a function with toJSON', Object.assign(() => 1, { toJSON: () => 'function' })],
    ['a symbol', Symbol('s')],
    ['a toJSON that is no function', { toJSON: 'text' }],
    ['a toJSON that returns undefined', { a: { toJSON: () => undefined }, b: 1 }],
    ['a toJSON beside which a toJSON is returned', { toJSON: () => ({ toJSON: () => 1 }) }],
    ['keys that need escapes', { 'a"\n\ud800ü': 1 }],
    ['numeric keys', { 2: 'b', 1: 'a' }],
  ])('for %s', (_name, value) => {
    expect(jsonBytes(value)).toBe(stringifiedBytes(value));
  });

  it('for a BigInt whose prototype has a toJSON', () => {
    Object.defineProperty(BigInt.prototype, 'toJSON', {
      configurable: true,
      value(this: bigint) {
        return this.toString();
      },
    });
    try {
      expect(jsonBytes({ id: 12n, box: Object(3n) })).toBe('{"id":"12","box":"3"}'.length);
    } finally {
      Reflect.deleteProperty(BigInt.prototype, 'toJSON');
    }
  });
});

describe('jsonBytes of what JSON.stringify cannot do', () => {
  it('is 0 where something throws', () => {
    const fail = () => {
      throw new Error('no');
    };
    expect(jsonBytes({ toJSON: fail })).toBe(0);
    expect(jsonBytes([{ a: 1, b: { toJSON: fail } }])).toBe(0);
    expect(jsonBytes(Object.defineProperty({}, 'a', { get: fail, enumerable: true }))).toBe(0);
    expect(jsonBytes(new Proxy({}, { ownKeys: fail }))).toBe(0);
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    expect(jsonBytes([revoked.proxy])).toBe(0);
  });

  it('is 0 for a cycle, however long', () => {
    const object = { before: 1, inner: { list: [] as unknown[] } };
    object.inner.list.push(object);
    expect(jsonBytes(object)).toBe(0);

    for (const length of [1, 2, 31, 32, 33, 34, 1000]) {
      const last: unknown[] = [];
      let first: unknown[] = last;
      for (let depth = 1; depth < length; depth++) first = [first];
      last.push(first);
      expect(jsonBytes(first)).toBe(0);
      expect(jsonBytes(['outside', first])).toBe(0);
    }
  });

  it('goes no second time round a cycle, wherever it starts', () => {
    for (const length of [1, 2, 32, 33, 34, 1000]) {
      for (const start of new Set([0, length >> 1, length - 1])) {
        let reads = 0;
        const nodes: object[] = Array.from({ length }, (_, index) => ({
          get next(): unknown {
            reads++;
            return nodes[index + 1] ?? nodes[start];
          },
        }));
        expect(jsonBytes(nodes[0])).toBe(0);
        expect(reads).toBe(length);
      }
    }
  });

  it('walks a big value once, however often it occurs', () => {
    let reads = 0;
    const big = {
      get zeros(): unknown {
        reads++;
        return new Array(60_000).fill(0);
      },
    };
    const once = jsonBytes(big);
    expect(once).toBe('{"zeros":[]}'.length + 120_000 - 1);
    expect(jsonBytes([big, [big], big])).toBe(3 * once + '[,[],]'.length);
    expect(reads).toBe(2);
  });

  it('is exact at a depth that overflows the stack of JSON.stringify', () => {
    let deep: unknown = 'ü';
    for (let depth = 0; depth < 50_000; depth++) deep = [{ a: deep }];
    expect(() => JSON.stringify(deep)).toThrow(RangeError);
    expect(jsonBytes(deep)).toBe(4 + 50_000 * '[{"a":}]'.length);
  });

  it('is exact where siblings are deep', () => {
    const nested = (depth: number) => {
      let value: unknown = 1;
      for (let level = 0; level < depth; level++) value = [value];
      return value;
    };
    const siblings = [nested(40), nested(5), nested(100), nested(31), nested(32), nested(33)];
    expect(jsonBytes(siblings)).toBe(stringifiedBytes(siblings));
  });

  it('is 0 for a value without an end', () => {
    const endless = () => ({ toJSON: () => ({ next: endless() }) });
    expect(jsonBytes(endless())).toBe(0);
  });

  it('is exact and quick for few containers that stand for very many', () => {
    const double = (levels: number) => {
      let value: unknown = ['x'];
      for (let level = 0; level < levels; level++) value = [value, value];
      return value;
    };
    // b(n) = 2 b(n - 1) + 3 bytes
    expect(jsonBytes(double(10))).toBe(stringifiedBytes(double(10)));
    expect(jsonBytes(double(25))).toBe(8 * 2 ** 25 - 3);
    expect(jsonBytes(double(2000))).toBe(0);
  });

  it('is 0 for an array with more items than a string has room for', () => {
    expect(jsonBytes({ items: new Array(2 ** 32 - 1) })).toBe(0);
  });
});
