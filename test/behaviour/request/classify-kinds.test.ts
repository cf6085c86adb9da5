import { describe, expect, it } from 'vitest';
import { createLimiter } from '../../../src/index.ts';
import type { Verdict } from '../../../src/model/feedback.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { expectIdle } from '../../limiter/harness.ts';

describe('what `classify` returns', () => {
  it.each<[Verdict, attempts: number]>([
    [{ kind: 'throttled' }, 5],
    [{ kind: 'overloaded' }, 5],
    [{ kind: 'throttled', retry: false }, 1],
    [{ kind: 'failed' }, 1],
    [{ kind: 'failed', retry: true }, 3],
    [{ kind: 'fatal' }, 1],
    [{ kind: 'ok' }, 1],
  ])('says how often a request is sent: %j', async (verdict, attempts) => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, maxAttempts: 5, classify: () => verdict });
    let calls = 0;
    const answer = new Response('no', { status: 400 });
    const call = limiter.run(async () => {
      calls += 1;
      return answer;
    });
    await clock.runAllAsync();
    expect(await call).toBe(answer);
    expect(calls).toBe(attempts);
    expectIdle(limiter);
  });
});
