import { expect, it } from 'vitest';
import { createLimiter } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { fate } from '../../limiter/harness.ts';

/** An answer of undici's `request`, whose body must be read or dumped. */
function answerOf(statusCode: number, headers: Record<string, string> = {}) {
  const answer = {
    statusCode,
    headers,
    dumped: 0,
    body: { dump: () => Promise.resolve(answer.dumped++) },
  };
  return answer;
}

it('an answer with `statusCode` and `headers` is judged by its status, and sent again', async () => {
  const clock = new ManualClock();
  const limiter = createLimiter({ clock, telemetry: false });
  const answers = [answerOf(429, { 'retry-after': '5' }), answerOf(503), answerOf(200)];
  const sentAt: number[] = [];
  const result = fate(
    limiter.run(async () => {
      sentAt.push(clock.now());
      return answers[sentAt.length - 1];
    }),
  );
  await clock.advanceAsync(4_999);
  expect(sentAt).toHaveLength(1);
  await clock.advanceAsync(60_000);
  expect(result.value).toBe(answers[2]);
  expect(answers.map(({ dumped }) => dumped)).toEqual([1, 1, 0]);
  expect(limiter.snapshot().ended).toMatchObject({ ok: 1, failed: 0 });
});

it('an answer that is not retried is the value, and counts as failed', async () => {
  const limiter = createLimiter({ telemetry: false });
  const refused = answerOf(404);
  expect(await limiter.run(async () => refused)).toBe(refused);
  expect(refused.dumped).toBe(0);
  expect(limiter.snapshot().ended).toMatchObject({ ok: 0, failed: 1 });
});

it('a value with a `statusCode` and without `headers` is a result', async () => {
  const limiter = createLimiter({ telemetry: false });
  for (const value of [
    { statusCode: 429 },
    { statusCode: 'x', headers: {} },
    { statusCode: 200, headers: {} },
  ]) {
    expect(await limiter.run(async () => value)).toBe(value);
  }
  expect(limiter.snapshot().ended).toMatchObject({ ok: 3, failed: 0 });
});
