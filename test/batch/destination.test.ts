import { expect, it } from 'vitest';
import { reusedAnswers } from '../../src/batch/command/destination.ts';

it.each([
  [{}, 'all'],
  [{ retryFailed: true }, 'good'],
  [{ existing: 'overwrite' }, 'none'],
  [{ existing: 'overwrite', retryFailed: true }, 'none'],
] as const)('a run with %o takes from the queue, of earlier answers, %s', (options, reused) => {
  expect(reusedAnswers({ input: 'prompts.jsonl', output: 'results.jsonl', ...options })).toBe(
    reused,
  );
});
