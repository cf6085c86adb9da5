import { BehaviorSubject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Feedback } from '../../src/model/feedback.ts';
import { FeedbackSubject } from '../../src/request/feedback-subject.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';

const KIB = 1024;
const START_MS = 5000;

function make(options: ConstructorParameters<typeof FeedbackSubject>[0] = {}) {
  const clock = new ManualClock(START_MS);
  const feedback = new FeedbackSubject({ clock, ...options });
  const leftMs = () => (feedback.backoffUntil ?? Number.NaN) - clock.now();
  return { clock, feedback, leftMs };
}

/** What one push makes of the backoff. */
function waitAfter(pushed: Feedback, options = {}): number {
  const { feedback, leftMs } = make(options);
  feedback.next(pushed);
  return leftMs();
}

describe('the wait after a rejection', () => {
  it.each([
    [undefined, 1000],
    [0, 1000],
    [128 * KIB, 1000],
    [128 * KIB + 1, 5000],
    [10_000 * KIB, 5000],
  ])('of a request of %s bytes is %i ms', (bytes, ms) => {
    expect(waitAfter({ kind: 'throttled', ...(bytes !== undefined && { bytes }) })).toBe(ms);
  });

  it('follows the options, by size', () => {
    const options = { backoffMs: 20, largeBackoffMs: 70 };
    expect(waitAfter({ kind: 'throttled', bytes: 1 }, options)).toBe(20);
    expect(waitAfter({ kind: 'throttled', bytes: 1e6 }, options)).toBe(70);
  });

  it('is the wait that the provider names, for any size, down to fractions', () => {
    expect(waitAfter({ kind: 'throttled', bytes: 1e6, retryAfterMs: 20 })).toBe(20);
    expect(waitAfter({ kind: 'throttled', bytes: 1, retryAfterMs: 7000.5 })).toBe(7000.5);
  });

  it('is as long as was asked, beyond maxRetryAfterMs too', () => {
    const day = 86_400_000;
    expect(waitAfter({ kind: 'throttled', retryAfterMs: day })).toBe(day);
    expect(waitAfter({ kind: 'throttled', retryAfterMs: day }, { onLongWait: 'wait' })).toBe(day);
    expect(waitAfter({ kind: 'throttled', retryAfterMs: 300 }, { maxRetryAfterMs: 200 })).toBe(300);
  });

  describe('that names no wait', () => {
    const usedUp = { unit: 'requests', limit: 60, remaining: 0, isResetTime: true } as const;

    it('lasts until the last used-up limit resets, for any size', () => {
      const limits = [{ ...usedUp, resetMs: 30_000 }, { ...usedUp, resetMs: 90_000 }, usedUp];
      expect(waitAfter({ kind: 'throttled', limits, bytes: 1e6 })).toBe(90_000);
    });

    it('is tested after maxRetryAfterMs, however late the reset is', () => {
      const { feedback, leftMs } = make();
      feedback.next({ kind: 'throttled', limits: [{ ...usedUp, resetMs: 2_400_000 }] });
      expect(leftMs()).toBe(600_000);
    });

    it.each([
      ['of which something is left', { ...usedUp, remaining: 1, resetMs: 30_000 }],
      ['that may refill gradually', { ...usedUp, isResetTime: false, resetMs: 30_000 }],
      ['that should have reset', usedUp],
    ])('does not last until the reset of a limit %s', (_, limit) => {
      expect(waitAfter({ kind: 'throttled', limits: [limit] })).toBe(1000);
    });

    it('is no longer than the wait, if there is one', () => {
      const limits = [{ ...usedUp, resetMs: 30_000 }];
      expect(waitAfter({ kind: 'throttled', limits, retryAfterMs: 20 })).toBe(20);
    });
  });

  it.each([Number.NaN, -1, 0, -0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    'ignores a retryAfterMs of %s',
    (retryAfterMs) => {
      expect(waitAfter({ kind: 'throttled', retryAfterMs })).toBe(1000);
    },
  );

  it('closes the gate, however short it is', () => {
    const { feedback } = make();
    feedback.next({ kind: 'throttled', retryAfterMs: Number.MIN_VALUE });
    expect(feedback.gate.snapshot().state).toBe('closed');
  });

  it('follows an overload only if it names a wait', () => {
    expect(waitAfter({ kind: 'overloaded' })).toBeNaN();
    expect(waitAfter({ kind: 'overloaded', retryAfterMs: Number.NaN })).toBeNaN();
    expect(waitAfter({ kind: 'overloaded', retryAfterMs: 300 })).toBe(300);
  });

  it.each(['ok', 'failed', 'fatal'] as const)('follows from no other answer: %s', (kind) => {
    const { feedback } = make();
    feedback.next({ kind, retryAfterMs: 9000 });
    expect(feedback.backoffUntil).toBeUndefined();
    expect(feedback.mode).toBe('normal');
    expect(feedback.epoch).toBe(0);
  });
});

describe('a backoff', () => {
  it('is extended, never shortened, and no success clears it', () => {
    const { clock, feedback, leftMs } = make();
    feedback.next({ kind: 'throttled', retryAfterMs: 3000 });
    feedback.next({ kind: 'throttled', retryAfterMs: 10 });
    expect(leftMs()).toBe(3000);
    feedback.next({ kind: 'ok' });
    expect(leftMs()).toBe(3000);
    clock.advance(2500);
    feedback.next({ kind: 'throttled' });
    expect(leftMs()).toBe(1000);
  });

  it('counts once for all answers of one epoch, and takes the longest wait', () => {
    const { feedback, leftMs } = make();
    for (const retryAfterMs of [500, 4000, 200, 3999]) {
      feedback.next({ kind: 'throttled', retryAfterMs, epoch: 0 });
    }
    expect(feedback.epoch).toBe(1);
    expect(leftMs()).toBe(4000);
  });

  it('counts anew for an answer of the present epoch, and for one without', () => {
    const { feedback } = make();
    feedback.next({ kind: 'throttled' });
    feedback.next({ kind: 'throttled' });
    expect(feedback.epoch).toBe(2);
    feedback.next({ kind: 'throttled', epoch: 1 });
    expect(feedback.epoch).toBe(2);
    feedback.next({ kind: 'throttled', epoch: 2 });
    expect(feedback.epoch).toBe(3);
  });

  it('is ended only by a success of the present epoch', () => {
    const { clock, feedback } = make();
    feedback.next({ kind: 'throttled' });
    clock.advance(1000);
    feedback.next({ kind: 'ok', epoch: 0 });
    expect(feedback.gate.snapshot().state).toBe('probing');
    feedback.next({ kind: 'ok', epoch: 1 });
    expect(feedback.gate.snapshot().state).toBe('open');
  });
});

describe('as a Subject', () => {
  it('emits every answer to its subscribers, after the state has changed', () => {
    const { feedback } = make();
    const heard: unknown[] = [];
    feedback.subscribe(({ kind }) => heard.push([kind, feedback.epoch]));
    feedback.next({ kind: 'failed' });
    feedback.next({ kind: 'throttled' });
    feedback.accept(1, 10);
    expect(heard).toEqual([
      ['failed', 0],
      ['throttled', 1],
      ['ok', 1],
    ]);
  });

  it.each([
    ['complete', (feedback: FeedbackSubject) => feedback.complete()],
    ['error', (feedback: FeedbackSubject) => feedback.error(new Error('ended'))],
    ['unsubscribe', (feedback: FeedbackSubject) => feedback.unsubscribe()],
  ])('goes on to hold the backoff after its %s', (_name, end) => {
    const { clock, feedback, leftMs } = make();
    const modes = new BehaviorSubject('none');
    feedback.subscribe({ error: () => undefined });
    feedback.mode$.subscribe(modes);
    end(feedback);
    feedback.next({ kind: 'throttled' });
    expect(leftMs()).toBe(1000);
    expect(modes.value).toBe('throttled');
    clock.advance(1000);
    feedback.accept(1, 0);
    expect(feedback.gate.snapshot().state).toBe('open');
    clock.advance(10_000);
    expect(modes.value).toBe('normal');
  });

  it('refuses wrong options', () => {
    expect(() => make({ backoffMs: 0 })).toThrow(/`backoffMs` must be an integer >= 1, got 0/);
    expect(() => make({ largeBackoffMs: Number.NaN })).toThrow(/`largeBackoffMs`.*NaN/);
    expect(() => make({ maxRetryAfterMs: Number.POSITIVE_INFINITY })).toThrow(/`maxRetryAfterMs`/);
    expect(() => make({ throttledForMs: -1 })).toThrow(/`throttledForMs`.*-1/);
    expect(() => make({ reopen: 'some' as 'all' })).toThrow(/`reopen`.*"probe", "all", got "some"/);
    expect(() => make({ backofMs: 1 } as object)).toThrow(/`backofMs` is no option/);
  });
});

describe('what instrumentations are told', () => {
  function told(options: ConstructorParameters<typeof FeedbackSubject>[0] = {}) {
    const lines: string[] = [];
    const instrumentation = {
      backoff: (ms: number, source: string, { addedMs }: { readonly addedMs: number }) =>
        lines.push(`${source} ${ms} +${addedMs}`),
      modeBegan: (mode: string) => lines.push(mode),
    };
    return { lines, ...make({ instrumentation, ...options }) };
  }

  it('is each backoff, by how much it prolongs the closure, and each beginning of a mode', () => {
    const { clock, feedback, lines } = told();
    feedback.next({ kind: 'throttled' });
    feedback.next({ kind: 'throttled', retryAfterMs: 3000 });
    feedback.next({ kind: 'throttled', retryAfterMs: 200 });
    expect(lines).toEqual([
      'computed 1000 +1000',
      'throttled',
      'retry_after 3000 +2000',
      'retry_after 200 +0',
    ]);
    lines.length = 0;
    clock.advance(13_000);
    feedback.next({ kind: 'throttled' });
    expect(lines).toEqual(['computed 1000 +1000', 'throttled']);
  });

  it('is an outage once, however many senders find that all is rejected', () => {
    const { feedback, lines } = told();
    const modes: string[] = [];
    feedback.mode$.subscribe((mode) => modes.push(mode));
    const [one, other] = [{}, {}];
    feedback.provider.setOutage(one, true);
    feedback.provider.setOutage(other, true);
    feedback.provider.setOutage(one, false);
    expect(feedback.mode).toBe('outage');
    feedback.provider.setOutage(other, false);
    feedback.provider.setOutage(other, false);
    expect([lines, modes]).toEqual([['outage'], ['normal', 'outage', 'normal']]);
  });

  it('is a mode that another worker has heard of, without a closure that is over', () => {
    const { clock, feedback, lines, leftMs } = told();
    feedback.provider.heard(0, 0);
    expect([feedback.mode, lines]).toEqual(['normal', []]);
    feedback.provider.heard(0, 5000);
    expect([feedback.mode, feedback.backoffUntil, lines]).toEqual([
      'throttled',
      undefined,
      ['throttled'],
    ]);
    feedback.provider.heard(3000, 20_000);
    feedback.provider.heard(1000, 1000);
    expect([leftMs(), lines]).toEqual([3000, ['throttled']]);
    clock.advance(19_999);
    expect(feedback.mode).toBe('throttled');
    clock.advance(1);
    feedback.provider.heard(0, 0);
    expect([feedback.mode, leftMs(), lines.length]).toEqual(['normal', -17_000, 1]);
  });
});

it('computes no wait that is longer than a provider may ask for', () => {
  const sender = { leastClosureMs: 0 };
  const { feedback, leftMs } = make({ maxRetryAfterMs: 200 });
  feedback.answered({ kind: 'throttled' }, sender, undefined);
  expect(leftMs()).toBe(200);
});

it.each(['quota', 'billing'] as const)('tests after a minute whether %s is used up', (outage) => {
  const { clock, feedback } = make();
  feedback.next({ kind: 'fatal', outage });
  const now = clock.now();
  expect(feedback.gate.policy.suspended(now)).toEqual({
    reason: outage,
    onLongWait: 'fail',
    leftMs: 60_000,
  });
});
