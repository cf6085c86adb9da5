import { from, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { expectIdle, fate } from '../../limiter/harness.ts';
import { rig } from '../../limiter/rig.ts';
import { tooMany, watch } from '../../request/harness.ts';

describe('priorities', () => {
  it.each(['concurrency', 'backoff', 'rateLimit'] as const)(
    'count for streams and promises alike, in one queue for: %s',
    async (gate) => {
      const { clock, limiter } = rig(
        gate === 'concurrency'
          ? { concurrency: 1 }
          : gate === 'backoff'
            ? { backoff: { reopen: 'all' } }
            : { limits: { requests: { limit: 1, windowMs: 100 } } },
      );
      const order: string[] = [];
      const held = limiter.tryAcquire();
      if (gate === 'backoff') limiter.feedback.next({ kind: 'throttled', retryAfterMs: 100 });
      const source = new Subject<[string, number]>();
      const send = async ([name]: [string, number]) => {
        order.push(name);
      };
      watch(source.pipe(limiter.throttle(send, { priority: ([, priority]) => priority })));
      const run = (name: string, priority: number) =>
        fate(limiter.run(() => void order.push(name), { priority }));
      source.next(['stream 0', 0]);
      run('run 0', 0);
      source.next(['stream 1', 1]);
      run('run 1', 1);
      run('run 2', 2);
      source.next(['stream 2', 2]);
      watch(from([['plain', 9] as [string, number]]).pipe(limiter.throttle(send)));
      expect(order).toEqual([]);
      expect(limiter.snapshot()).toMatchObject({ waiting: 7, binding: gate });
      held?.release();
      await clock.runAllAsync();
      expect(order).toEqual([
        'run 2',
        'stream 2',
        'stream 1',
        'run 1',
        'stream 0',
        'run 0',
        'plain',
      ]);
      expectIdle(limiter);
    },
  );
});

it('a retry goes before a request that arrived later, though that one began to wait before it', async () => {
  const { clock, limiter } = rig({ concurrency: 2, adaptive: false, backoff: { reopen: 'all' } });
  const order: string[] = [];
  const early = limiter.run(async ({ attempt }) => {
    order.push('early');
    if (attempt > 1) return;
    await new Promise<void>((resolve) => clock.setTimer(resolve, 30));
    throw tooMany(100);
  });
  await clock.advanceAsync(10);
  limiter.feedback.next({ kind: 'throttled', retryAfterMs: 100 });
  const late = limiter.run(async () => void order.push('late'));
  await clock.advanceAsync(1_000);
  await Promise.all([early, late]);
  expect(order).toEqual(['early', 'early', 'late']);
});
