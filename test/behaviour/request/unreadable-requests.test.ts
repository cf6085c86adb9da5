import { from } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  byteEstimate,
  concurrencyLimit,
  createLimiter,
  dispatch,
  type Outcome,
  throttle,
} from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

const FORMS = {
  throttle: (clock: ManualClock) => throttle(send, { clock, outcomes: true }),
  'limiter.throttle': (clock: ManualClock) =>
    createLimiter({ clock }).throttle(send, { outcomes: true }),
};

async function send(value: object): Promise<string> {
  return Object.keys(value).join();
}

describe('a request that cannot be read, such as a revoked Proxy', () => {
  it.each(Object.entries(FORMS))('has an outcome of its own: %s', async (_form, operatorOf) => {
    const clock = new ManualClock();
    const outcomes: Outcome<object, string>[] = [];
    const state = { error: undefined as unknown, isDone: false };
    from([{ a: 1 }, revoked(), { b: 1 }])
      .pipe(operatorOf(clock))
      .subscribe({
        next: (outcome) => outcomes.push(outcome),
        error: (error) => Object.assign(state, { error }),
        complete: () => Object.assign(state, { isDone: true }),
      });
    await clock.advanceAsync(0);
    expect(state).toEqual({ error: undefined, isDone: true });
    const seen = outcomes.map((outcome) => (outcome.status === 'ok' ? outcome.value : 'failed'));
    expect(seen.toSorted()).toEqual(['a', 'b', 'failed']);
    await clock.runAllAsync();
    expect(clock.pendingTimers).toBe(0);
  });

  it('passes operators composed by hand', async () => {
    const clock = new ManualClock();
    const statuses: string[] = [];
    from([revoked(), { b: 1 }])
      .pipe(byteEstimate(), concurrencyLimit({ clock }), dispatch(send, { clock, outcomes: true }))
      .subscribe(({ status }) => statuses.push(status));
    await clock.advanceAsync(0);
    expect(statuses.toSorted()).toEqual(['failed', 'ok']);
  });
});
