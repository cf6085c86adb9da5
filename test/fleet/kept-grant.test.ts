import { expect, it } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import { createLimiterGroup } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';

it('a grant that was kept for a request that left does not stop a dearer one', async () => {
  const clock = new ManualClock(1_000);
  const group = createLimiterGroup((key: string) => key, {
    clock,
    store: memoryStore({ clock }),
    each: { adaptive: false, concurrency: 4, tokensPerMinute: 6_000 },
    shared: { concurrency: 1 },
  });
  const sent: string[] = [];
  const send = (name: string, tokens: number, tookMs: number, signal?: AbortSignal) => {
    const task = () => {
      sent.push(name);
      return new Promise<void>((done) => clock.setTimer(done, tookMs));
    };
    group.run('key', task, { tokens, ...(signal && { signal }) }).catch(() => {});
  };
  await clock.advanceAsync(60_000);
  send('first', 10, 3_000);
  await clock.advanceAsync(500);
  const leaving = new AbortController();
  send('leaves', 10, 10, leaving.signal);
  await clock.advanceAsync(120);
  send('dearer', 50, 10);
  await clock.advanceAsync(10);
  leaving.abort();
  await clock.advanceAsync(30_000);
  expect(sent).toEqual(['first', 'dearer']);
});
