import { describe, expect, it } from 'vitest';
import { type AttemptContext, createLimiter } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';

const ANSWER = { usage: { prompt_tokens: 5, completion_tokens: 50, total_tokens: 55 } };

describe('the latency per token', () => {
  it.each([
    ['that a returned answer reports', () => ANSWER],
    ['of an answer that is observed', ({ observe }: AttemptContext) => void observe(ANSWER)],
    ['that the task records', ({ recordTokens }: AttemptContext) => recordTokens(55)],
  ])('%s adapts the limit, without telemetry', async (_name, end) => {
    const clock = new ManualClock();
    const limiter = createLimiter({
      clock,
      telemetry: false,
      concurrency: 64,
      adaptive: { strategy: 'latency', per: 'token' },
    });
    const task = async (context: AttemptContext) => {
      await new Promise<void>((resolve) => void clock.setTimer(resolve, 110));
      return end(context);
    };
    const ran = Promise.all(Array.from({ length: 600 }, () => limiter.run(task)));
    await clock.runAllAsync();
    await ran;
    expect(limiter.snapshot().adaptive).toMatchObject({ shortLatencyMs: 2 });
  });
});
