import { expect } from 'vitest';
import {
  createLimiterGroup,
  type GroupEvent,
  type LimiterGroup,
  type LimiterGroupOptions,
} from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { type Pending, pending } from '../request/harness.ts';
import { fate } from './harness.ts';

/** A group in virtual time, without chance; the key of a request is its first letter. */
export function groupRig(options: LimiterGroupOptions = {}) {
  const clock = new ManualClock();
  const keyOf = (name: string) => name.slice(0, 1);
  const group = createLimiterGroup(keyOf, { clock, random: () => 0, ...options });
  const started: string[] = [];
  const calls = new Map<string, Pending<string>>();
  const task = (name: string) => {
    started.push(name);
    const call = pending<string>();
    calls.set(name, call);
    return call.promise;
  };
  return {
    clock,
    group,
    /** The names of those that were sent, in order. */
    started,
    task,
    run: (name: string, said?: Parameters<typeof group.run>[2]) =>
      fate(group.run(keyOf(name), () => task(name), said)),
    end: (name: string) => calls.get(name)?.resolve(name),
    fail: (name: string, error: unknown) => calls.get(name)?.reject(error),
  };
}

/** All that the group tells from now on. */
export function listenTo<T>(group: LimiterGroup<T>): GroupEvent[] {
  const events: GroupEvent[] = [];
  group.events$.subscribe((event) => events.push(event));
  return events;
}

/** Nobody waits and nothing is held, of any key. */
export function expectAllIdle<T>(group: LimiterGroup<T>): void {
  const { shared, keys } = group.snapshot();
  for (const key of Object.values(keys)) {
    expect(key).toMatchObject({
      waiting: 0,
      concurrency: { inFlight: 0, throttledInFlight: 0, waiting: 0 },
      byteBudget: { used: 0, waiting: 0 },
      backoff: { waiting: 0 },
    });
  }
  if (shared?.concurrency) expect(shared.concurrency.inFlight).toBe(0);
  if (shared?.byteBudget) expect(shared.byteBudget.used).toBe(0);
}
