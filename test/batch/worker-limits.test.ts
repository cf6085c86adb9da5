import { expect, it } from 'vitest';
import { WorkerLimits } from '../../src/batch/queue/worker-limits.ts';
import { memoryStore } from '../../src/fleet/memory-store.ts';

it('requests of workers wait behind an open circuit, as those of a run do', async () => {
  const limits = new WorkerLimits({
    limits: { circuitBreaker: true },
    byModel: undefined,
    around: {},
    storeOf: () => memoryStore(),
    onOthers: () => {},
  });
  const limiter = limits.limiterOf({ id: '1', url: '/', body: {} });
  const isolation = limiter.circuit?.isolate();
  const sent = limiter.run(() => 'sent');
  isolation?.end();
  await expect(sent).resolves.toBe('sent');
  limits.close();
});
