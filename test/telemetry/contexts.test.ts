import { context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { afterEach, expect, it, vi } from 'vitest';
import { areContextsCarried } from '../../src/telemetry/contexts.ts';

afterEach(() => {
  context.disable();
  vi.restoreAllMocks();
});

it('finds whether contexts are carried, and runs nothing in one for that', () => {
  expect(areContextsCarried()).toBe(false);
  const manager = new AsyncLocalStorageContextManager();
  const run = vi.spyOn(manager, 'with');
  context.setGlobalContextManager(manager.enable());
  expect(areContextsCarried()).toBe(true);
  expect(run).not.toHaveBeenCalled();
});
