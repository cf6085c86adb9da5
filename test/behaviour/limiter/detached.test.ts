import { describe, expect, it } from 'vitest';
import { createLimiter, createLimiterGroup } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';

const task = async () => 1;

/** The calls of methods without their object, by name. */
function detached(): Record<string, () => unknown> {
  const clock = new ManualClock();
  const limiter = createLimiter({ clock });
  const group = createLimiterGroup((key: string) => key, { clock });
  const { run, wrap, map, throttle, throttleFrom, acquire, tryAcquire, use } = limiter;
  const elsewhere = { run };
  const { get, ...of } = { get: group.get, run: group.run, map: group.map };
  const streams = { throttle: group.throttle, throttleFrom: group.throttleFrom };
  const leases = { acquire: group.acquire, tryAcquire: group.tryAcquire };
  return {
    'limiter.run': () => run(task),
    'limiter.run ': () => elsewhere.run(task),
    'limiter.wrap': () => wrap(task),
    'limiter.map': () => map([1], task),
    'limiter.throttle': () => throttle(task),
    'limiter.throttleFrom': () => throttleFrom([1], task),
    'limiter.acquire': () => acquire(),
    'limiter.tryAcquire': () => tryAcquire(),
    'group.get': () => get('a'),
    'group.run': () => of.run('a', task),
    'group.map': () => of.map(['a'], task),
    'group.throttle': () => streams.throttle(task),
    'group.throttleFrom': () => streams.throttleFrom(['a'], task),
    'group.acquire': () => leases.acquire('a'),
    'group.tryAcquire': () => leases.tryAcquire('a'),
    'limiter.use': () => use(task),
  };
}

describe('a method that was taken from its object', () => {
  it.each(Object.entries(detached()))('throws an error that names it: %s', async (name, call) => {
    const method = name.trim();
    const [object, last] = method.split('.');
    await expect(async () => call()).rejects.toThrow(
      new TypeError(
        `\`${method}\` was called without its ${object}, as after \`const { ${last} } = ${object}\`: call it as \`${method}(…)\``,
      ),
    );
  });

  it('works only for `fetch` and the result of `wrap`', async () => {
    const limiter = createLimiter({ clock: new ManualClock() });
    const { fetch } = limiter;
    expect(await fetch('data:,hello').then((response) => response.text())).toBe('hello');
    const { wrapped } = { wrapped: limiter.wrap(task) };
    expect(await wrapped()).toBe(1);
  });
});
