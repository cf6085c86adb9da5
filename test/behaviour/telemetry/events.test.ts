import { ManualClock } from 'headgate/simulator';
import { from } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLimiter, throttle } from '../../../src/index.ts';
import { lengthOf, type Sdk, startSdk } from '../../telemetry/sdk.ts';

let sdk: Sdk;
let clock: ManualClock;
beforeEach(() => {
  sdk = startSdk();
  clock = new ManualClock();
});
afterEach(() => sdk.stop());

const sleep = (ms: number) => new Promise<void>((resolve) => clock.setTimer(resolve, ms));

/** Of each request, in the order in which they ended: the events of that name on its span. */
function eventsOf(name: string) {
  return sdk
    .finished('headgate.request')
    .map(({ events }) =>
      events.filter((event) => event.name === name).map(({ attributes }) => attributes),
    );
}

describe('a wait at a gate', () => {
  it('of up to 1 ms is an event, and a longer one a span, which began as the wait did', async () => {
    const limiter = createLimiter({ clock, concurrency: 1 });
    const sent = [1, 1, 5].map((ms) => limiter.run(() => sleep(ms)));
    await clock.advanceAsync(10);
    await Promise.all(sent);
    expect(eventsOf('headgate.wait')).toEqual([
      [],
      [{ 'headgate.gate': 'concurrency', 'headgate.seconds': 0.001 }],
      [],
    ]);
    const waits = sdk.finished('headgate.wait');
    expect(waits.map(lengthOf)).toEqual([2]);
    const [, , last] = sdk.finished('headgate.request');
    expect(waits[0]?.startTime).toEqual(last?.startTime);
  });

  it('of no duration is not reported', async () => {
    await createLimiter({ clock, concurrency: 1 }).run(async () => 1);
    expect(eventsOf('headgate.wait')).toEqual([[]]);
    expect(sdk.finished('headgate.wait')).toEqual([]);
  });
});

describe('an adaptation', () => {
  it('is an event on the request whose end has caused it, and on no other', async () => {
    const down = Object.assign(new Error('down'), { status: 500 });
    const project = async (isDown: boolean) => {
      if (isDown) throw down;
    };
    from([false, true, false])
      .pipe(
        throttle(project, {
          clock,
          concurrency: 8,
          outcomes: true,
          maxAttempts: 1,
          adaptive: { strategy: 'failures', failureThreshold: 1 },
        }),
      )
      .subscribe();
    await clock.advanceAsync(100);
    const told = eventsOf('headgate.adaptation');
    expect(told.filter((events) => events.length > 0)).toEqual([
      [
        {
          'headgate.state': 'decelerated',
          'headgate.reason': 'failures',
          'headgate.from': 8,
          'headgate.to': 4,
        },
      ],
    ]);
    const failed = sdk
      .finished('headgate.request')
      .findIndex(({ attributes }) => attributes['headgate.outcome'] === 'failed');
    expect(told[failed]).toHaveLength(1);
  });

  it('by latency is an event, too', async () => {
    const limiter = createLimiter({
      clock,
      concurrency: 50,
      adaptive: { strategy: 'latency', initialLimit: 20, minLimit: 1 },
    });
    let latencyMs = 10;
    const wave = async () => {
      const sent = Array.from({ length: 30 }, () => limiter.run(() => sleep(latencyMs)));
      await clock.advanceAsync(1_000);
      await Promise.all(sent);
    };
    for (let n = 0; n < 20; n += 1) await wave();
    latencyMs = 100;
    for (let n = 0; n < 5; n += 1) await wave();
    const told = eventsOf('headgate.adaptation').flat();
    expect(told.length).toBeGreaterThan(0);
    expect(new Set(told.map((event) => event?.['headgate.state']))).toEqual(
      new Set(['limitAdapted']),
    );
    const shrunk = told.filter(
      (event) => Number(event?.['headgate.to']) < Number(event?.['headgate.from']),
    );
    expect(shrunk.length).toBeGreaterThan(0);
  });
});
