import { from } from 'rxjs';
import { expect, it } from 'vitest';
import { chunkBy, Sized } from '../../src/index.ts';
import { recorded } from './fixtures.ts';

interface Case {
  readonly maxItems: number;
  readonly maxBytes: number;
  readonly sizes: readonly number[];
  readonly lengths: readonly number[];
}

function lengthsOf({ sizes, maxItems, maxBytes }: Case): number[] {
  const lengths: number[] = [];
  const sized = sizes.map((bytes, index) => new Sized(index, bytes));
  from(sized)
    .pipe(chunkBy({ maxItems, maxBytes }))
    .subscribe(({ value }) => lengths.push(value.length));
  return lengths;
}

it('cuts where tinker cuts', () => {
  for (const each of recorded<Case>('chunks')) expect(lengthsOf(each)).toEqual(each.lengths);
});

it('has the bounds of tinker by default', () => {
  const [most, ...others] = recorded<Case>('chunks').filter(({ maxItems }) => maxItems === 1024);
  expect(others.length).toBeGreaterThan(50);
  for (const each of [most, ...others]) {
    const lengths: number[] = [];
    const sized = (each?.sizes ?? []).map((bytes, index) => new Sized(index, bytes));
    from(sized)
      .pipe(chunkBy())
      .subscribe(({ value }) => lengths.push(value.length));
    expect(lengths).toEqual(each?.lengths);
  }
});
