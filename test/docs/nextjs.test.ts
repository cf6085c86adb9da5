import { afterEach, expect, it, vi } from 'vitest';

const store = globalThis as { openaiLimiter?: unknown };
afterEach(() => {
  vi.restoreAllMocks();
  delete store.openaiLimiter;
});

it('the module of the guide to Next.js has one limiter, however often it is evaluated', async () => {
  vi.spyOn(console, 'log').mockReturnValue();
  const { limiter } = await import('../../docs/examples/nextjs.ts');
  vi.resetModules();
  const again = await import('../../docs/examples/nextjs.ts');
  expect(again.limiter).toBe(limiter);
  await expect(again.limiter.run(async () => 'an answer')).resolves.toBe('an answer');
  expect(limiter.snapshot().ended.ok).toBe(1);
});
