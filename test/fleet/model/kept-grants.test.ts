import { expect, it } from 'vitest';
import { emptyBucket, leaveRoom, ready, refill, restore } from '../../../src/fleet/model/bucket.ts';

const SECOND = 1_000_000;

it('is filled to its capacity together with the amounts that workers keep', () => {
  const bucket = emptyBucket(10, 3_600);
  refill(bucket, 60 * SECOND);
  leaveRoom(bucket, 4);
  expect(ready(bucket)).toBe(6);
  // The worker uses the amount, and the bucket fills up again.
  refill(bucket, 60 * SECOND);
  expect(ready(bucket)).toBe(10);
});

it('keeps no more of what came back to a bucket in debt', () => {
  const bucket = { ...emptyBucket(10, 3_600), level: -100 };
  restore(bucket, 8);
  leaveRoom(bucket, 7);
  expect(ready(bucket)).toBe(3);
  leaveRoom(bucket, 12);
  expect(ready(bucket)).toBe(0);
});
