import { describe, expect, it } from 'vitest';
import { createLimiter } from '../../../src/index.ts';

describe('many requests that share one signal', () => {
  it('stand behind one listener, which is taken off when the last has ended', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    let listeners = 0;
    const { addEventListener, removeEventListener } = signal;
    signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
      listeners += 1;
      addEventListener.apply(signal, args);
    };
    signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
      listeners -= 1;
      removeEventListener.apply(signal, args);
    };
    const limiter = createLimiter({ concurrency: 2 });
    const runs = Array.from({ length: 50 }, (_, n) => limiter.run(async () => n, { signal }));
    expect(listeners).toBe(1);
    expect(await Promise.all(runs)).toHaveLength(50);
    expect(listeners).toBe(0);
  });

  it('all end when it aborts, those in flight and those that wait', async () => {
    const controller = new AbortController();
    const limiter = createLimiter({ concurrency: 2 });
    const never = () => new Promise<never>(() => {});
    const runs = Array.from({ length: 5 }, () => limiter.run(never, { signal: controller.signal }));
    controller.abort(new Error('enough'));
    for (const run of runs) await expect(run).rejects.toThrow('enough');
    expect(limiter.snapshot().concurrency).toMatchObject({ inFlight: 0, waiting: 0 });
    expect(await limiter.run(async () => 'next')).toBe('next');
  });
});
