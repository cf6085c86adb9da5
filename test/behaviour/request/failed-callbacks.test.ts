import { from, map, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  createLimiter,
  createLimiterGroup,
  EstimatorError,
  type Outcome,
  throttle,
} from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { expectIdle } from '../../limiter/harness.ts';
import { watch } from '../../request/harness.ts';

const broken = new Error('no text');
/** Throws for one request of the stream. */
const failsFor2 =
  <V>(usual: V) =>
  (value: number): V => {
    if (value === 2) throw broken;
    return usual;
  };

const CALLBACKS = [
  ['estimate', { estimate: failsFor2(1) }],
  ['costs', { costs: failsFor2({ requests: 1 }) }],
  ['priority', { priority: failsFor2(0) }],
  ['weight', { weight: failsFor2(1) }],
] as const;

const NONSENSE = [
  ['estimate', { estimate: (value: number) => (value === 2 ? Number.NaN : 1) }],
  ['priority', { priority: (value: number) => (value === 2 ? 0.5 : 1) }],
] as const;

const VALUES = [0, 1, 2, 3];

/**
 * What a stream of outcomes has told of each request, and the index in the error of one that
 * failed.
 */
function told(outcomes: readonly Outcome<number, number>[]) {
  return outcomes.map((outcome) => {
    if (outcome.status === 'ok') return `${outcome.request} ok`;
    const { error, request, stats } = outcome;
    const { index, estimator } = error as EstimatorError;
    return `${request} ${estimator} ${index} ${stats.attempts}`;
  });
}

describe.each([
  ['at once', 10],
  ['when its turn comes', 1],
])('a function of the options that fails for one request, %s', (_when, concurrency) => {
  describe.each([...CALLBACKS, ...NONSENSE])('%s', (name, options) => {
    it('gives a failed outcome, and the stream goes on', async () => {
      const clock = new ManualClock();
      const limiter = createLimiter({ clock, concurrency });
      const project = async (value: number) => value;
      const own = { ...options, outcomes: true, ordered: true } as const;
      const alone = watch(from(VALUES).pipe(throttle(project, { ...own, clock, concurrency })));
      const shared = watch(from(VALUES).pipe(limiter.throttle(project, own)));
      await clock.runAllAsync();
      for (const seen of [alone, shared]) {
        expect(seen.state).toBe('complete');
        expect(told(seen.values).toSorted()).toEqual(['0 ok', '1 ok', `2 ${name} 2 0`, '3 ok']);
      }
      expect(limiter.snapshot().ended).toEqual({ ok: 3, failed: 0, rejected: 1, cancelled: 0 });
      expectIdle(limiter);
    });

    it('errors the stream without outcomes, and the error names the request', async () => {
      const clock = new ManualClock();
      const project = async (value: number) => value;
      const seen = watch(from(VALUES).pipe(throttle(project, { ...options, clock, concurrency })));
      await clock.runAllAsync();
      expect(seen.error).toBeInstanceOf(EstimatorError);
      expect(seen.error).toMatchObject({ estimator: name, index: 2 });
      expect(String(seen.error)).toContain(`\`${name}\` failed for the request with index 2: `);
    });
  });
});

describe('one request of a group', () => {
  const failing = {
    keyOf: createLimiterGroup((value: number) => failsFor2(`${value % 2}`)(value), {}),
    'no key': createLimiterGroup((value: number) => (value === 2 ? (5 as never) : 'a'), {}),
  };

  it.each(['keyOf', 'no key'] as const)(
    'with a key that fails is one outcome: %s',
    async (what) => {
      const group = failing[what];
      const project = async (value: number) => value;
      const outcomes: Outcome<number, number>[] = [];
      const options = { outcomes: true, ordered: true } as const;
      await from(VALUES)
        .pipe(
          group.throttle(project, options),
          map((outcome) => outcomes.push(outcome)),
        )
        .forEach(() => {});
      expect(outcomes.map(({ request }) => request)).toEqual(VALUES);
      expect(outcomes[2]).toMatchObject({
        status: 'failed',
        error: { estimator: 'keyOf', index: 2 },
        stats: { attempts: 0, waits: {} },
      });
      const seen = watch(from(VALUES).pipe(group.throttle(project)));
      expect(seen.error).toMatchObject({ code: 'ESTIMATOR_FAILED', index: 2 });
    },
  );

  it('beyond `maxKeys` is one outcome', async () => {
    const clock = new ManualClock();
    const group = createLimiterGroup((value: number) => `${value}`, { clock, maxKeys: 1 });
    const project = () => new Promise<number>((resolve) => clock.setTimer(() => resolve(1), 5));
    const seen = watch(of(1, 2, 1).pipe(group.throttle(project, { outcomes: true })));
    await clock.runAllAsync();
    expect(seen.state).toBe('complete');
    expect(seen.values.map(({ request, status }) => `${request} ${status}`)).toEqual([
      '2 failed',
      '1 ok',
      '1 ok',
    ]);
    expect(seen.values[0]).toMatchObject({ error: { code: 'TOO_MANY_KEYS' } });
  });
});

it('a source that is read as requests end is read on', async () => {
  const clock = new ManualClock();
  const limiter = createLimiter({ clock, concurrency: 1 });
  const project = async (value: number) => value;
  const options = { estimate: failsFor2(1), outcomes: true } as const;
  const pulled = watch(limiter.throttleFrom(VALUES, project, { ...options, readAhead: 1 }));
  await clock.runAllAsync();
  expect(told(pulled.values)).toEqual(['0 ok', '1 ok', '2 estimate 2 0', '3 ok']);
  const mapped = await limiter.map(VALUES, project, options);
  expect(told(mapped)).toEqual(['0 ok', '1 ok', '2 estimate 2 0', '3 ok']);
});
