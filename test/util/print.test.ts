import { from } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createLimiter, EstimatorError, throttle } from '../../src/index.ts';
import { contain } from '../../src/model/instrumentation.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { isError, messageOf, print } from '../../src/util/print.ts';
import { keepWarnings } from '../support/warnings.ts';

const warnings = keepWarnings();

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

/** What nothing converts to a text. */
const BARE: readonly [string, unknown][] = [
  ['an object without a prototype', Object.create(null)],
  ['a revoked Proxy', revoked()],
  [
    'an error whose message throws',
    Object.defineProperty(new Error(), 'message', {
      get: () => {
        throw new Error('no message');
      },
    }),
  ],
  ['an error whose message is bare', Object.assign(new Error(), { message: Object.create(null) })],
];

describe.each(BARE)('%s', (_name, thrown) => {
  it('is printed without an error', () => {
    expect(print(thrown)).toBe('a value that cannot be printed');
    expect(messageOf(thrown)).toBe('a value that cannot be printed');
  });

  it('thrown by `isFailure` leaves no request hanging', async () => {
    const clock = new ManualClock();
    const isFailure = () => {
      throw thrown;
    };
    const options = { clock, adaptive: false, circuitBreaker: true, maxAttempts: 1 } as const;
    const limiter = createLimiter({ ...options, isFailure });
    const answer = limiter.run(() => Promise.reject(new Error('down')));
    const ended = expect(answer).rejects.toThrow('down');
    await clock.runAllAsync();
    await ended;
    expect(limiter.snapshot().concurrency.inFlight).toBe(0);
    expect(warnings).toEqual(['headgate: `isFailure` threw: a value that cannot be printed']);
  });

  it('thrown by an estimator is the cause of an EstimatorError', () => {
    const error = new EstimatorError('mine', thrown);
    expect(error.message).toBe('`mine` failed: a value that cannot be printed');
    expect(error.cause).toBe(thrown);
  });

  it.each(['opened', 'arrived'] as const)('thrown by `%s` of a probe is contained', (method) => {
    const fails = () => {
      throw thrown;
    };
    const clock = new ManualClock();
    expect(() =>
      createLimiter({ clock, instrumentation: { [method]: fails } }).tryAcquire(),
    ).not.toThrow();
    expect(contain({ [method]: fails })).toBeDefined();
    expect(warnings[0]).toContain('a value that cannot be printed');
  });
});

it('what is printed is what String makes of it, and the message of an error', () => {
  expect(print(new RangeError('far'))).toBe('RangeError: far');
  expect(messageOf(new RangeError('far'))).toBe('far');
  expect(print(Symbol('s'))).toBe('Symbol(s)');
  expect(messageOf('text')).toBe('text');
  expect([new Error('an error'), 'text', revoked()].map(isError)).toEqual([true, false, false]);
});

describe('a revoked Proxy as a request', () => {
  it('is a request like any other, and the stream goes on', async () => {
    const clock = new ManualClock();
    const outcomes: string[] = [];
    const requests = from<object[]>([{ a: 1 }, revoked(), { b: 2 }]);
    const send = async (request: object) => Object.keys(request);
    requests
      .pipe(throttle(send, { clock, adaptive: false, outcomes: true, maxAttempts: 1 }))
      .subscribe(({ status }) => outcomes.push(status));
    await clock.runAllAsync();
    expect(outcomes).toEqual(['ok', 'failed', 'ok']);
  });
});
