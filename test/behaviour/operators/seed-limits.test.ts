import { from, map, Observable, range, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { Sized, throttle } from '../../../src/index.ts';
import type { Outcome } from '../../../src/model/outcome.ts';
import { gateOpener } from '../../../src/request/gate-opener.ts';
import { PipelineSubscriber } from '../../../src/request/result-subscriber.ts';
import { TicketFactory } from '../../../src/request/ticket-factory.ts';
import { watch } from '../../request/harness.ts';
import { CountedClock } from '../../support/ruled-gate.ts';

const MINUTE = 60_000;
const LIMITS = { requestsPerMinute: 10_000, tokensPerMinute: 2_000_000 };

/** The most that fell into any interval of a minute. */
function fullest(sent: readonly { readonly at: number; readonly cost: number }[]): number {
  let first = 0;
  let sum = 0;
  let most = 0;
  for (const { at, cost } of sent) {
    sum += cost;
    for (; (sent[first]?.at ?? 0) + MINUTE <= at; first += 1) sum -= sent[first]?.cost ?? 0;
    most = Math.max(most, sum);
  }
  return most;
}

/** Sends a burst of requests of so many tokens each. */
async function burst(count: number, tokens: number) {
  const counted = new CountedClock();
  const { clock } = counted;
  const sent: { at: number; value: number }[] = [];
  const send = (value: number) => {
    sent.push({ at: clock.now(), value });
    return from([value]);
  };
  const requests = range(0, count).pipe(map((value) => new Sized(value, 0, tokens)));
  const seen = watch(requests.pipe(throttle(send, { ...LIMITS, clock: counted })));
  await clock.runAllAsync({ maxMs: 100 * MINUTE });
  expect(seen.state).toBe('complete');
  return { sent, counted };
}

describe('10,000 requests and 2,000,000 tokens a minute', () => {
  it('with 1,500 tokens each: the tokens bind, exactly, in every interval of a minute', async () => {
    const { sent } = await burst(5_000, 1_500);
    const each = sent.map(({ at }) => ({ at, cost: 1_500 }));
    expect(sent.map(({ value }) => value)).toEqual(Array.from({ length: 5_000 }, (_, n) => n));
    // 1,333 of them fit, and one more would not.
    expect(fullest(each)).toBe(1_333 * 1_500);
    expect(new Set(sent.map(({ at }) => at))).toEqual(new Set([0, MINUTE, 2 * MINUTE, 3 * MINUTE]));
  });

  it('lets a burst of 11,000 small requests pass in order, 10,000 in any minute', async () => {
    const { sent, counted } = await burst(11_000, 1);
    expect(sent.map(({ value }) => value)).toEqual(Array.from({ length: 11_000 }, (_, n) => n));
    expect(fullest(sent.map(({ at }) => ({ at, cost: 1 })))).toBe(10_000);
    expect(sent[9_999]?.at).toBe(0);
    expect(sent[10_000]?.at).toBe(MINUTE);
    expect(sent.at(-1)?.at).toBe(MINUTE);
    // One wait, one timer; and no more looks at the clock than there are steps to take.
    expect(counted.timers).toBe(1);
    expect(counted.reads).toBeLessThan(11_000 * 10);
  });

  it('spreads a steady stream as it comes, and never polls', async () => {
    const counted = new CountedClock();
    const { clock } = counted;
    const sent: { at: number; cost: number }[] = [];
    const source = new Subject<Sized<number>>();
    const send = (value: number) => {
      sent.push({ at: clock.now(), cost: value });
      return from([value]);
    };
    watch(source.pipe(throttle(send, { ...LIMITS, clock: counted })));
    for (let n = 0; n < 3_000; n += 1) {
      source.next(new Sized(1_500, 0, 1_500));
      clock.advance(30);
    }
    clock.runAll({ maxMs: 100 * MINUTE });
    expect(sent).toHaveLength(3_000);
    expect(fullest(sent)).toBe(1_333 * 1_500);
    expect(counted.timers).toBeLessThan(3_000);
  });
});

/** As `throttle` does it, but with the gate to look at. */
function sending(options: Parameters<typeof gateOpener>[0], clock: CountedClock['clock']) {
  const around = { clock, instrumentation: undefined, feedback: undefined };
  const opened = gateOpener({ ...options, clock })(around);
  const source = new Subject<number>();
  const seen = watch(
    new Observable<number | Outcome<number, number>>((out) => {
      const { gate } = opened;
      const dispatch = opened.dispatchContextOf((value: number) => [value]);
      const factory = new TicketFactory<number>({ clock, instrumentation: undefined });
      const pipeline = { factory, gate, dispatch };
      source.subscribe(new PipelineSubscriber(out, pipeline, { outcomes: true }));
    }),
  );
  const outcomes = () => seen.values as Outcome<number, number>[];
  return { opened, source, seen, outcomes };
}

describe('10 rapid requests with 6 a minute', () => {
  it('reports how many wait, until when, and how long each has waited', () => {
    const { clock } = new CountedClock();
    const { opened, source, outcomes } = sending({ requestsPerMinute: 6 }, clock);
    const look = () => {
      const { waiting, nextInMs, longestWaitMs } = opened.gate.snapshot();
      return [waiting, nextInMs, longestWaitMs];
    };
    for (let n = 0; n < 10; n += 1) {
      source.next(n);
      clock.advance(1_000);
    }
    expect(outcomes().map(({ request }) => request)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(look()).toEqual([4, 50_000, 4_000]);
    expect(opened.gate.waitKind).toBe('rateLimit');
    clock.advance(50_000);
    // Each when the one that was sent a minute before leaves the window.
    expect(look()).toEqual([3, 1_000, 53_000]);
    clock.advance(60_000);
    expect(
      outcomes()
        .slice(6)
        .map(({ stats }) => stats.waits),
    ).toEqual([
      { rateLimit: { waitMs: 54_000, rounds: 1, limits: { requests: 54_000 } } },
      { rateLimit: { waitMs: 54_000, rounds: 2, limits: { requests: 54_000 } } },
      { rateLimit: { waitMs: 54_000, rounds: 2, limits: { requests: 54_000 } } },
      { rateLimit: { waitMs: 54_000, rounds: 2, limits: { requests: 54_000 } } },
    ]);
    expect(look()).toEqual([0, undefined, 0]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('rolls over: what was sent at 0 s has left the window after 60 s', () => {
    const { clock } = new CountedClock();
    const { opened, source } = sending({ requestsPerMinute: 9 }, clock);
    const used = () => opened.policies.rateLimit?.snapshot(clock.now()).requests?.used;
    for (const ms of [0, 0, 0, 30_000]) {
      clock.advance(ms);
      source.next(1);
    }
    expect(used()).toBe(4);
    clock.advance(29_999);
    expect(used()).toBe(4);
    clock.advance(1);
    expect(used()).toBe(1);
  });

  it('holds and charges nothing, and has no timer, when waiting requests leave', () => {
    const { clock } = new CountedClock();
    const options = { requestsPerMinute: 2, waitTimeoutMs: 9e6, maxQueue: 9, adaptive: 'failures' };
    const { opened, source, seen } = sending(options as Parameters<typeof gateOpener>[0], clock);
    for (let n = 0; n < 6; n += 1) source.next(n);
    const used = () => opened.policies.rateLimit?.snapshot(clock.now()).requests?.used;
    expect([used(), opened.gate.waiting, clock.pendingTimers]).toEqual([2, 4, 2]);
    seen.subscription.unsubscribe();
    expect([used(), opened.gate.waiting, clock.pendingTimers]).toEqual([2, 0, 0]);
    expect(opened.slots.inFlight).toBe(0);
  });
});
