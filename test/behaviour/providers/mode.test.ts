import { describe, expect, it, vi } from 'vitest';
import type { Mode } from '../../../src/model/feedback.ts';
import { FeedbackSubject } from '../../../src/request/feedback-subject.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';

function make(options = {}) {
  const clock = new ManualClock();
  const feedback = new FeedbackSubject({ clock, ...options });
  const heard: [Mode, number][] = [];
  const listen = () => feedback.mode$.subscribe((mode) => heard.push([mode, clock.now()]));
  return { clock, feedback, heard, listen };
}

describe('the mode', () => {
  it('is throttled until 10 s after the backoff, to the millisecond', () => {
    const { clock, feedback } = make();
    expect(feedback.mode).toBe('normal');
    feedback.next({ kind: 'throttled' });
    expect(feedback.mode).toBe('throttled');
    clock.advance(10_999);
    expect(feedback.mode).toBe('throttled');
    clock.advance(1);
    expect(feedback.mode).toBe('normal');
  });

  it('lasts as long as the options say', () => {
    const { clock, feedback } = make({ backoffMs: 100, throttledForMs: 0 });
    feedback.next({ kind: 'throttled' });
    clock.advance(99);
    expect(feedback.mode).toBe('throttled');
    clock.advance(1);
    expect(feedback.mode).toBe('normal');
  });

  it('is not ended by a success', () => {
    const { clock, feedback } = make();
    feedback.next({ kind: 'throttled' });
    clock.advance(1000);
    feedback.accept(1, 0);
    expect(feedback.mode).toBe('throttled');
  });
});

describe('mode$', () => {
  it('tells the mode now and each change, once', () => {
    const { clock, feedback, heard, listen } = make();
    listen();
    clock.advance(5);
    feedback.next({ kind: 'throttled' });
    feedback.next({ kind: 'throttled' });
    clock.advance(60_000);
    feedback.next({ kind: 'throttled' });
    expect(heard).toEqual([
      ['normal', 0],
      ['throttled', 5],
      ['normal', 11_005],
      ['throttled', 60_005],
    ]);
  });

  it('says throttled first to whoever comes in throttled mode', () => {
    const { clock, feedback, heard, listen } = make();
    feedback.next({ kind: 'throttled' });
    clock.advance(3000);
    listen();
    clock.advance(20_000);
    expect(heard).toEqual([
      ['throttled', 3000],
      ['normal', 11_000],
    ]);
  });

  it('returns to normal later when the backoff is extended', () => {
    const { clock, feedback, heard, listen } = make();
    listen();
    feedback.next({ kind: 'throttled' });
    clock.advance(10_500);
    feedback.next({ kind: 'throttled', retryAfterMs: 2000 });
    clock.advance(60_000);
    expect(heard.slice(1)).toEqual([
      ['throttled', 0],
      ['normal', 22_500],
    ]);
  });

  it('has a timer only in throttled mode and while somebody listens', () => {
    const { clock, feedback, listen } = make();
    feedback.next({ kind: 'throttled' });
    expect(clock.pendingTimers).toBe(0);
    const first = listen();
    const second = listen();
    expect(clock.pendingTimers).toBe(2);
    feedback.next({ kind: 'throttled' });
    expect(clock.pendingTimers).toBe(2);
    first.unsubscribe();
    second.unsubscribe();
    expect(clock.pendingTimers).toBe(0);
    listen();
    clock.advance(11_000);
    expect(clock.pendingTimers).toBe(0);
  });

  it('keeps no process alive', () => {
    const { clock, feedback, listen } = make();
    const setTimer = vi.spyOn(clock, 'setTimer');
    listen();
    feedback.next({ kind: 'throttled' });
    expect(setTimer).toHaveBeenCalledExactlyOnceWith(expect.any(Function), 11_000, false);
  });

  it('gets on with times that have fractions', () => {
    const clock = new ManualClock(0.1);
    const feedback = new FeedbackSubject({ clock, throttledForMs: 0.7 });
    const modes: Mode[] = [];
    feedback.mode$.subscribe((mode) => modes.push(mode));
    for (let round = 0; round < 100; round += 1) {
      feedback.next({ kind: 'throttled', retryAfterMs: 1.1 + round / 7 });
      clock.runAll();
    }
    expect(modes.length).toBe(201);
    expect(modes.at(-1)).toBe('normal');
  });
});
