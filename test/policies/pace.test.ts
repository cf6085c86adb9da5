import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Pace } from '../../src/policies/pace.ts';
import { seededRandom } from '../../src/simulator/random.ts';

const DEMAND = { bytes: 0, tokens: 0 };
const middle = () => 0.5;

/** The times at which `count` requests that all wait from 0 on may pass. */
function departures(pace: Pace, count: number): number[] {
  const times: number[] = [];
  let now = 0;
  while (times.length < count) {
    const wait = pace.wait(DEMAND, now);
    now += wait;
    if (wait > 0) continue;
    pace.take(DEMAND, now);
    times.push(now);
  }
  return times;
}

describe('pace', () => {
  it('lets the first request pass at once, whatever the clock says', () => {
    for (const now of [-1e9, 0, 1e12]) {
      const pace = new Pace({}, middle);
      expect(pace.wait(DEMAND, now)).toBe(0);
      expect(pace.snapshot(now).nextInMs).toBe(0);
    }
  });

  it('lets ten waiters leave one by one, not together', () => {
    const pace = new Pace({ intervalMs: 100, jitter: 0 }, middle);
    expect(departures(pace, 10)).toEqual([0, 100, 200, 300, 400, 500, 600, 700, 800, 900]);
  });

  it('keeps 200 ms and up to half of that more, as long as nobody says otherwise', () => {
    expect(departures(new Pace({}, () => 0), 3)).toEqual([0, 200, 400]);
    expect(departures(new Pace({}, middle), 3)).toEqual([0, 250, 500]);
    expect(new Pace({}, middle).snapshot(0)).toEqual({
      intervalMs: 200,
      configuredIntervalMs: 200,
      maxIntervalMs: 30_000,
      nextInMs: 0,
    });
  });

  it('draws its jitter once a grant: asking again gives the same answer', () => {
    let draws = 0;
    const pace = new Pace({ intervalMs: 100 }, () => {
      draws += 1;
      return draws / 10;
    });
    pace.take(DEMAND, 0);
    expect([0, 0, 40, 104].map((now) => pace.wait(DEMAND, now))).toEqual([105, 105, 65, 1]);
    expect(pace.snapshot(5).nextInMs).toBe(100);
    expect(draws).toBe(1);
  });

  it('draws none for a pause of nothing, though it may become one while it runs', () => {
    const never = () => expect.unreachable('no chance is needed');
    const pace = new Pace({ intervalMs: 0 }, never);
    pace.take(DEMAND, 0);
    expect(pace.wait(DEMAND, 0)).toBe(0);
    expect(pace.interval.slower()).toBe(200);
    expect([pace.wait(DEMAND, 50), pace.snapshot(60).nextInMs]).toEqual([150, 140]);
  });

  it('counts from the dispatch that was, not from the one that was due', () => {
    const pace = new Pace({ intervalMs: 100, jitter: 0 }, middle);
    pace.take(DEMAND, 0);
    pace.take(DEMAND, 130);
    expect(pace.wait(DEMAND, 200)).toBe(30);
  });

  it('changes the pause that is running when the interval changes', () => {
    const pace = new Pace({ intervalMs: 100, jitter: 0 }, middle);
    pace.take(DEMAND, 0);
    expect(pace.interval.slower()).toBe(200);
    expect(pace.wait(DEMAND, 50)).toBe(150);
    expect(pace.interval.faster()).toBe(100);
    expect(pace.wait(DEMAND, 50)).toBe(50);
  });

  it('shares its interval with whoever adapts it', () => {
    const pace = new Pace({ intervalMs: 100, jitter: 0 }, middle);
    pace.interval.slower();
    expect(departures(pace, 2)).toEqual([0, 200]);
  });

  it('takes new options while a pause runs, all or none', () => {
    const pace = new Pace({ intervalMs: 100, jitter: 0 }, middle);
    pace.take(DEMAND, 0);
    pace.configure({ intervalMs: 300, jitter: 1 });
    expect(pace.wait(DEMAND, 0)).toBe(450);
    expect(() => pace.configure({ intervalMs: 1, jitter: 2 })).toThrow('`jitter`');
    expect(() => pace.configure({ intervalMs: -1, jitter: 0 })).toThrow('`intervalMs`');
    expect(pace.wait(DEMAND, 0)).toBe(450);
  });

  it('refuses options that are none', () => {
    const make = (options: object) => () => new Pace(options, middle);
    expect(make({ jitter: 1.1 })).toThrow(
      new RangeError('`jitter` must be a number from 0 to 1, got 1.1'),
    );
    expect(make({ jitter: Number.NaN })).toThrow(RangeError);
    expect(make({ jitter: '0.5' })).toThrow(TypeError);
    expect(make({ intervalMs: -1 })).toThrow('`intervalMs` must be a finite number >= 0, got -1');
    expect(make({ intervalMs: Number.POSITIVE_INFINITY })).toThrow(RangeError);
    expect(make({ intervalMs: 200, maxIntervalMs: 100 })).toThrow(
      '`maxIntervalMs` must be a finite number >= 200, got 100',
    );
  });

  it('never lets two pass within the interval, nor makes one wait beyond interval and jitter', () => {
    const action = fc.oneof(
      fc.record({ kind: fc.constant('ask' as const), afterMs: fc.nat(700) }),
      fc.record({ kind: fc.constantFrom('slower' as const, 'faster' as const) }),
    );
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 300 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.nat(),
        fc.array(action, { maxLength: 60, size: 'max' }),
        (intervalMs, jitter, seed, script) => {
          const pace = new Pace({ intervalMs, jitter, maxIntervalMs: 1_000 }, seededRandom(seed));
          let now = 0;
          let last: number | undefined;
          for (const step of script) {
            if (step.kind !== 'ask') {
              pace.interval[step.kind]();
              continue;
            }
            now += step.afterMs;
            const since = last === undefined ? Number.POSITIVE_INFINITY : now - last;
            const { ms } = pace.interval;
            const wait = pace.wait(DEMAND, now);
            expect(wait).toBeGreaterThanOrEqual(0);
            if (wait > 0) expect(since + wait).toBeLessThanOrEqual(ms * (1 + jitter) + 1e-6);
            else expect(since).toBeGreaterThanOrEqual(ms);
            if (wait === 0) {
              pace.take(DEMAND, now);
              last = now;
            }
          }
        },
      ),
    );
  });
});
