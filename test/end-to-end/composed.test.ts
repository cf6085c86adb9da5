import { from, type Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  backoffGate,
  byteBudget,
  byteEstimate,
  chunkBy,
  concurrencyLimit,
  dispatch,
  FeedbackSubject,
  type Mode,
  throttle,
} from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/index.ts';
import { type Collected, type Sdk, startSdk } from '../telemetry/sdk.ts';

/** How large the limits are: the requests are more, and larger. */
const LIMITS = { concurrency: 5, maxBytes: 60, throttledConcurrency: 2, throttledByteFactor: 3 };
/** Chunks of three prompts of ten bytes each. */
const CHUNKS = { maxItems: 3 };
const PROMPTS = Array.from({ length: 60 }, (_, n) => `prompt ${100 + n}`);
/** Calls that are rejected, by their number. */
const REJECTED = [4, 9];
/** A bit after the last answer of the first wave, so that both forms are at rest, and so on. */
const LOOKS_MS = [50, 150, 350, 1_500, 3_000, 20_000];

let sdk: Sdk;
beforeEach(() => {
  sdk = startSdk();
});
afterEach(() => sdk.stop());

/** An API that rejects some calls, and answers the others after 100 ms. */
function api(clock: ManualClock) {
  let calls = 0;
  return (prompts: readonly string[]) => {
    calls += 1;
    const isRejected = REJECTED.includes(calls);
    return new Promise<number>((resolve, reject) => {
      clock.setTimer(() => {
        if (!isRejected) resolve(prompts.length);
        else reject(Object.assign(new Error('busy'), { status: 429 }));
      }, 100);
    });
  };
}

interface Run {
  readonly clock: ManualClock;
  readonly feedback: FeedbackSubject;
  readonly modes: Mode[];
  readonly done: () => boolean;
  readonly subscription: Subscription;
}

function composed(name: string): Run {
  const clock = new ManualClock();
  const feedback = new FeedbackSubject({ clock });
  const options = { name, feedback };
  const { concurrency, throttledConcurrency, maxBytes, throttledByteFactor } = LIMITS;
  const modes = modesOf(feedback);
  let isDone = false;
  const subscription = from(PROMPTS)
    .pipe(
      byteEstimate<string>(undefined, { name }),
      chunkBy({ ...CHUNKS, name }),
      concurrencyLimit({ ...options, concurrency, throttledConcurrency }),
      byteBudget({ ...options, maxBytes, throttledByteFactor }),
      backoffGate(options),
      dispatch(api(clock), options),
    )
    .subscribe({
      complete: () => {
        isDone = true;
      },
    });
  return { clock, feedback, modes, done: () => isDone, subscription };
}

function together(name: string): Run {
  const clock = new ManualClock();
  const feedback = new FeedbackSubject({ clock });
  const modes = modesOf(feedback);
  let isDone = false;
  const subscription = from(PROMPTS)
    .pipe(
      byteEstimate<string>(undefined, { name }),
      chunkBy({ ...CHUNKS, name }),
      throttle(api(clock), { ...LIMITS, adaptive: false, name, feedback }),
    )
    .subscribe({
      complete: () => {
        isDone = true;
      },
    });
  return { clock, feedback, modes, done: () => isDone, subscription };
}

function modesOf(feedback: FeedbackSubject): Mode[] {
  const modes: Mode[] = [];
  feedback.mode$.subscribe((mode) => modes.push(mode));
  return modes;
}

/** What each form has for itself: where requests queue, and what they hold meanwhile. */
const OWN = [
  'headgate.request.queued',
  'headgate.request.given_up',
  'headgate.gate.wait.duration',
  'headgate.request.duration',
  'headgate.byte_budget.usage',
];

/** All that is told under a name, but for what each form has for itself. */
function stateOf(now: Collected, name: string): Readonly<Record<string, unknown>> {
  const state: Record<string, unknown> = {};
  for (const { descriptor } of now.metrics) {
    if (OWN.includes(descriptor.name)) continue;
    for (const { attributes, value } of now.points(descriptor.name)) {
      const { 'headgate.name': own, ...rest } = attributes;
      const told = typeof value === 'number' ? value : [value.count, value.sum];
      if (own === name) state[`${descriptor.name} ${JSON.stringify(rest)}`] = told;
    }
  }
  return state;
}

describe('the operators, composed by hand', () => {
  it('tell the modes, limits and totals that throttle tells with the same options', async () => {
    const runs = [composed('composed'), together('together')];
    for (const [index, at] of LOOKS_MS.entries()) {
      const from = LOOKS_MS[index - 1] ?? 0;
      for (const { clock } of runs) await clock.advanceAsync(at - from);
      const now = await sdk.collect();
      expect(stateOf(now, 'composed'), `at ${at} ms`).toEqual(stateOf(now, 'together'));
    }
    const [one, other] = runs;
    expect([one?.done(), other?.done()]).toEqual([true, true]);
    expect(one?.modes).toEqual(['normal', 'throttled', 'normal']);
    expect(other?.modes).toEqual(one?.modes);
    const now = await sdk.collect();
    const state = stateOf(now, 'composed');
    expect(state['headgate.requests {"headgate.outcome":"ok"}']).toBe(20);
    expect(state['headgate.attempts {"error.type":"429"}']).toBe(REJECTED.length);
    expect(state['headgate.attempts {}']).toBe(20);
    expect(state['headgate.request.estimate {"headgate.kind":"text"}']).toEqual([60, 600]);
    expect(state['headgate.chunk.size {}']).toEqual([20, 60]);
    expect(state['headgate.request.size {}']).toBe(600);
    expect(state['headgate.concurrency.limit {"headgate.mode":"normal"}']).toBe(0);
  });

  it('show each gate in metrics and spans, and the mode that a 429 begins and time ends', async () => {
    const { clock } = composed('by hand');
    const value = async (name: string, labels = {}) =>
      (await sdk.collect()).value(name, labels, 'by hand');
    const mode = (name: string) => value('headgate.mode', { 'headgate.mode': name });
    const queued = (kind: string) => value('headgate.request.queued', { 'headgate.gate': kind });
    await clock.advanceAsync(50);
    // The budget is overdrawn by the third chunk: of five slots two are held by chunks that wait
    // for it.
    expect(await queued('concurrency')).toBe(15);
    expect(await queued('byteBudget')).toBe(2);
    expect(await value('headgate.request.active')).toBe(3);
    expect(await value('headgate.byte_budget.usage')).toBe(90);
    expect([await mode('normal'), await mode('throttled')]).toEqual([1, 0]);
    await clock.advanceAsync(200);
    expect([await mode('normal'), await mode('throttled')]).toEqual([0, 1]);
    expect(await value('headgate.backoff.active')).toBe(1);
    expect(await queued('backoff')).toBeGreaterThan(0);
    await clock.advanceAsync(60_000);
    expect([await mode('normal'), await mode('throttled')]).toEqual([1, 0]);
    const requests = sdk.finished('headgate.request');
    expect(requests).toHaveLength(20);
    const beginners = requests.filter(({ events }) =>
      events.some(({ name }) => name === 'headgate.mode'),
    );
    expect(beginners).toHaveLength(1);
    expect(beginners[0]?.attributes['headgate.attempts']).toBe(2);
    const waited = sdk
      .finished('headgate.wait')
      .map(({ attributes }) => attributes['headgate.gate']);
    expect(new Set(waited)).toEqual(new Set(['concurrency', 'byteBudget', 'backoff']));
    expect(sdk.finished('headgate.attempt')).toHaveLength(22);
    expect(sdk.finished('headgate.chunk')).toHaveLength(20);
  });
});
