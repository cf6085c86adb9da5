import { DeadlineExceededError, type Outcome } from 'headgate';
import { expect, it } from 'vitest';
import { StatusError } from '../../src/batch/http/failures.ts';
import { usageIn } from '../../src/batch/ledger/result-line.ts';
import { Budget } from '../../src/batch/money.ts';
import type { BatchRequest, BatchResponse } from '../../src/batch/request.ts';
import { resultOf } from '../../src/batch/result.ts';

const request: BatchRequest = {
  id: 'a',
  url: '/v1/chat/completions',
  body: {},
  place: 'prompts.jsonl:1',
  hash: '00',
};

function failedWith(error: unknown) {
  const stats = { waits: {}, attempts: 3, bytes: 0, tokens: 0, durationMs: 5 };
  const outcome: Outcome<BatchRequest, BatchResponse> = { status: 'failed', error, request, stats };
  return resultOf(outcome, new Budget(undefined, Number.POSITIVE_INFINITY));
}

it('a line whose deadline has passed keeps the last answer', () => {
  const last = new StatusError({ statusCode: 429, body: { error: { message: 'slow down' } } });
  expect(failedWith(new DeadlineExceededError(1_000, 'backoff', last))).toMatchObject({
    error: { code: 'DEADLINE_EXCEEDED' },
    response: { status_code: 429, body: { error: { message: 'slow down' } } },
  });
  expect(failedWith(new DeadlineExceededError(1_000, 'waiting'))).toMatchObject({
    error: { code: 'DEADLINE_EXCEEDED' },
    response: null,
  });
  expect(failedWith(new Error('other', { cause: last }))).toMatchObject({ response: null });
});

it('an absurd number of tokens counts as none, so that the cost is a number', () => {
  const usage = usageIn({
    usage: { prompt_tokens: 1e308, cache_creation_input_tokens: 1e308, completion_tokens: 5 },
  });
  expect(usage).toEqual({ input_tokens: 0, cached_input_tokens: 0, output_tokens: 5 });
  const budget = new Budget({ '*': { in: 0, out: 1_000_000 } }, 10);
  expect(budget.settle(request, usage)).toBe(5);
});
