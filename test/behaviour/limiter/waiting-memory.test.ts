import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it } from 'vitest';
import { createLimiter } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { aliveBytes, leastBytes } from '../../support/memory.ts';

const CALLS = 50_000;

type Call = (run: () => Promise<number>, index: number) => void;

/** Bytes of a call that waits. */
async function bytesOf(call: Call): Promise<number> {
  const limiter = createLimiter({ clock: new ManualClock(), concurrency: 1 });
  const task = async () => 1;
  let end = () => {};
  void limiter.run(() => new Promise<void>((resolve) => (end = resolve)));
  for (let n = 0; n < 1_000; n += 1) void limiter.run(task);
  const before = aliveBytes();
  for (let n = 0; n < CALLS; n += 1) call(() => limiter.run(task), n);
  const bytes = (aliveBytes() - before) / CALLS;
  end();
  await limiter.drain();
  return bytes;
}

describe('a call that waits', () => {
  // First: what Node keeps for each promise from then on stays, once a storage has been in use.
  it('costs at most 240 bytes without AsyncLocalStorage', async () => {
    expect(await leastBytes(240, () => bytesOf((run) => void run()))).toBeLessThan(240);
  });

  it('costs at most 320 bytes with AsyncLocalStorage', async () => {
    const storage = new AsyncLocalStorage<number>();
    const call: Call = (run, index) => void storage.run(index, run);
    expect(await leastBytes(320, () => bytesOf(call))).toBeLessThan(320);
  });
});
