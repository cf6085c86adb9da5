import { ManualClock } from 'headgate/simulator';
import { from, NEVER } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  createLimiter,
  type Limiter,
  QueueFullError,
  throttle,
  version,
} from '../../../src/index.ts';
import { parentOf, type Sdk, startSdk } from '../../telemetry/sdk.ts';

let sdk: Sdk;
let clock: ManualClock;
beforeEach(() => {
  sdk = startSdk();
  clock = new ManualClock();
});
afterEach(() => sdk.stop());

const sleep = (ms: number) => new Promise<void>((resolve) => clock.setTimer(resolve, ms));
const busy = Object.assign(new Error('busy'), { status: 429 });
const type = (name: string) => ({ 'error.type': name });

describe('attempts', () => {
  it('have a duration of their own, by what they ended with, however long requests waited', async () => {
    const limiter = createLimiter({ clock, concurrency: 1, backoff: { reopen: 'all' } });
    const send = async ({ attempt }: { attempt: number }) => {
      await sleep(attempt === 1 ? 100 : 400);
      if (attempt === 1) throw busy;
    };
    const sent = [limiter.run(send), limiter.run(send)];
    await clock.advanceAsync(20_000);
    await Promise.all(sent);
    const now = await sdk.collect();
    const { count, sum } = now.histogram('headgate.attempt.duration', type('429'));
    expect([count, sum]).toEqual([2, 0.2]);
    expect(now.histogram('headgate.attempt.duration')).toEqual({ count: 2, sum: 0.8 });
  });

  it('count the errors that are known from 0, so that the first is seen as growth', async () => {
    createLimiter({ clock });
    const now = await sdk.collect();
    for (const status of ['429', '500', '503', '529']) {
      expect(now.value('headgate.attempts', type(status)), status).toBe(0);
    }
  });
});

describe('a request that stops waiting reports its gate', () => {
  const givenUp = async (gate: string) =>
    (await sdk.collect()).value('headgate.request.given_up', { 'headgate.gate': gate });
  const gates = () =>
    sdk.finished('headgate.request').map(({ attributes }) => attributes['headgate.gate']);

  it('when its time is over', async () => {
    const limiter = createLimiter({ clock, concurrency: 1, waitTimeoutMs: 50 });
    void limiter.run(() => sleep(1_000));
    const late = limiter.run(() => 1).catch(({ gate }) => gate);
    await clock.advanceAsync(60);
    expect(await late).toBe('concurrency');
    expect(await givenUp('concurrency')).toBe(1);
    expect(gates()).toEqual(['concurrency']);
  });

  it('when its caller aborts it with the request before it', async () => {
    const limits = { requests: { limit: 1, windowMs: 60_000 } };
    const limiter = createLimiter({ clock, limits });
    const controller = new AbortController();
    const { signal } = controller;
    const runs = [1, 2, 3].map(() => limiter.run(() => sleep(1_000), { signal }).catch(() => {}));
    await clock.advanceAsync(60);
    controller.abort();
    await Promise.all(runs);
    expect(await givenUp('rateLimit')).toBe(2);
    expect(gates()).toEqual([undefined, 'rateLimit', 'rateLimit']);
  });

  it('when its caller aborts', async () => {
    const limiter = createLimiter({ clock, limits: { rpm: { limit: 1, windowMs: 60_000 } } });
    await limiter.run(() => 1, { costs: { rpm: 1 } });
    const { signal, abort } = aborting();
    const given = limiter.run(() => 1, { costs: { rpm: 1 }, signal }).catch(() => 'aborted');
    await clock.advanceAsync(10);
    expect(await givenUp('rateLimit')).toBe(0);
    abort();
    expect(await given).toBe('aborted');
    expect(await givenUp('rateLimit')).toBe(1);
    expect(gates()).toEqual([undefined, 'rateLimit']);
  });

  it('when its stream is unsubscribed, except requests in flight', async () => {
    const subscription = from([1, 2, 3])
      .pipe(throttle(() => NEVER, { clock, concurrency: 1 }))
      .subscribe();
    subscription.unsubscribe();
    expect(await givenUp('concurrency')).toBe(2);
    expect(gates().sort()).toEqual(['concurrency', 'concurrency', undefined]);
  });

  it.each([
    ['retry', 500, {}],
    ['backoff', 429, { adaptive: false }],
    ['pace', 429, {}],
  ] as const)(
    'when its caller aborts it before another attempt: %s',
    async (gate, status, options) => {
      const limiter = createLimiter({ clock, ...options });
      const { signal, abort } = aborting();
      const fail = async () => Promise.reject(Object.assign(new Error('no'), { status }));
      const given = limiter.run(fail, { signal }).catch(() => 'aborted');
      await clock.advanceAsync(50);
      abort();
      expect(await given).toBe('aborted');
      expect(await givenUp(gate)).toBe(1);
      expect(gates()).toEqual([gate]);
    },
  );

  it('but not if its last wait is over', async () => {
    const limiter = createLimiter({ clock });
    const { signal, abort } = aborting();
    const send = async ({ attempt }: { attempt: number }) => {
      if (attempt === 1) throw Object.assign(new Error('no'), { status: 500 });
      await sleep(60_000);
    };
    const given = limiter.run(send, { signal }).catch(() => 'aborted');
    await clock.advanceAsync(30_000);
    abort();
    expect(await given).toBe('aborted');
    expect(gates()).toEqual([undefined]);
  });

  it('when the queue is full', async () => {
    const limiter = createLimiter({ clock, concurrency: 1, maxQueue: 1, overflow: 'drop-oldest' });
    void limiter.run(() => sleep(1_000));
    const dropped = limiter.run(() => 1).catch((error: unknown) => error);
    void limiter.run(() => 1);
    const error = await dropped;
    expect(error).toBeInstanceOf(QueueFullError);
    expect(error).toHaveProperty('gate', 'concurrency');
    expect(await givenUp('concurrency')).toBe(1);
  });

  it('when it finds the queue full; and `tryAcquire`, which does not wait, counts as cancelled', async () => {
    const limiter = createLimiter({ clock, concurrency: 1, maxQueue: 0 });
    void limiter.run(() => sleep(1_000));
    await expect(limiter.run(() => 1)).rejects.toThrow(QueueFullError);
    expect(limiter.tryAcquire()).toBeUndefined();
    expect(await givenUp('concurrency')).toBe(1);
    expect(gates()).toEqual(['concurrency', undefined]);
    const ended = (outcome: string) => ({ 'headgate.outcome': outcome });
    const now = await sdk.collect();
    expect(now.value('headgate.requests', ended('rejected'))).toBe(1);
    expect(now.value('headgate.requests', ended('cancelled'))).toBe(1);
  });
});

function aborting() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

describe('a wait for a backoff', () => {
  it('links to the request whose 429 began it, and to that attempt', async () => {
    const limiter = createLimiter({ clock, concurrency: 2, backoff: { reopen: 'all' } });
    const first = limiter.run(async ({ attempt }) => {
      await sleep(10);
      if (attempt === 1) throw busy;
    });
    await clock.advanceAsync(20);
    const second = limiter.run(() => 1);
    await clock.advanceAsync(5_000);
    await Promise.all([first, second]);
    const cause = sdk
      .finished('headgate.request')
      .find(({ attributes }) => attributes['headgate.attempts'] === 2);
    const attempt = sdk
      .finished('headgate.attempt')
      .find(({ attributes }) => attributes['error.type']);
    const waits = sdk
      .finished('headgate.wait')
      .filter((span) => parentOf(span) !== cause?.spanContext().spanId);
    expect(waits).toHaveLength(1);
    expect(waits[0]?.links.map(({ context }) => context.spanId)).toEqual([
      cause?.spanContext().spanId,
      attempt?.spanContext().spanId,
    ]);
  });
});

describe('a wait that the 429 of its own request caused', () => {
  it('links to its attempt, and not to the request, which is its parent', async () => {
    const limiter = createLimiter({ clock, random: () => 0.5 });
    const request = limiter.run(async ({ attempt }) => {
      await sleep(10);
      if (attempt === 1) throw busy;
    });
    await clock.advanceAsync(5_000);
    await request;
    const attempt = sdk
      .finished('headgate.attempt')
      .find(({ attributes }) => attributes['error.type']);
    const linked = sdk.finished('headgate.wait').filter(({ links }) => links.length > 0);
    expect(linked).not.toEqual([]);
    for (const { links } of linked) {
      expect(links.map(({ context }) => context.spanId)).toEqual([attempt?.spanContext().spanId]);
    }
  });
});

describe('a wait for the pace', () => {
  it('links to the request whose 429 slowed the rate, at the defaults', async () => {
    const limiter = createLimiter({ clock, random: () => 0.5 });
    const first = limiter.run(async ({ attempt }) => {
      await sleep(10);
      if (attempt === 1) throw busy;
    });
    await clock.advanceAsync(20);
    const second = limiter.run(() => sleep(10));
    await clock.advanceAsync(5_000);
    await Promise.all([first, second]);
    const cause = sdk
      .finished('headgate.request')
      .find(({ attributes }) => attributes['headgate.attempts'] === 2);
    const waits = sdk
      .finished('headgate.wait')
      .filter((span) => parentOf(span) !== cause?.spanContext().spanId);
    expect(waits.map(({ attributes }) => attributes['headgate.gate'])).toContain('pace');
    for (const { links } of waits) {
      expect(links[0]?.context.spanId).toBe(cause?.spanContext().spanId);
    }
  });

  it('links to nothing before a 429', async () => {
    const limiter = createLimiter({ clock, pace: { intervalMs: 500, jitter: 0 } });
    const both = [limiter.run(() => 1), limiter.run(() => 2)];
    await clock.advanceAsync(1_000);
    await Promise.all(both);
    const [wait] = sdk.finished('headgate.wait');
    expect(wait?.attributes['headgate.gate']).toBe('pace');
    expect(wait?.links).toEqual([]);
  });
});

describe('what adapts', () => {
  it('reports each change with its reason, old and new value, on the span, as an event and in a counter', async () => {
    const limiter = createLimiter({ clock, concurrency: 20, random: () => 0.5 });
    const heard: unknown[] = [];
    limiter.events$.subscribe((event) => {
      if (event.kind === 'rateAdapted') heard.push([event.reason, event.from, event.to]);
    });
    let calls = 0;
    const project = async () => {
      const call = calls++;
      await sleep(50);
      if (call >= 40 && call < 44) throw busy;
    };
    limiter
      .throttle(project)(from(Array.from({ length: 600 }, (_, n) => n)))
      .subscribe();
    await clock.advanceAsync(5_000);
    expect(heard[0]).toEqual(['rejected', Number.POSITIVE_INFINITY, expect.any(Number)]);
    expect(heard.length).toBeGreaterThan(1);
    const now = await sdk.collect();
    const changes = (reason: string) =>
      now.value('headgate.adaptations', { 'headgate.what': 'rate', 'headgate.reason': reason });
    expect(changes('rejected')).toBe(1);
    expect(changes('accepted')).toBe(heard.length - 1);
    expect(now.value('headgate.rate.target', { 'headgate.source': 'learned' })).toBeGreaterThan(0);
    const events = sdk
      .finished('headgate.request')
      .flatMap((span) => span.events.filter(({ name }) => name === 'headgate.adaptation'));
    expect(events[0]?.attributes).toMatchObject({
      'headgate.state': 'rateAdapted',
      'headgate.reason': 'rejected',
      'headgate.to': expect.any(Number),
    });
  });
});

/** The start of a request's span, in ms, while the wall clock is read so. */
async function startWith(limiter: Limiter, readWall: () => number): Promise<number> {
  const wall = vi.spyOn(Date, 'now').mockImplementation(readWall);
  try {
    await limiter.run(async () => {});
  } finally {
    wall.mockRestore();
  }
  const span = sdk.finished().find(({ name }) => name === 'headgate.request');
  const [seconds = 0, nanos = 0] = span?.startTime ?? [];
  return seconds * 1e3 + nanos / 1e6;
}

describe('spans', () => {
  it('never start before their parent, nor end before they start', async () => {
    const at = ([seconds, nanos]: readonly [number, number]) => seconds * 1e9 + nanos;
    // The SDK dates spans by the wall clock, which may be set while the test runs: then no order is
    // certain. The clock that nobody sets serves as both.
    const offsetMs = Date.now() - performance.now();
    vi.spyOn(Date, 'now').mockImplementation(() => Math.floor(offsetMs + performance.now()));
    const limiter = createLimiter({ concurrency: 3 });
    await sdk.tracer.startActiveSpan('caller', async (caller) => {
      await Promise.all(
        Array.from({ length: 60 }, () =>
          limiter.run(async () => {
            sdk.tracer.startSpan('client').end();
          }),
        ),
      );
      caller.end();
    });
    const spans = sdk.finished();
    const byId = new Map(spans.map((span) => [span.spanContext().spanId, span]));
    expect(spans.length).toBeGreaterThan(120);
    for (const span of spans) {
      expect(at(span.endTime)).toBeGreaterThanOrEqual(at(span.startTime));
      const parent = byId.get(parentOf(span) ?? '');
      if (parent === undefined) continue;
      expect(at(span.startTime), `${parent.name} > ${span.name}`).toBeGreaterThanOrEqual(
        at(parent.startTime),
      );
    }
  });

  it('and metrics are of a scope that has the version of the package', async () => {
    await createLimiter({ clock }).run(() => 1);
    const [span] = sdk.finished('headgate.request');
    expect(span?.instrumentationScope).toMatchObject({ name: 'headgate', version });
  });

  it('do not start late if the process pauses once while they are made', async () => {
    let now = 1_000_000;
    let isPauseDue: boolean | undefined;
    const clock = Object.assign(new ManualClock(), {
      now: () => {
        const read = now;
        // The process pauses after the clock is read for the first time since the wall clock was.
        if (isPauseDue === true) {
          now += 50;
          isPauseDue = false;
        }
        return read;
      },
    });
    const limiter = createLimiter({ clock });
    const readWall = () => {
      isPauseDue ??= true;
      return now;
    };
    expect(await startWith(limiter, readWall)).toBe(1_000_000);
  });

  it('do not start before the request arrived if the process pauses while they are made', async () => {
    let now = 1_000_000;
    const pausing = Object.assign(new ManualClock(), { now: () => now });
    const limiter = createLimiter({ clock: pausing });
    const arrivedAt = now;
    // The process pauses after each reading of the wall clock.
    const readWall = () => {
      now += 50;
      return now - 50;
    };
    expect(await startWith(limiter, readWall)).toBeGreaterThanOrEqual(arrivedAt);
  });
});
