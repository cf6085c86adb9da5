import fc from 'fast-check';
import {
  parseDictionary as dictionaryOracle,
  parseList as oracle,
  Token,
} from 'structured-headers';
import { describe, expect, it } from 'vitest';
import { type BareItem, parseDictionary, parseList } from '../../src/providers/structured-list.ts';
import { runs } from '../support/runs.ts';

type Plain = [BareItem, [string, BareItem][]][];

function ours(field: string): Plain {
  return parseList(field).map(({ value, parameters }) => [value, [...parameters]]);
}

/** What is no part of the headers of rate limits: inner lists, dates, display strings. */
class Unread extends Error {}

function plain(value: unknown, field: string): BareItem {
  if (value instanceof Token) return value.toString();
  if (value instanceof ArrayBuffer) {
    const base64 = Buffer.from(value).toString('base64');
    // The package takes bytes without their padding too, which the RFC leaves open.
    if (field.includes(`:${base64}:`)) return base64;
  }
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
    return value;
  }
  throw new Unread();
}

/** What the package makes of it; nothing where it is malformed or not read here. */
function theirs(field: string): Plain {
  try {
    return oracle(field).map(([value, parameters]) => [
      plain(value, field),
      [...parameters].map(([key, one]) => [key, plain(one, field)]),
    ]);
  } catch {
    return [];
  }
}

describe('a list of structured fields', () => {
  it.each([
    '"permin";q=50;w=60, "perhr";q=1000;w=3600',
    '"permin";r=50;t=30',
    '"default";q=100;w=10;qu="content-bytes"',
    'token;a;b=?0;c=1.5, 7, -0.125;x="a\\"b\\\\c"',
    '"peruser";q=100;w=60;pk=:YWxpY2U=:',
    '  1 ,\t2  ',
    '*a/b:c!#$%&;*k-._=*',
    '"a";q=1;q=2',
    '',
    ' ',
  ])('%s', (field) => {
    expect(ours(field)).toEqual(theirs(field));
    expect(ours(field).length > 0).toBe(field.trim() !== '');
  });

  it.each([
    '"a',
    '"a"x',
    '"a";',
    '"a";Q=1',
    '"a";q=',
    '"a",',
    ',"a"',
    '"a" ;q=1',
    '1.',
    '1.2345',
    '-',
    '1234567890123456',
    '1.2.3',
    '"é"',
    '"\\x"',
    '?2',
    ':::',
    'limit=100, remaining=50',
    '(1 2)',
    '@5',
    '%"x"',
    '"a"\n',
    '\t1',
  ])('%j is malformed, or no part of it, and says nothing', (field) => {
    expect(ours(field)).toEqual([]);
  });

  it('is read as the package structured-headers reads it', () => {
    const piece = fc.constantFrom(
      ...'",;=?*:-. \t\\aQ01_/x'.split(''),
      '"permin"',
      ';q=50',
      ';w=60',
      ', ',
      '12.5',
      '?1',
      ':YQ==:',
      'tok',
      '123456789012345',
    );
    const field = fc.oneof(
      { weight: 4, arbitrary: fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')) },
      { weight: 1, arbitrary: fc.string({ maxLength: 20 }) },
      {
        weight: 3,
        arbitrary: fc
          .array(
            fc.tuple(
              fc.constantFrom('"a"', 'tok', '5', '-1.25', '?0', ':YWI=:'),
              fc.array(fc.constantFrom(';q=1', ';w', '; k="x"', ';r=?1', ';t=2.0', ';*=a'), {
                maxLength: 3,
              }),
            ),
            { minLength: 1, maxLength: 4 },
          )
          .map((items) => items.map(([value, more]) => value + more.join('')).join(' , ')),
      },
    );
    let read = 0;
    fc.assert(
      fc.property(field, (text) => {
        const got = ours(text);
        if (got.length > 0) read += 1;
        expect(got).toEqual(theirs(text));
      }),
      { numRuns: runs(5_000) },
    );
    expect(read).toBeGreaterThan(1_500);
  });
});

describe('a dictionary of structured fields', () => {
  type Members = [string, ...Plain[number]][];

  function ours(field: string): Members {
    const members = [...parseDictionary(field)];
    return members.map(([key, { value, parameters }]) => [key, value, [...parameters]]);
  }

  function theirs(field: string): Members {
    try {
      return [...dictionaryOracle(field)].map(([key, [value, parameters]]) => [
        key,
        plain(value, field),
        [...parameters].map(([name, one]) => [name, plain(one, field)]),
      ]);
    } catch {
      return [];
    }
  }

  it('is read as the package structured-headers reads it', () => {
    const member = fc.tuple(
      fc.constantFrom('limit', 'remaining', 'reset', '*a', 'a', '', 'B', '"q"'),
      fc.constantFrom('=60', '=59.5', '="x"', '=?0', '=tok', '', '=', '=@5', ' =1'),
      fc.constantFrom('', '', ';w=6', ';w', '; w=6;x', ';'),
    );
    const field = fc
      .array(member, { maxLength: 4 })
      .chain((members) =>
        fc
          .constantFrom(', ', ',', ' , ', ',\t', ' ', ',,')
          .map((comma) => members.map((parts) => parts.join('')).join(comma)),
      );
    let read = 0;
    fc.assert(
      fc.property(field, (text) => {
        const got = ours(text);
        if (got.length > 0) read += 1;
        expect(got).toEqual(theirs(text));
      }),
      { numRuns: runs(3_000) },
    );
    expect(read).toBeGreaterThan(200);
    expect(ours('limit=60, remaining=59, reset=6')).toHaveLength(3);
  });
});
