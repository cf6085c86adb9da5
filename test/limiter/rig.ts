import {
  createLimiter,
  type Limiter,
  type LimiterEvent,
  type LimiterOptions,
} from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { type Pending, pending } from '../request/harness.ts';
import { fate } from './harness.ts';

/** A limiter in virtual time, without chance. */
export function rig(options: LimiterOptions = {}) {
  const clock = new ManualClock();
  return { clock, limiter: createLimiter({ clock, random: () => 0, ...options }) };
}

/** All that the limiter tells from now on. */
export function listen(limiter: Limiter): LimiterEvent[] {
  const events: LimiterEvent[] = [];
  limiter.events$.subscribe((event) => events.push(event));
  return events;
}

/** What kinds of events these are, and when they came. */
export function timeline(events: readonly LimiterEvent[]): string[] {
  return events.map(({ kind, at }) => `${at} ${kind}`);
}

/** Tasks that end when they are told to; `started` names them in the order in which they began. */
export function script(limiter: Limiter) {
  const started: string[] = [];
  const calls = new Map<string, Pending<string>>();
  const task = (name: string) => () => {
    started.push(name);
    const call = pending<string>();
    calls.set(name, call);
    return call.promise;
  };
  return {
    started,
    task,
    run: (name: string, options?: Parameters<Limiter['run']>[1]) =>
      fate(limiter.run(task(name), options)),
    end: (name: string) => calls.get(name)?.resolve(name),
    fail: (name: string, error: unknown) => calls.get(name)?.reject(error),
  };
}

/** Ends so many requests with an error, one after the other. */
export async function failing(limiter: Limiter, times: number, error: unknown): Promise<void> {
  for (let count = 0; count < times; count += 1) {
    const lease = await limiter.acquire();
    lease.release('failed', error);
  }
}
