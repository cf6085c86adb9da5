import { expect, it } from 'vitest';
import { LatestRecords } from '../../src/inspector/latest-records.ts';
import type { RequestRecord } from '../../src/inspector/wire-requests.ts';

const recordOf = (id: number, endedAt = id) => ({ id, endedAt }) as RequestRecord;
const idsOf = (records: LatestRecords, gate: number) => [...records.of(gate)].map(({ id }) => id);

it('a busy gate does not drive out the records of a quiet one', () => {
  const records = new LatestRecords(10);
  records.add(1, recordOf(1));
  records.add(1, recordOf(2));
  for (let id = 3; id < 100; id += 1) records.add(2, recordOf(id));
  expect(idsOf(records, 1)).toEqual([2, 1]);
  expect(idsOf(records, 2)).toEqual([99, 98, 97, 96, 95, 94, 93, 92]);
});

it('no more are kept than may be, and busy gates keep equal numbers', () => {
  let id = 0;
  const records = new LatestRecords(100);
  for (let gate = 1; gate <= 30; gate += 1) {
    for (let request = 0; request < 50; request += 1) {
      id += 1;
      records.add(gate, recordOf(id));
      expect(records.size).toBeLessThanOrEqual(100);
    }
  }
  for (let request = 0; request < 1_000; request += 1) {
    id += 1;
    records.add(1 + (request % 30), recordOf(id));
    expect(records.size).toBe(100);
  }
  const sizes = Array.from({ length: 30 }, (_, index) => idsOf(records, index + 1).length);
  expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
  expect(records.byId(id)?.record.id).toBe(id);
});

it('of more gates than records, those that were heard of last keep theirs', () => {
  const records = new LatestRecords(10);
  for (let gate = 1; gate <= 25; gate += 1) records.add(gate, recordOf(gate));
  expect(records.size).toBe(10);
  expect(records.byId(15)).toBeUndefined();
  expect(records.byId(16)).toMatchObject({ gate: 16 });
});

it('records that ended before a time are removed', () => {
  const records = new LatestRecords(10);
  for (let id = 1; id <= 6; id += 1) records.add(id % 2, recordOf(id));
  records.expire(4);
  expect([records.size, idsOf(records, 0), idsOf(records, 1)]).toEqual([3, [6, 4], [5]]);
  records.expire(7);
  expect(records.size).toBe(0);
});
