import { TracerProvider } from '@opentelemetry/sdk-trace';
import { createLimiter, createLimiterGroup, throttle } from 'headgate';
import { ManualClock } from 'headgate/simulator';
import { NEVER, Subject } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MOST_GATES, Monitor } from '../../src/inspector/monitor.ts';
import { MOST_RECORDS } from '../../src/inspector/request-log.ts';
import { COLUMNS, GATES, type GateDetail, type GateSummary } from '../../src/inspector/wire.ts';

const START = 1_700_000_000_000;
let clock: ManualClock;
let monitor: Monitor;

beforeEach(() => {
  clock = new ManualClock();
  monitor = new Monitor({ showValues: false, wallNow: () => START + clock.now() });
});

afterEach(() => monitor.close());

function named(name: string): GateSummary {
  const summary = monitor.summaries.find((each) => each.name === name);
  if (summary === undefined) throw new Error(`nothing is named ${name}`);
  return summary;
}

function detailOf(name: string): GateDetail {
  const detail = monitor.find(named(name).id)?.detail(undefined);
  if (detail === undefined) throw new Error(`nothing is known of ${name}`);
  return detail;
}

function requestsOf(name: string, outcome: 'all' | 'failed' | 'retried' = 'all') {
  return monitor.requests({ gate: named(name).id, sort: 'latest', outcome, most: 200 });
}

const never = () => new Promise<never>(() => {});

describe('where the system clock steps back', () => {
  it('time lines stay in order, and go on', async () => {
    let setMs = 0;
    const own = new Monitor({ showValues: false, wallNow: () => START + clock.now() + setMs });
    const limiter = createLimiter({ name: 'steps', clock });
    const id = own.summaries.find(({ name }) => name === 'steps')?.id ?? -1;
    const secondsAfter = async (looks: number) => {
      for (let look = 0; look < looks; look += 1) {
        await limiter.run(async () => 1);
        await clock.advanceAsync(1_000);
        own.look();
      }
      return own
        .find(id)
        ?.timeline.last(10)
        .map(([second]) => (second ?? 0) - START / 1_000);
    };
    expect(await secondsAfter(2)).toEqual([1, 2]);
    setMs = -5 * 3_600_000;
    expect(await secondsAfter(3)).toEqual([1, 2, 3, 4, 5]);
    expect(own.frame(undefined, undefined, false).at - START).toBe(5_000);
    setMs = 0;
    expect(await secondsAfter(1)).toEqual([1, 2, 3, 4, 5, 6]);
    own.close();
    limiter.close();
  });
});

describe('the followed limiters and streams', () => {
  it('are all limiters, keys and streams, with names, including earlier ones', () => {
    const before = new Monitor({ showValues: false, wallNow: () => 0 });
    before.close();
    const early = createLimiter({ name: 'early', clock });
    const late = new Monitor({ showValues: false, wallNow: () => START });
    const limiter = createLimiter({ clock });
    const group = createLimiterGroup(() => '', { name: 'models', clock });
    void group.run('large', never);
    const stream = NEVER.pipe(throttle(never, { name: 'stream', clock })).subscribe();
    const seen = late.summaries.map(({ name, kind }) => `${kind} ${name}`);
    expect(seen).toContain('limiter early');
    expect(seen).toContain('key models / large');
    expect(seen).toContain('stream stream');
    expect(seen.some((each) => /^limiter limiter \d+$/.test(each))).toBe(true);
    late.close();
    stream.unsubscribe();
    for (const each of [early, limiter, group]) each.close();
  });

  it.each([
    [
      'slots',
      { concurrency: 1 },
      'concurrency',
      '1 waits: all slots that the keys of its group share are taken.',
    ],
    [
      'bytes',
      { maxBytes: 1 },
      'byteBudget',
      '1 waits: the bytes that the keys of its group share are in flight.',
    ],
    [
      'money',
      { costBudget: { maxCost: 5, windowMs: 60_000, inputPrice: 1e6 } },
      'costBudget',
      '1 waits: the budget of money that the keys of its group share is used up for now.',
    ],
  ])('tell of %s that a group shares', async (name, shared, binding, headline) => {
    const group = createLimiterGroup((key: string) => key, { name, shared, clock });
    const runs = ['a', 'b'].map((key) => group.run(key, never, { bytes: 2, tokens: 5 }));
    for (const run of runs) run.catch(() => {});
    await clock.advanceAsync(0);
    monitor.look();
    expect(detailOf(`${name} / b`)).toMatchObject({ binding, headline });
    group.close({ waiting: 'reject' });
  });

  it('tell that a request needs more slots than are free', async () => {
    const limiter = createLimiter({ name: 'heavy', concurrency: 4, clock });
    for (const weight of [3, 3]) limiter.run(never, { weight }).catch(() => {});
    await clock.advanceAsync(0);
    monitor.look();
    const headline = '1 waits: 3 of 4 slots are taken, and the first needs more.';
    expect(detailOf('heavy')).toMatchObject({ binding: 'concurrency', headline });
    limiter.close({ waiting: 'reject' });
  });

  it('tell how much of a budget of money is spent', async () => {
    const costBudget = { maxCost: 5, windowMs: 60_000, inputPrice: 1e6 };
    const limiter = createLimiter({ name: 'money', costBudget, clock });
    await limiter.run(async () => 1, { tokens: 2 });
    monitor.look();
    const { stations, limits } = detailOf('money') ?? {};
    expect(stations).toContainEqual(
      expect.objectContaining({ gate: 'costBudget', title: 'Money', text: '2 of 5', fill: 0.4 }),
    );
    expect(limits).toContainEqual(
      expect.objectContaining({ name: 'budget of money', used: 2, limit: 5, windowMs: 60_000 }),
    );
    limiter.close();
  });

  it('stay visible after their end, if they were used', async () => {
    const requests = new Subject<number>();
    requests.pipe(throttle(async () => 1, { name: 'used', clock })).subscribe();
    const unused = NEVER.pipe(throttle(never, { name: 'unused', clock })).subscribe();
    requests.next(1);
    monitor.look();
    await clock.advanceAsync(0);
    requests.complete();
    unused.unsubscribe();
    monitor.look();
    expect(detailOf('used')).toMatchObject({ condition: 'ended', ended: { ok: 1 } });
    const [point = []] = monitor.find(named('used').id)?.timeline.last(1) ?? [];
    expect(point[COLUMNS.indexOf('inFlight')]).toBe(0);
    expect(monitor.summaries.map(({ name }) => name)).not.toContain('unused');
    await clock.advanceAsync(16 * 60_000);
    for (let look = 0; look < 4; look += 1) monitor.look();
    expect(monitor.summaries.map(({ name }) => name)).not.toContain('used');
  });

  it('are at most 200; the others are counted', () => {
    const limiters = Array.from({ length: MOST_GATES + 7 }, () => createLimiter({ clock }));
    const { gates = [], more = 0 } = monitor.frame(undefined, undefined, true);
    expect(gates).toHaveLength(MOST_GATES);
    expect(more).toBeGreaterThanOrEqual(7);
    for (const limiter of limiters) limiter.close();
  });

  /** As many as there are places. Keys and streams of other tests may still have some. */
  const fill = () =>
    Array.from({ length: MOST_GATES - monitor.summaries.length }, (_, at) =>
      createLimiter({ name: `many ${at}`, clock }),
    );
  const isFollowed = (name: string) => monitor.summaries.some((each) => each.name === name);

  it('are active ones before those that have been idle for 10 s', async () => {
    const limiters = [...fill(), createLimiter({ name: 'late', clock })];
    const [first, second] = limiters;
    const late = limiters.at(-1);
    void first?.run(never);
    monitor.look();
    await clock.advanceAsync(9_000);
    await late?.run(async () => 1);
    monitor.look();
    expect(isFollowed('late')).toBe(false);
    detailOf('many 1');
    await clock.advanceAsync(1_000);
    monitor.look();
    expect(isFollowed('late')).toBe(false);
    await late?.run(async () => 1);
    monitor.look();
    expect(['late', 'many 0', 'many 1', 'many 2'].map(isFollowed)).toEqual([
      true,
      true,
      true,
      false,
    ]);
    expect(monitor.frame(undefined, undefined, true)).toMatchObject({ more: 1 });
    await late?.run(async () => 1);
    monitor.look();
    expect(detailOf('late')).toMatchObject({ sent: 1, ended: { ok: 3 } });
    expect(second?.snapshot().waiting).toBe(0);
    for (const limiter of limiters) limiter.close();
  });

  it('include another one as soon as a followed one has closed', async () => {
    const limiters = [...fill(), createLimiter({ name: 'late', clock })];
    monitor.look();
    expect(isFollowed('late')).toBe(false);
    limiters[0]?.close();
    monitor.look();
    expect(isFollowed('late')).toBe(true);
    for (const limiter of limiters) limiter.close();
    expect(monitor.frame(undefined, undefined, true)).toMatchObject({ more: 0 });
  });

  it('include an active one when others have ended', async () => {
    const limiters = fill();
    for (const limiter of limiters) await limiter.run(async () => 1);
    monitor.look();
    const late = createLimiter({ name: 'late', clock });
    limiters[0]?.close();
    void late.run(never);
    monitor.look();
    expect(isFollowed('late')).toBe(true);
    for (const limiter of [...limiters, late]) limiter.close();
  });

  it('are released when the inspector ends', async () => {
    const limiter = createLimiter({ name: 'left', clock });
    const gate = monitor.find(named('left').id)?.gate;
    expect(gate?.gate.tap.follower).toBeDefined();
    monitor.close();
    expect(gate?.gate.tap.follower).toBeUndefined();
    await limiter.run(async () => 1);
    limiter.close();
  });
});

describe('the shown state', () => {
  it('agrees with snapshot()', async () => {
    const limiter = createLimiter({
      name: 'same',
      clock,
      concurrency: 2,
      maxBytes: 1_000,
      requestsPerMinute: 100,
      total: 20,
    });
    const ends: (() => void)[] = [];
    const task = () => new Promise<void>((resolve) => ends.push(resolve));
    const failing = () => Promise.reject(new TypeError('no'));
    await limiter.run(async () => 1);
    await limiter.run(failing).catch(() => {});
    for (let request = 0; request < 7; request += 1) void limiter.run(task, { bytes: 10 });
    await clock.advanceAsync(1_000);
    monitor.look();
    const snapshot = limiter.snapshot();
    const detail = detailOf('same');
    expect(detail).toMatchObject({
      waiting: snapshot.waiting,
      inFlight: snapshot.concurrency.inFlight,
      limit: snapshot.concurrency.limit,
      maxLimit: snapshot.maxConcurrency,
      binding: snapshot.binding,
      ended: snapshot.ended,
      mode: snapshot.mode,
      dropped: snapshot.dropped,
      bytes: { used: snapshot.byteBudget.used, limit: snapshot.byteBudget.maxBytes },
      longestWaitMs: snapshot.concurrency.longestWaitMs,
    });
    expect(detail.progress).toMatchObject({ completed: 2, total: 20 });
    expect(detail.limits.find(({ name }) => name === 'requests')).toMatchObject({
      used: snapshot.rateLimit?.requests?.used,
      limit: 100,
      windowMs: 60_000,
    });
    expect(detail.waiting).toBe(5);
    for (const end of ends) end();
    limiter.close();
  });

  it('is in words, with the time left', async () => {
    const limiter = createLimiter({
      name: 'said',
      clock,
      limits: { requests: { limit: 2, windowMs: 60_000 } },
    });
    for (let request = 0; request < 5; request += 1) void limiter.run(async () => 1);
    await clock.advanceAsync(10_000);
    monitor.look();
    expect(detailOf('said')).toMatchObject({
      condition: 'held',
      headline: '3 wait: your limit allows 2 requests a minute.',
      leftMs: 50_000,
      waitingBy: { rateLimit: 3 },
    });
    expect(detailOf('said').stations.filter(({ isBinding }) => isBinding)).toMatchObject([
      { gate: 'rateLimit', text: '2 of 2 requests', fill: 1, waiting: 3 },
    ]);
    limiter.close();
  });

  it('mentions no rejection without one, and no wait too short to read', async () => {
    const limiter = createLimiter({
      name: 'begins',
      clock,
      adaptive: { strategy: 'rate', initialPerSecond: 20 },
    });
    for (let request = 0; request < 9; request += 1) void limiter.run(async () => 1);
    await clock.advanceAsync(0);
    monitor.look();
    expect(detailOf('begins')).toMatchObject({
      condition: 'held',
      binding: 'pace',
      headline: expect.stringMatching(
        /wait: [\d.]+ requests a second are sent, and more as long as none is rejected\.$/,
      ),
      leftMs: undefined,
    });
    limiter.close();
  });

  it('is an open circuit, a backoff, a limiter that drains', async () => {
    const broken = createLimiter({
      name: 'broken',
      clock,
      maxAttempts: 1,
      circuitBreaker: { consecutiveFailures: 2, openMs: 30_000, onOpen: 'wait' },
    });
    for (let request = 0; request < 2; request += 1) {
      await broken.run(() => Promise.reject({ status: 500 })).catch(() => {});
    }
    void broken.run(async () => 1);
    const asked = createLimiter({ name: 'asked', clock, adaptive: false });
    const error = { status: 429, headers: { 'retry-after': '20' } };
    void asked.run(() => Promise.reject(error)).catch(() => {});
    const draining = createLimiter({ name: 'draining', clock });
    void draining.run(never);
    draining.close();
    await clock.advanceAsync(5_000);
    monitor.look();
    expect(detailOf('broken')).toMatchObject({
      condition: 'circuitOpen',
      headline: 'The circuit is open: nothing is sent; 1 waits.',
      leftMs: 25_000,
      leftLabel: 'A probe is sent in',
    });
    expect(detailOf('asked')).toMatchObject({
      condition: 'backoff',
      leftMs: 15_000,
      leftLabel: 'Sends again in',
      throttled: 1,
    });
    expect(detailOf('draining')).toMatchObject({
      condition: 'draining',
      headline: 'It takes no new requests; nothing waits and 1 runs.',
    });
    for (const each of [broken, asked]) each.close();
  });

  it('is throttled mode, with the slots and the time that it leaves', async () => {
    const limiter = createLimiter({
      name: 'throttled',
      clock,
      adaptive: false,
      concurrency: 40,
      throttledConcurrency: 3,
    });
    const error = { status: 429, headers: { 'retry-after': '2' } };
    let calls = 0;
    void limiter.run(() => {
      calls += 1;
      return calls === 1 ? Promise.reject(error) : Promise.resolve();
    });
    await clock.advanceAsync(3_000);
    for (let request = 0; request < 9; request += 1) void limiter.run(never);
    await clock.advanceAsync(2_000);
    monitor.look();
    const detail = detailOf('throttled');
    expect(detail).toMatchObject({
      condition: 'throttled',
      limit: 3,
      headline: '6 wait: throttled mode leaves 3 slots, and all are taken.',
      hint: 'The first has waited for 2.0 s. Throttled mode ends in 7.0 s.',
    });
    expect(detail.limits.find(({ name }) => name === 'concurrency')).toMatchObject({
      source: 'set',
      limit: 3,
      note: 'in throttled mode; 40 in normal mode',
    });
    limiter.close();
  });

  it('is an outage with the time to its next probe, and a pause with its reason', async () => {
    const out = createLimiter({ name: 'out', clock });
    const failing = () => Promise.reject({ status: 429 });
    for (let request = 0; request < 60; request += 1) {
      void out.run(failing).catch(() => {});
      await clock.advanceAsync(200);
    }
    const paused = createLimiter({ name: 'paused', clock });
    paused.pause('a look at the answers');
    void paused.run(async () => 1);
    monitor.look();
    expect(detailOf('out')).toMatchObject({
      condition: 'outage',
      leftLabel: 'Next probe in',
      hint: 'Single probes are sent until one goes well.',
    });
    expect(detailOf('out').leftMs).toBeGreaterThan(0);
    expect(detailOf('paused')).toMatchObject({
      condition: 'paused',
      headline: 'Nothing is sent; 1 waits.',
      hint: 'Reason: a look at the answers.',
    });
    for (const each of [out, paused]) each.close();
  });

  it('is a provider that cannot be reached, with the time to the next probe and to the end', async () => {
    const cut = createLimiter({ name: 'cut', clock, outageMs: 300_000 });
    const refused = () => Promise.reject(Object.assign(new Error(), { code: 'ECONNREFUSED' }));
    for (let request = 0; request < 4; request += 1) void cut.run(refused).catch(() => {});
    await clock.advanceAsync(2_000);
    monitor.look();
    expect(detailOf('cut')).toMatchObject({
      condition: 'outage',
      headline: 'The provider cannot be reached; 4 wait.',
      hint: 'That has lasted for 2.0 s, and 2 probes failed. Requests that wait fail in 4 min 58 s if none is answered. 6 of 6 calls failed in the last minute, the latest with ECONNREFUSED.',
      leftMs: 1_500,
      leftLabel: 'Next probe in',
    });
    expect(detailOf('cut').stations).toContainEqual(
      expect.objectContaining({ text: 'unreachable: single probes', isClosed: true }),
    );
    cut.close({ waiting: 'reject' });
  });

  it('is that most calls fail, since when, and with what', async () => {
    const limiter = createLimiter({ name: 'key', clock });
    const ask = (call: () => Promise<unknown>) => limiter.run(call).catch(() => {});
    await ask(async () => 1);
    monitor.look();
    await clock.advanceAsync(30_000);
    const refused = () => Promise.reject({ status: 401 });
    for (let call = 0; call < 4; call += 1) await ask(refused);
    monitor.look();
    expect(detailOf('key')).toMatchObject({
      condition: 'flowing',
      hint: '4 of 5 calls failed in the last minute, the latest with HTTP 401.',
    });
    await ask(refused);
    monitor.look();
    const failing = { condition: 'failing', headline: 'Most calls fail; nothing waits.' };
    expect(detailOf('key')).toMatchObject({ ...failing, since: undefined });
    await clock.advanceAsync(6_000);
    monitor.look();
    expect(detailOf('key')).toMatchObject({ ...failing, since: START + 30_000 });
    await clock.advanceAsync(60_000);
    monitor.look();
    expect(detailOf('key').hint).toBe('');
    limiter.close();
  });

  it('is that most calls fail at the deadline of their requests', async () => {
    const limiter = createLimiter({
      name: 'overdue',
      clock,
      concurrency: 5,
      deadlineMs: 1_000,
      random: () => 0.5,
    });
    const ask = (call: () => Promise<unknown>) => limiter.run(call).catch(() => {});
    for (let call = 0; call < 4; call += 1) void ask(never);
    // Its second attempt ends at the deadline; the first one got another error.
    const second = { status: 500 };
    void ask(() => (second.status++ === 500 ? Promise.reject({ status: 500 }) : never()));
    await clock.advanceAsync(1_000);
    monitor.look();
    expect(detailOf('overdue')).toMatchObject({
      condition: 'failing',
      headline: 'Most calls fail; nothing waits.',
      hint: '6 of 6 calls failed in the last minute, the latest with DeadlineExceededError.',
    });
    expect(requestsOf('overdue', 'retried')[0]).toMatchObject({
      error: 'DeadlineExceededError',
      parts: expect.arrayContaining([
        expect.objectContaining({ kind: 'attempt', error: 'DeadlineExceededError' }),
      ]),
    });
    limiter.close();
  });

  it('tells of requests that were refused, and with what', async () => {
    const limits = { requests: { limit: 1, windowMs: 60_000 } };
    const limiter = createLimiter({ name: 'refused', clock, limits, onLimit: 'fail' });
    const busy = createLimiter({ name: 'timed out', clock, concurrency: 1, waitTimeoutMs: 1_000 });
    for (let call = 0; call < 3; call += 1) {
      await limiter.run(async () => 1).catch(() => {});
      void busy.run(never).catch(() => {});
    }
    await clock.advanceAsync(1_000);
    void busy.run(never).catch(() => {});
    monitor.look();
    expect(detailOf('refused').hint).toBe(
      '2 requests were refused unsent in the last minute, the latest with RateLimitExceededError.',
    );
    expect(detailOf('timed out')).toMatchObject({
      headline: '1 waits: the one slot is taken.',
      hint: '2 requests were refused unsent in the last minute, the latest with WaitTimeoutError. The first has waited for 0 ms.',
    });
    await clock.advanceAsync(60_000);
    monitor.look();
    expect(detailOf('refused').hint).toBe('');
    limiter.close();
    busy.close({ waiting: 'reject' });
  });

  it('is told of calls of which none ends', async () => {
    const limiter = createLimiter({ name: 'hung', clock, concurrency: 2 });
    for (let call = 0; call < 3; call += 1) void limiter.run(never).catch(() => {});
    monitor.look();
    await clock.advanceAsync(40_000);
    monitor.look();
    expect(detailOf('hung')).toMatchObject({
      condition: 'held',
      headline: '1 waits: all 2 slots are taken.',
      hint: 'No call has ended for 40 s. The first has waited for 40 s.',
    });
    limiter.close({ waiting: 'reject' });
  });

  it('is a quota without a named end, for which no request can wait', async () => {
    const limiter = createLimiter({ name: 'quota', clock, onLongWait: 'wait' });
    const error = { status: 429, error: { code: 'insufficient_quota' } };
    await limiter.run(() => Promise.reject(error)).catch(() => {});
    monitor.look();
    expect(detailOf('quota')).toMatchObject({
      condition: 'suspended',
      headline: 'The quota at the provider is used up; requests fail at once.',
      hint: 'One request tests it then.',
    });
    limiter.close();
  });

  it('is the backoff of a rejection, which a rate that adapts keeps too', async () => {
    const limiter = createLimiter({ name: 'shut', clock });
    const error = { status: 429, headers: { 'retry-after': '5' } };
    const ask = (call: () => Promise<never>) => limiter.run(call).catch(() => {});
    void ask(() => Promise.reject(error));
    await clock.advanceAsync(0);
    for (let request = 0; request < 2; request += 1) void ask(never);
    monitor.look();
    const detail = detailOf('shut');
    expect(detail).toMatchObject({ condition: 'backoff', binding: 'backoff', waiting: 3 });
    expect(detail.waitingBy).toEqual({ backoff: 3 });
    // The one that waits to be sent again keeps its slot, and is counted once.
    expect(detail).toMatchObject({ inFlight: 1, running: 0 });
    limiter.close({ waiting: 'reject' });
  });

  it.each([
    ['fail', 'requests fail at once', "With onLongWait: 'wait' they would wait."],
    ['wait', '2 wait', ''],
  ] as const)('is the decision for a long wait: %s', async (onLongWait, what, hint) => {
    const name = `suspended ${onLongWait}`;
    const limiter = createLimiter({ name, clock, onLongWait });
    const error = { status: 429, headers: { 'retry-after': '3600' } };
    void limiter.run(() => Promise.reject(error)).catch(() => {});
    void limiter.run(() => Promise.reject(error)).catch(() => {});
    await clock.advanceAsync(60_000);
    if (onLongWait === 'fail') {
      await expect(limiter.run(never, { tokens: 420 })).rejects.toThrow();
    }
    monitor.look();
    // What was never sent has used no tokens.
    const [point = []] = monitor.find(named(name).id)?.timeline.last(1) ?? [];
    expect(point[COLUMNS.indexOf('tokens')]).toBe(0);
    expect(detailOf(name)).toMatchObject({
      condition: 'suspended',
      headline: `The provider asked for a long wait; ${what}.`,
      hint,
      leftMs: 3_540_000,
      leftLabel: 'Sends again in',
    });
    expect(detailOf(name).stations).toContainEqual(
      expect.objectContaining({
        text: 'suspended, 59 min left',
        isClosed: true,
        isBinding: onLongWait === 'wait',
      }),
    );
    limiter.close({ waiting: 'reject' });
  });

  it('counts what waits once in a second in which its cause changes', async () => {
    const limiter = createLimiter({ name: 'moved', clock, concurrency: 1 });
    void limiter.run(never);
    for (let request = 0; request < 5; request += 1) void limiter.run(never);
    monitor.look();
    limiter.pause();
    monitor.look();
    const [point = []] = monitor.find(named('moved').id)?.timeline.last(1) ?? [];
    const waits = GATES.map((gate) => point[COLUMNS.indexOf(gate)] ?? 0);
    expect(waits.reduce((sum, each) => sum + each)).toBe(5);
    limiter.close();
  });

  it('is a point a second', async () => {
    const limiter = createLimiter({ name: 'timed', clock });
    for (let second = 0; second < 3; second += 1) {
      for (let look = 0; look < 4; look += 1) {
        void limiter.run(async () => 1, { bytes: 7 });
        await clock.advanceAsync(249);
        monitor.look();
        await clock.advanceAsync(1);
      }
    }
    const points = monitor.find(named('timed').id)?.timeline.last(3) ?? [];
    expect(points.map(([time, sent, ok]) => [time, sent, ok])).toEqual([
      [START / 1_000, 4, 4],
      [START / 1_000 + 1, 4, 4],
      [START / 1_000 + 2, 4, 4],
    ]);
    expect(detailOf('timed').bytesSent).toBe(12 * 7);
    limiter.close();
  });
});

describe('the record of a request', () => {
  it('names waits, attempts, and the request whose 429 held it', async () => {
    const limiter = createLimiter({ name: 'way', clock, adaptive: false, concurrency: 1 });
    let calls = 0;
    const task = async () => {
      calls += 1;
      const isFirst = calls === 1;
      await new Promise((resolve) => clock.setTimer(() => resolve(0), 100));
      if (isFirst)
        throw Object.assign(new Error('slow down'), {
          status: 429,
          headers: { 'retry-after': '3' },
        });
    };
    const done = Promise.all([limiter.run(task), limiter.run(task)]);
    await clock.advanceAsync(60_000);
    await done;
    const [second, first] = requestsOf('way');
    expect(first?.parts).toMatchObject([
      {
        kind: 'attempt',
        attempt: 1,
        startMs: 0,
        ms: 100,
        result: 'throttled',
        status: 429,
        retryAfterMs: 3_000,
      },
      {
        kind: 'wait',
        gate: 'backoff',
        startMs: 100,
        ms: 3_000,
        cause: { id: first?.id, index: first?.index, status: 429 },
      },
      { kind: 'attempt', attempt: 2, startMs: 3_100, ms: 100, result: 'ok' },
    ]);
    expect(first).toMatchObject({ attempts: 2, outcome: 'ok', durationMs: 3_200 });
    expect(second?.parts).toMatchObject([
      { kind: 'wait', startMs: 0, ms: 3_200 },
      { kind: 'attempt', attempt: 1, startMs: 3_200, ms: 100, result: 'ok' },
    ]);
    expect(requestsOf('way', 'retried')).toHaveLength(1);
    expect(requestsOf('way', 'failed')).toHaveLength(0);
    limiter.close();
  });

  it('names its trace if that is wanted', async () => {
    const tracer = new TracerProvider().getTracer('test');
    const options = { name: 'traced', clock, telemetry: { tracer } } as const;
    const unwanted = createLimiter(options);
    await unwanted.run(async () => 1);
    expect(requestsOf('traced').map(({ traceId }) => traceId)).toEqual([undefined]);
    unwanted.close();
    monitor.close();
    const linking = new Monitor({ showValues: false, keepsTraces: true, wallNow: () => START });
    const limiter = createLimiter(options);
    await limiter.run(async () => 1);
    const gate = linking.summaries.at(-1)?.id ?? 0;
    const [record] = linking.requests({ gate, sort: 'latest', outcome: 'all', most: 1 });
    expect(record?.traceId).toMatch(/^[\da-f]{32}$/);
    linking.close();
    limiter.close();
  });

  it('has no value and no message unless the option is set', async () => {
    const secret = 'my secret prompt';
    const showing = new Monitor({ showValues: true, wallNow: () => START });
    const requests = new Subject<string>();
    const fail = () => Promise.reject(new Error(secret));
    const options = { name: 'secret', clock, outcomes: true, maxAttempts: 1 } as const;
    const stream = requests.pipe(throttle(fail, options)).subscribe();
    requests.next(secret);
    await clock.advanceAsync(0);
    const id = showing.summaries.find(({ name }) => name === 'secret')?.id ?? 0;
    const query = { gate: id, sort: 'latest', outcome: 'all', most: 10 } as const;
    expect(JSON.stringify(showing.requests(query))).toContain(secret);
    showing.close();
    stream.unsubscribe();

    const again = requests.pipe(throttle(fail, { ...options, name: 'hidden' })).subscribe();
    requests.next(secret);
    await clock.advanceAsync(0);
    expect(requestsOf('hidden')).toMatchObject([{ outcome: 'failed', error: 'Error' }]);
    expect(
      JSON.stringify([monitor.frame(undefined, undefined, true), requestsOf('hidden')]),
    ).not.toContain(secret);
    again.unsubscribe();
  });
});

describe('memory', () => {
  it('holds at most 2,000 requests and 900 seconds', async () => {
    const limiter = createLimiter({
      name: 'many',
      clock,
      concurrency: 100,
      adaptive: false,
      maxAttempts: 1,
    });
    const other = createLimiter({ name: 'other', clock });
    for (let second = 0; second < 1_000; second += 1) {
      for (let request = 0; request < 20; request += 1) {
        void limiter.run(() => Promise.reject(new Error('no'))).catch(() => {});
        void other.run(async () => 1);
      }
      await clock.advanceAsync(1_000);
      monitor.look();
    }
    expect(monitor.recordCount).toBeLessThanOrEqual(MOST_RECORDS);
    expect(monitor.recordCount).toBeGreaterThan(1_000);
    expect(monitor.find(named('many').id)?.timeline.length).toBe(900);
    const frame = JSON.stringify(monitor.frame(monitor.find(named('many').id), undefined, true));
    expect(Buffer.byteLength(frame)).toBeLessThan(200_000);
    for (const each of [limiter, other]) each.close();
  });
});

describe('one request', () => {
  it('is found by its number, with the limiter that it went through, for as long as it is kept', async () => {
    const limiter = createLimiter({ name: 'found', clock });
    await limiter.run(async () => 1);
    const [record] = requestsOf('found');
    const id = record?.id ?? 0;
    expect(monitor.request(id)).toEqual({ gate: named('found').id, record });
    expect(monitor.request(id + 1)).toBeUndefined();
    clock.advance(15 * 60_000 + 1);
    expect(monitor.request(id)).toBeUndefined();
    limiter.close();
  });
});

it('names cannot reorder the text of the page, and blank ones are readable', () => {
  const limiter = createLimiter({ name: 'a\u202Eb', clock });
  const blank = createLimiter({ name: '   ', clock });
  const group = createLimiterGroup((key: string) => key, { name: 'g', clock });
  void group.run(' ', never);
  const names = monitor.summaries.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['a\\u202eb', '"   "', 'g / " "']));
  for (const each of [limiter, blank]) each.close();
  group.close();
});
