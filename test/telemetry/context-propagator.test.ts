import { context, createContextKey, ROOT_CONTEXT } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { afterEach, expect, it, vi } from 'vitest';
import { areContextsCarried, ContextPropagator } from '../../src/telemetry/context-propagator.ts';

afterEach(() => {
  context.disable();
  vi.restoreAllMocks();
});

it('finds whether a context manager is registered, without running code in a context', () => {
  expect(areContextsCarried()).toBe(false);
  const manager = new AsyncLocalStorageContextManager();
  const run = vi.spyOn(manager, 'with');
  context.setGlobalContextManager(manager.enable());
  expect(areContextsCarried()).toBe(true);
  expect(run).not.toHaveBeenCalled();
});

it('treats the root context of another copy of the API as empty', () => {
  const key = createContextKey('key');
  const filled = ROOT_CONTEXT.setValue(key, 1);
  const manager = new AsyncLocalStorageContextManager();
  context.setGlobalContextManager(manager.enable());
  const active = vi.spyOn(manager, 'active').mockReturnValue(filled.deleteValue(key));
  const run = vi.spyOn(manager, 'with');
  const propagator = new ContextPropagator();
  expect(propagator.needsArrival()).toBe(false);
  propagator.sending({}, () => {});
  expect(run).not.toHaveBeenCalled();
  active.mockReturnValue(filled);
  expect(propagator.needsArrival()).toBe(true);
  propagator.sending({}, () => {});
  expect(run).toHaveBeenCalledTimes(1);
});
