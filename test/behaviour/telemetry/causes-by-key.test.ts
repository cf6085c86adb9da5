import { ManualClock } from 'headgate/simulator';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLimiter, createLimiterGroup } from '../../../src/index.ts';
import { type Sdk, startSdk } from '../../telemetry/sdk.ts';

let sdk: Sdk;
let clock: ManualClock;
beforeEach(() => {
  sdk = startSdk();
  clock = new ManualClock();
});
afterEach(() => sdk.stop());

const OPTIONS = { adaptive: false, backoff: { reopen: 'all', throttledForMs: 0 } } as const;

const busy = (seconds: number) =>
  Object.assign(new Error('busy'), { status: 429, headers: { 'retry-after': String(seconds) } });

/** A task whose first attempt is answered 429. */
const rejected =
  (seconds: number) =>
  async ({ attempt }: { attempt: number }) => {
    if (attempt === 1) throw busy(seconds);
  };

/** Runs a task in a span of this name, in which its request's trace begins. */
function named<R>(name: string, run: () => Promise<R>): Promise<R> {
  return sdk.tracer.startActiveSpan(name, (span) => run().finally(() => span.end()));
}

/** By the name of the request that waited, those whose traces its waits link to. */
function causes(): Record<string, string[]> {
  const roots = sdk.finished().filter(({ parentSpanContext }) => parentSpanContext === undefined);
  const names = new Map(roots.map((span) => [span.spanContext().traceId, span.name]));
  const nameOf = (traceId: string) => names.get(traceId) ?? 'unknown';
  const waits = sdk.finished('headgate.wait').map((span) => {
    const linked = new Set(span.links.map(({ context }) => nameOf(context.traceId)));
    return [nameOf(span.spanContext().traceId), [...linked]];
  });
  return Object.fromEntries(waits);
}

describe('a wait links to the 429 of its own limiter', () => {
  it.each([
    [
      'keys of a group',
      () => {
        const each = { ...OPTIONS, clock };
        const group = createLimiterGroup((key: string) => key, { each, clock });
        return (key: string, task: Parameters<typeof group.run>[1]) => group.run(key, task);
      },
    ],
    [
      'limiters of one name',
      () => {
        const limiters = [0, 1].map(() => createLimiter({ ...OPTIONS, clock }));
        return (key: string, task: Parameters<(typeof limiters)[0]['run']>[0]) =>
          limiters[key === 'a' ? 0 : 1]?.run(task) ?? Promise.reject(new Error(key));
      },
    ],
  ] as const)('%s', async (_of, make) => {
    const run = make();
    const runs = [named('a1', () => run('a', rejected(10)))];
    await clock.advanceAsync(100);
    runs.push(named('a2', () => run('a', async () => {})));
    runs.push(named('b1', () => run('b', rejected(1))));
    await clock.advanceAsync(100);
    runs.push(named('b2', () => run('b', async () => {})));
    await clock.advanceAsync(20_000);
    await Promise.all(runs);
    expect(causes()).toEqual({ a1: ['a1'], a2: ['a1'], b1: ['b1'], b2: ['b1'] });
  });

  it('and to none if the program has reported the 429', async () => {
    const limiter = createLimiter({ ...OPTIONS, clock });
    const first = named('first', () => limiter.run(rejected(1)));
    await clock.advanceAsync(2_000);
    await first;
    limiter.recordFailure(busy(1));
    const second = named('second', () => limiter.run(async () => {}));
    await clock.advanceAsync(2_000);
    await second;
    expect(causes()).toEqual({ first: ['first'], second: [] });
  });
});
