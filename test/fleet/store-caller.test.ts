import { describe, expect, it } from 'vitest';
import { joinFleet } from '../../src/fleet/fleet.ts';
import { FleetModel } from '../../src/fleet/model/fleet-model.ts';
import type { ExchangeReply, ExchangeRequest } from '../../src/fleet/protocol.ts';
import { StoreCaller } from '../../src/fleet/store-caller.ts';
import { createLimiter } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';

const REQUEST = { worker: 'a', sequence: 1 } as ExchangeRequest;
const REPLY: ExchangeReply = { status: 'config', protocol: 1 };

/** A caller whose calls are answered by hand. */
function rig(clock = new ManualClock()) {
  const calls: { answer(): void; fail(): void }[] = [];
  const heard: string[] = [];
  const store = {
    exchange: () =>
      new Promise<ExchangeReply>((resolve, reject) => {
        calls.push({ answer: () => resolve(REPLY), fail: () => reject(new Error('refused')) });
      }),
  };
  const caller = new StoreCaller(store, clock, 400, {
    answered: (_reply, sentAt) => heard.push(`answered ${sentAt}`),
    lost: ({ message }, now) => heard.push(`lost ${now}: ${message}`),
    back: (awayMs) => heard.push(`back ${awayMs}`),
    called: () => {},
    repeated: (request) => request,
    isAwaited: () => true,
  });
  return { clock, calls, heard, caller };
}

describe('a caller of the store', () => {
  it('says at once that the store does not answer, and once that it is back', async () => {
    const { clock, calls, heard, caller } = rig();
    caller.call(REQUEST);
    await clock.advanceAsync(3_000);
    calls.at(-1)?.answer();
    await clock.advanceAsync(1_000);
    expect(heard).toEqual([
      'lost 400: the store did not answer within 400 ms',
      'back 2600',
      `answered ${heard.at(-1)?.split(' ')[1]}`,
    ]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('repeats no call that its listener ends when it hears of the loss', async () => {
    const { clock, calls, heard, caller } = rig();
    heard.push = (...lines) => {
      if (lines[0]?.startsWith('lost')) caller.end({ ...REQUEST, sequence: 2 });
      return Array.prototype.push.apply(heard, lines);
    };
    caller.call(REQUEST);
    await clock.advanceAsync(400);
    expect([calls.length, clock.pendingTimers]).toEqual([2, 0]);
    calls[1]?.fail();
    await clock.advanceAsync(3_000);
    expect(calls).toHaveLength(2);
  });

  it('ignores the failure of a repetition whose first call was answered late', async () => {
    const { clock, calls, heard, caller } = rig();
    caller.call(REQUEST);
    await clock.advanceAsync(500);
    calls[0]?.answer();
    await clock.advanceAsync(1);
    calls[1]?.fail();
    await clock.advanceAsync(3_000);
    expect([calls.length, heard.length, clock.pendingTimers]).toEqual([2, 3, 0]);
  });

  it('repeats a call that fails once, and says nothing', async () => {
    const { clock, calls, heard, caller } = rig();
    caller.call(REQUEST);
    calls[0]?.fail();
    await clock.advanceAsync(20);
    calls[1]?.answer();
    await clock.advanceAsync(1);
    expect(heard).toEqual(['answered 20']);
  });

  it('counts a late answer, and not that of the repetition', async () => {
    const { clock, calls, heard, caller } = rig();
    caller.call(REQUEST);
    await clock.advanceAsync(430);
    expect(calls).toHaveLength(2);
    calls[0]?.answer();
    await clock.advanceAsync(1);
    calls[1]?.answer();
    await clock.advanceAsync(1);
    expect(heard.slice(1)).toEqual(['back 30', 'answered 0']);
  });

  it('repeats a call that is not answered less and less often, and one that fails soon', async () => {
    const { clock, calls, caller } = rig();
    caller.call(REQUEST);
    await clock.advanceAsync(20_000);
    // Each is waited for 400 ms. After the fifth, and each further one, it waits for 2.5 s.
    expect(calls).toHaveLength(5 + 5);
    const failing = rig();
    failing.caller.call(REQUEST);
    for (let times = 1; times <= 40; times += 1) {
      failing.calls.at(-1)?.fail();
      await failing.clock.advanceAsync(250);
    }
    expect(failing.calls).toHaveLength(1 + 40);
  });

  it('reads an answer that came while the process stood still before it complains', async () => {
    let skippedMs = 0;
    const clock = new ManualClock();
    const standing = {
      now: () => clock.now() + skippedMs,
      setTimer: clock.setTimer.bind(clock),
    };
    const { calls, heard, caller } = rig(standing as ManualClock);
    caller.call(REQUEST);
    await clock.advanceAsync(399);
    // The timers of a process that wakes up fire before what has arrived is read.
    skippedMs = 10_000;
    await clock.advanceAsync(1);
    calls[0]?.answer();
    await clock.advanceAsync(1_000);
    expect(heard).toEqual(['answered 0']);
  });

  it('makes its last call after one that is pending, and repeats neither', async () => {
    const { clock, calls, heard, caller } = rig();
    caller.call(REQUEST);
    caller.end({ ...REQUEST, sequence: 2 });
    expect(calls).toHaveLength(2);
    for (const { fail } of calls) fail();
    await clock.advanceAsync(10_000);
    expect(calls).toHaveLength(2);
    expect(heard).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('waits for any thenable', async () => {
    const heard: string[] = [];
    const answer = (take: (reply: ExchangeReply) => void) => take(REPLY);
    // biome-ignore lint/suspicious/noThenProperty: promises of other libraries are like this
    const store = { exchange: () => ({ then: answer }) as unknown as Promise<ExchangeReply> };
    const caller = new StoreCaller(store, new ManualClock(), 400, {
      answered: (reply) => heard.push(reply.status),
      lost: () => heard.push('lost'),
      back: () => heard.push('back'),
      called: () => {},
      repeated: (request) => request,
      isAwaited: () => true,
    });
    caller.call(REQUEST);
    expect(heard).toEqual(['config']);
  });
});

describe('a worker', () => {
  it('that is closed while a call is pending frees its slots at once', async () => {
    const clock = new ManualClock();
    const model = new FleetModel();
    const slow = {
      join: joinFleet,
      ttlMs: 60_000,
      exchange: (request: ExchangeRequest) =>
        new Promise<ExchangeReply>((answer) => {
          clock.setTimer(() => answer(model.exchange(request, clock.now() * 1_000)), 50);
        }),
    };
    const limiters = [1, 2].map(() =>
      createLimiter({ concurrency: 4, adaptive: false, clock, shared: slow }),
    );
    const [first, second] = limiters as [(typeof limiters)[0], (typeof limiters)[0]];
    for (let request = 0; request < 4; request += 1) {
      void first.run(() => new Promise<void>((done) => clock.setTimer(done, 130)));
    }
    await clock.advanceAsync(160);
    first.close();
    await clock.advanceAsync(140);
    let sent = 0;
    const send = () => {
      sent += 1;
    };
    for (let request = 0; request < 4; request += 1) void second.run(send);
    await clock.advanceAsync(500);
    expect(sent).toBe(4);
    expect(second.snapshot().fleet?.workers).toBe(1);
  });

  it('that tells again what it holds keeps it', () => {
    const model = new FleetModel();
    const times = { ttl: 1_000_000, keep: 86_400_000_000, tick: 50_000 };
    const config = { limits: [], slots: 5, startSlots: 0, bytes: 0, ...times };
    const request = {
      protocol: 1,
      worker: 'a',
      sequence: 1,
      sent: 0,
      run: 0,
      workers: 0,
      took: 0,
      epoch: 0,
      config,
      slots: 0,
      alone: 0,
      wantedSlots: 5,
      headSlots: 1,
      keeps: 0,
      spareSlots: 0,
      bytes: 0,
      wantedBytes: 0,
      headBytes: 0,
      unused: [0, 0],
      settled: [0, 0],
      returned: [0, 0],
      term: 0,
      heard: 0,
      sends: 0,
      demand: [],
      closed: 0,
      throttled: 0,
      broken: 0,
      leads: 0,
      leaves: 0,
    } satisfies ExchangeRequest;
    const first = model.exchange(request, 1_000_000);
    // Its answer was lost; each repetition says that the worker is there.
    for (const time of [1.4e6, 1.8e6, 2.2e6, 2.6e6]) {
      expect(model.exchange(request, time)).toBe(first);
    }
    const other = model.exchange({ ...request, worker: 'b' }, 2.7e6);
    expect(other).toMatchObject({ workers: 2, slots: 0, why: 'slots' });
  });
});
