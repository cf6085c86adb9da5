import assert from 'node:assert/strict';
import { createLimiter } from 'headgate';
import { ManualClock } from 'headgate/simulator';

const clock = new ManualClock();
const limiter = createLimiter({ clock, limits: { requests: { limit: 2, windowMs: 60_000 } } });

const sentAt: number[] = [];
for (let n = 0; n < 4; n += 1) void limiter.run(async () => sentAt.push(clock.now()));

await clock.advanceAsync(59_999);
assert.deepEqual(sentAt, [0, 0]); // two a minute
await clock.advanceAsync(1);
assert.deepEqual(sentAt, [0, 0, 60_000, 60_000]);
console.log('a minute passed in no time');
