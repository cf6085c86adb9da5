import { describe, expect, it } from 'vitest';
import { Fifo } from '../../../src/queue/fifo.ts';
import { aliveBytes, leastBytes, leastGrowth } from '../../support/memory.ts';

const MILLION = 1_000_000;
const KB = 1_000;

interface Owner {
  cancelled: boolean;
}

function filled(count: number, owner: Owner): Fifo<number, Owner> {
  const fifo = new Fifo<number, Owner>((_, { cancelled }) => cancelled);
  for (let n = 0; n < count; n += 1) fifo.push(n, owner, n);
  return fifo;
}

describe('the memory of a Fifo', () => {
  it('is 24 bytes a waiter, and is given back when they have passed', async () => {
    let full = 0;
    const left = await leastBytes(500 * KB, () => {
      const before = aliveBytes();
      const fifo = filled(MILLION, { cancelled: false });
      full = aliveBytes() - before;
      for (let n = 0; n < MILLION - 10; n += 1) fifo.shift();
      const passed = aliveBytes() - before;
      expect(fifo.length).toBe(10);
      return passed;
    });
    expect(full).toBeGreaterThan(16 * MILLION);
    expect(full).toBeLessThan(26 * MILLION);
    expect(left).toBeLessThan(500 * KB);
  });

  it('is released when waiters are cancelled, even if the head is not read', async () => {
    const left = await leastBytes(500 * KB, () => {
      const before = aliveBytes();
      const owner = { cancelled: false };
      const fifo = filled(MILLION, owner);
      for (let n = 0; n < 100; n += 1) fifo.push(-n, { cancelled: false }, n);
      owner.cancelled = true;
      fifo.markCancelled(MILLION);
      const alive = aliveBytes() - before;
      expect(fifo.length).toBe(100);
      expect(fifo.seek()).toBe(true);
      return alive;
    });
    expect(left).toBeLessThan(500 * KB);
  });

  it('does not grow while as many come as go', async () => {
    const fifo = filled(5_000, { cancelled: false });
    const owner = { cancelled: false };
    const growth = await leastGrowth(500 * KB, () => {
      for (let n = 0; n < MILLION; n += 1) {
        fifo.push(n, owner, n);
        fifo.shift();
      }
    });
    expect(growth).toBeLessThan(500 * KB);
  });

  it('keeps no passed waiter alive', async () => {
    const fifo = new Fifo<object, Owner>((_, { cancelled }) => cancelled);
    const owner = { cancelled: false };
    const growth = await leastGrowth(500 * KB, () => {
      for (let n = 0; n < 1_000; n += 1) fifo.push(new Uint8Array(10 * KB), owner, n);
      for (let n = 0; n < 1_000; n += 1) fifo.shift();
    });
    expect(growth).toBeLessThan(500 * KB);
    expect(fifo.seek()).toBe(false);
  });
});
