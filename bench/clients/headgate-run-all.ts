import { createLimiter, type Limiter } from 'headgate';
import { expectEqual } from '../expect.ts';
import { type Gating, gatingOf } from '../gates.ts';
import { proveGates, type Send } from '../proofs.ts';
import type { ClientModule, Fill, RunAll } from './client.ts';

/** The stated size of each request. */
const TOKENS = 1;

export const run: RunAll = async (task, count, concurrency) => {
  const limiter = limiterOf(gatingOf('gate-all', concurrency));
  await Promise.all(
    Array.from({ length: count }, () => limiter.run(task, { tokens: TOKENS, priority: 0 })),
  );
  const { rateLimit } = limiter.snapshot();
  expectEqual('requests charged', rateLimit?.requests?.used, count);
  expectEqual('tokens charged', rateLimit?.tokens?.used, count * TOKENS);
};

export const fill: Fill = (task, count, concurrency) => {
  const limiter = limiterOf(gatingOf('gate-all', concurrency));
  const promises = Array.from({ length: count }, () =>
    limiter.run(task, { tokens: TOKENS, priority: 0 }),
  );
  return { taken: promises.length, held: { limiter, promises } };
};

export const prove: ClientModule['prove'] = (concurrency) =>
  proveGates(send, gatingOf('gate-all', concurrency));

const send: Send = async (gating, count, task) => {
  const limiter = limiterOf(gating);
  const results = await Promise.allSettled(
    Array.from({ length: count }, (_, value) =>
      limiter.run(() => task(value), { tokens: TOKENS, priority: gating.priority?.(value) ?? 0 }),
    ),
  );
  return results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
};

/** Each request states its priority. */
function limiterOf({ priority: _, ...options }: Gating): Limiter {
  return createLimiter(options);
}
