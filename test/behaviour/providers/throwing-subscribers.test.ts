import { config } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FeedbackSubject } from '../../../src/request/feedback-subject.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';

describe('a subscriber that throws', () => {
  const unhandled: unknown[] = [];
  beforeEach(() => {
    unhandled.length = 0;
    config.onUnhandledError = (error) => unhandled.push(error);
  });
  afterEach(() => {
    config.onUnhandledError = null;
  });

  it('affects neither the backoff nor the other subscribers', async () => {
    const clock = new ManualClock();
    const feedback = new FeedbackSubject({ clock });
    const heard: string[] = [];
    feedback.subscribe(() => {
      throw new Error('of the answers');
    });
    feedback.mode$.subscribe(() => {
      throw new Error('of the mode');
    });
    feedback.subscribe(({ kind }) => heard.push(kind));
    feedback.mode$.subscribe((mode) => heard.push(mode));
    feedback.next({ kind: 'throttled' });
    expect(feedback.backoffUntil).toBe(1000);
    expect(heard).toEqual(['normal', 'throttled', 'throttled']);
    await expect.poll(() => unhandled.length).toBe(3);
  });

  it('may push in turn, and may end the subject', () => {
    const clock = new ManualClock();
    const feedback = new FeedbackSubject({ clock });
    feedback.subscribe(({ kind }) => {
      if (kind === 'failed') feedback.next({ kind: 'throttled', retryAfterMs: 70 });
      else feedback.unsubscribe();
    });
    feedback.next({ kind: 'failed' });
    expect(feedback.backoffUntil).toBe(70);
    expect(() => feedback.next({ kind: 'throttled' })).not.toThrow();
    expect(feedback.backoffUntil).toBe(1000);
  });
});
