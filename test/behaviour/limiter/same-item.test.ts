import { describe, expect, it } from 'vitest';
import type { AcquireOptions, Limiter } from '../../../src/index.ts';
import { expectIdle, fate } from '../../limiter/harness.ts';
import { failing, rig } from '../../limiter/rig.ts';
import { tooMany } from '../../request/harness.ts';

/** Waiters that differ in nothing but who waits: leases have no task, and tasks may be shared. */
const ways: readonly [string, (limiter: Limiter, options: AcquireOptions) => Promise<unknown>][] = [
  ['leases', async (limiter, options) => (await limiter.acquire(options)).release()],
  [
    'calls of one task, each with a signal',
    (limiter, options) => limiter.run(shared, { ...options, signal: new AbortController().signal }),
  ],
  ['calls of one task', (limiter, options) => limiter.run(shared, options)],
];

const shared = () => 'done';

describe('two that wait with the same item', () => {
  it.each(ways)('are both sent, once: %s', async (_, ask) => {
    const { clock, limiter } = rig({ concurrency: 64, adaptive: 'rate' });
    const told: { value?: ReturnType<typeof fate> } = {};
    // It comes while another is asked for, so that it is the head when the next one comes.
    limiter.events$.subscribe(({ kind }) => {
      if (kind === 'outageEnded') told.value ??= fate(ask(limiter, { priority: 1 }));
    });
    const outage = failing(limiter, 4, tooMany());
    await clock.advanceAsync(10_000);
    await outage;
    let end = () => {};
    const probe = fate(limiter.run(() => new Promise<void>((resolve) => (end = resolve))));
    // That it is not rejected for so long ends the outage: the next one that asks finds out.
    clock.advance(5_000);
    const asked = fate(limiter.run(() => undefined));
    const second = fate(ask(limiter, { priority: 0 }));
    await clock.advanceAsync(60_000);
    end();
    await clock.advanceAsync(60_000);
    const states = [probe, asked, told.value, second].map((one) => one?.state);
    expect(states).toEqual(states.map(() => 'ok'));
    expect(limiter.snapshot().ended).toMatchObject({ ok: 4 });
    expectIdle(limiter);
  });
});
