import { of } from 'rxjs';
import { expect, it } from 'vitest';
import { createLimiter, tapProgress, throttle } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { serve, status } from '../../limiter/server.ts';
import { watch } from '../../request/harness.ts';

it.each<[string, () => Promise<object>]>([
  ['a Response that says no', async () => new Response('no', { status: 404 })],
  ['the body of an error', async () => ({ error: { message: 'no such model', code: 404 } })],
])('%s is a value for the caller, and a failure in counts and progress', async (_what, send) => {
  const clock = new ManualClock();
  const limiter = createLimiter({ clock });
  const called = await limiter.run(send);
  const seen = watch(of('a').pipe(limiter.throttle(send)));
  await clock.runAllAsync();
  expect(called).toBeTypeOf('object');
  expect(seen.values).toHaveLength(1);
  const { ended, progress } = limiter.snapshot();
  expect(ended).toEqual({ ok: 0, failed: 2, rejected: 0, cancelled: 0 });
  expect(progress.failed).toBe(2);
});

it('an answer to `limiter.fetch` is counted by its status', async () => {
  const { url } = await serve(status(401), status(200));
  const limiter = createLimiter();
  expect((await limiter.fetch(url)).status).toBe(401);
  await (await limiter.fetch(url)).text();
  await limiter.drain();
  expect(limiter.snapshot().ended).toMatchObject({ ok: 1, failed: 1 });
});

it('`tapProgress` counts a Response that is not ok as failed', async () => {
  const clock = new ManualClock();
  let failed = 0;
  const send = async (status: number) => new Response('', { status });
  const counted = tapProgress<Response>((progress) => (failed = progress.failed), { clock });
  watch(of(200, 404, 201).pipe(throttle(send, { clock }), counted));
  await clock.runAllAsync();
  expect(failed).toBe(1);
});
