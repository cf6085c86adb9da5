import type { Job } from 'bullmq';
import type { AttemptContext } from 'headgate';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { WorkerSends } from '../../../src/batch/queue/queue-work.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const STEPS_MS = [0, -3_600_000, 3_600_000];

it.each(STEPS_MS)(
  'how long a call took does not depend on a step of the clock by %i ms',
  async (stepMs) => {
    const sends = new WorkerSends(async () => {
      vi.setSystemTime(Date.now() + stepMs);
      await new Promise((resolve) => setTimeout(resolve, 250));
      return { statusCode: 200, headers: {}, body: { choices: [] } };
    });
    const data = { id: 'a', url: '/v1/chat/completions', body: {} };
    const job = { data, processedOn: Date.now() - 40 } as Job;
    const { signal } = new AbortController();
    const context = { attempt: 1, signal, observe: () => {} } as unknown as AttemptContext;
    const result = sends.send(job, context);
    await vi.advanceTimersByTimeAsync(250);
    expect((await result).sent).toEqual({
      attempts: 1,
      rejected: 0,
      waitedMs: 40,
      durationMs: 250,
    });
  },
);

it.each([
  '/v1/../admin',
  '/v1/x?key=1',
  '/v1@other.host/',
  '/v1',
  'https://other.host/v1/x',
  '/v1/a b',
  5,
  undefined,
])('a job whose url is %s is not sent: its key is for the API', async (url) => {
  const send = vi.fn();
  const job = { data: { id: 'a', url, body: {} } } as unknown as Job;
  const { signal } = new AbortController();
  const context = { attempt: 1, signal, observe: () => {} } as unknown as AttemptContext;
  await expect(new WorkerSends(send).send(job, context)).rejects.toThrow('no path of the API');
  expect(send).not.toHaveBeenCalled();
});
