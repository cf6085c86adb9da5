import { NEVER, Subject, startWith } from 'rxjs';
import { expect, it } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import { type ThrottleOptions, throttle } from '../../src/index.ts';
import { control, controlsOf } from '../../src/inspector/controls.ts';
import { openGates, type RequestGate } from '../../src/request/request-gate.ts';
import { ManualClock } from '../../src/simulator/index.ts';

/** A stream of ten requests that never end, of which one gate holds some back. */
function openStream(clock: ManualClock, options: ThrottleOptions) {
  const gates: RequestGate[] = [];
  const unwatch = openGates.watch({ opened: (gate) => gates.push(gate), closed: () => {} });
  const sent: number[] = [];
  const source = new Subject<number>();
  const project = (value: number) => {
    sent.push(value);
    return NEVER.pipe(startWith(value));
  };
  const stream = throttle(project, { adaptive: false, clock, ...options });
  const subscription = source.pipe(stream).subscribe();
  for (let value = 0; value < 10; value += 1) source.next(value);
  // Other tests of the process may have left limiters open.
  const gate = gates.at(-1) as RequestGate;
  const close = () => {
    subscription.unsubscribe();
    unwatch();
  };
  /** @returns how many were sent within this time after the change */
  const change = async (settings: Readonly<Record<string, number>>, ms = 0) => {
    control(gate, { gate: 0, action: 'configure', settings });
    await clock.advanceAsync(ms);
    return sent.length;
  };
  return { gate, sent, change, close };
}

it('settings of a stream are changed in its gate, and waiting requests feel that', async () => {
  const requests = { algorithm: 'sliding-window', limit: 2, windowMs: 60_000 } as const;
  const { gate, sent, change, close } = openStream(new ManualClock(), {
    concurrency: 6,
    limits: { requests },
  });
  expect(sent).toHaveLength(2);
  expect(await change({ 'limits.requests': 4 })).toBe(4);
  expect(await change({ 'limits.requests': 9 })).toBe(6);
  expect(await change({ concurrency: 8 })).toBe(8);
  await expect(change({ concurrency: 9, maxBytes: 0.5 })).rejects.toThrow('settings.maxBytes');
  const values = controlsOf(gate).settings.map(({ name, value }) => [name, value]);
  expect(Object.fromEntries(values)).toMatchObject({ concurrency: 8, 'limits.requests': 9 });
  close();
});

it('settings of a stream that shares a store are told to the store', async () => {
  const clock = new ManualClock();
  const { change, close } = openStream(clock, {
    concurrency: 8,
    limits: { requests: { limit: 1, windowMs: 3_600_000 } },
    shared: memoryStore({ clock }),
  });
  expect(await change({ 'limits.requests': 360_000, concurrency: 2 }, 60_000)).toBe(2);
  expect(await change({ concurrency: 5 }, 60_000)).toBe(5);
  close();
});
