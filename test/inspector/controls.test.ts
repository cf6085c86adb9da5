import { NEVER, Subject, startWith } from 'rxjs';
import { expect, it } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import { throttle } from '../../src/index.ts';
import { control, controlsOf } from '../../src/inspector/controls.ts';
import { openGates, type RequestGate } from '../../src/request/request-gate.ts';
import { ManualClock } from '../../src/simulator/index.ts';

it('settings of a stream are changed in its gate, and waiting requests feel that', async () => {
  const clock = new ManualClock();
  const gates: RequestGate[] = [];
  const unwatch = openGates.watch({ opened: (gate) => gates.push(gate), closed: () => {} });
  const sent: number[] = [];
  const source = new Subject<number>();
  const project = (value: number) => {
    sent.push(value);
    return NEVER.pipe(startWith(value));
  };
  const limits = {
    requests: { algorithm: 'sliding-window', limit: 2, windowMs: 60_000 },
  } as const;
  const subscription = source
    .pipe(throttle(project, { concurrency: 6, adaptive: false, limits, clock }))
    .subscribe();
  for (let value = 0; value < 10; value += 1) source.next(value);
  // Other tests of the process may have left limiters open.
  const gate = gates.at(-1) as RequestGate;
  const change = async (settings: Readonly<Record<string, number>>) => {
    control(gate, { gate: 0, action: 'configure', settings });
    await clock.advanceAsync(0);
    return sent.length;
  };
  expect(sent).toHaveLength(2);
  expect(await change({ 'limits.requests': 4 })).toBe(4);
  expect(await change({ 'limits.requests': 9 })).toBe(6);
  expect(await change({ concurrency: 8 })).toBe(8);
  await expect(change({ concurrency: 9, maxBytes: 0.5 })).rejects.toThrow('settings.maxBytes');
  const values = controlsOf(gate).settings.map(({ name, value }) => [name, value]);
  expect(Object.fromEntries(values)).toMatchObject({ concurrency: 8, 'limits.requests': 9 });
  subscription.unsubscribe();
  unwatch();
});

it('settings of a stream that shares a store hold for all workers', async () => {
  const clock = new ManualClock();
  const shared = memoryStore({ clock });
  const gates: RequestGate[] = [];
  const unwatch = openGates.watch({ opened: (gate) => gates.push(gate), closed: () => {} });
  const sent: number[] = [];
  const source = new Subject<number>();
  const project = (value: number) => {
    sent.push(value);
    return NEVER.pipe(startWith(value));
  };
  const limits = { requests: { limit: 1, windowMs: 3_600_000 } } as const;
  const subscription = source
    .pipe(throttle(project, { concurrency: 8, adaptive: false, limits, clock, shared }))
    .subscribe();
  for (let value = 0; value < 10; value += 1) source.next(value);
  const gate = gates.at(-1) as RequestGate;
  const change = async (settings: Readonly<Record<string, number>>) => {
    control(gate, { gate: 0, action: 'configure', settings });
    await clock.advanceAsync(60_000);
    return sent.length;
  };
  expect(await change({ 'limits.requests': 360_000, concurrency: 2 })).toBe(2);
  expect(await change({ concurrency: 5 })).toBe(5);
  subscription.unsubscribe();
  unwatch();
});
