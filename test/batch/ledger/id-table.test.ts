import fc from 'fast-check';
import { expect, it } from 'vitest';
import { IdTable } from '../../../src/batch/ledger/id-table.ts';

it('keeps the last number of each id, as a Map does', () => {
  const entry = fc.tuple(fc.string({ maxLength: 2 }), fc.nat({ max: 0xffff_ffff }));
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 3_000, size: 'max' }), (entries) => {
      const table = new IdTable();
      for (const [id, value] of entries) table.set(id, value);
      const map = new Map(entries);
      expect(table.size).toBe(map.size);
      for (const [id, value] of map) expect(table.get(id)).toBe(value);
      expect(table.get('never there')).toBeUndefined();
    }),
    { numRuns: 30 },
  );
});

it('grows to many ids', () => {
  const table = new IdTable();
  for (let index = 0; index < 100_000; index += 1) table.set(`id-${index}`, index);
  expect(table.size).toBe(100_000);
  for (let index = 0; index < 100_000; index += 997) expect(table.get(`id-${index}`)).toBe(index);
  expect(table.get('id-100000')).toBeUndefined();
});
