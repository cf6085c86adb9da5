import { describe, expect, it } from 'vitest';
import { createLimiterGroup, type Lease, type LimiterGroup } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { rig } from '../../limiter/rig.ts';

describe('a request that does not fit a rate limit', () => {
  it('is sent after all if a listener of the refusal has given back enough', async () => {
    const limits = { requests: { limit: 1, windowMs: 1_000 } };
    const { limiter } = rig({ limits, onLimit: 'fail', adaptive: false });
    const lease = await limiter.acquire();
    limiter.events$.subscribe(() => lease.release('cancelled'));
    await expect(limiter.run(() => 'sent')).resolves.toBe('sent');
  });

  it('is sent after all if a listener of the refusal has raised the limit', async () => {
    const limits = { requests: { limit: 1, windowMs: 1_000 } };
    const { limiter } = rig({ limits, onLimit: 'fail', adaptive: false });
    await limiter.run(() => 'first');
    limiter.events$.subscribe(() =>
      limiter.configure({ limits: { requests: { limit: 2, windowMs: 1_000 } } }),
    );
    const lease = limiter.tryAcquire();
    expect(lease).toBeDefined();
    lease?.release();
  });

  it('is sent after all in the same case where it has waited for a slot', async () => {
    const limits = { requests: { limit: 1, windowMs: 1_000 } };
    const { limiter } = rig({ concurrency: 1, limits, onLimit: 'fail', adaptive: false });
    const lease = await limiter.acquire();
    const waiting = limiter.run(() => 'sent');
    limiter.events$.subscribe(({ kind }) => {
      if (kind !== 'limitDenied') return;
      limiter.configure({ limits: { requests: { limit: 2, windowMs: 1_000 } } });
    });
    lease.release();
    await expect(waiting).resolves.toBe('sent');
  });

  const changes = {
    'given back': (_: unknown, lease: Lease) => lease.release('cancelled'),
    added: (group: LimiterGroup<string>) => group.add('requests', 1),
  };
  it.each(
    (['fail', 'wait'] as const).flatMap((onLimit) =>
      Object.entries(changes).map(([what, change]) => ({ onLimit, what, change })),
    ),
  )('of a group is sent after all if enough was $what, with onLimit $onLimit', async (each) => {
    const limits = { requests: { limit: 1, windowMs: Number.POSITIVE_INFINITY } };
    const group = createLimiterGroup((key: string) => key, {
      clock: new ManualClock(),
      shared: { limits, onLimit: each.onLimit },
    });
    const lease = await group.acquire('a');
    group.events$.subscribe(({ kind }) => {
      if (kind === 'limitDenied') each.change(group, lease);
    });
    await expect(group.run('b', async () => 'sent')).resolves.toBe('sent');
  });
});
