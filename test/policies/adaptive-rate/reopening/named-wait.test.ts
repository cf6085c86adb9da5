import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NamedWait } from '../../../../src/policies/adaptive-rate/reopening/named-wait.ts';
import { corePlayer } from '../core-player.ts';

describe('a wait that a rejection names', () => {
  it('holds until it is over', () => {
    const wait = new NamedWait();
    expect(wait.until).toBe(Number.NEGATIVE_INFINITY);
    wait.named(1_000, 0, 10, true);
    expect(wait.until).toBe(1_010);
  });

  it('is made longer, not shorter, by what was out already', () => {
    const wait = new NamedWait();
    wait.named(1_000, 0, 10, true);
    wait.named(500, 0, 20, false);
    expect(wait.until).toBe(1_010);
    wait.named(2_000, 0, 30, false);
    expect(wait.until).toBe(2_030);
  });

  it('may be over up to a second earlier, while all waits are whole seconds', () => {
    const wait = new NamedWait();
    wait.named(2_000, 0, 10, true);
    expect([wait.earliest, wait.until]).toEqual([1_010, 2_010]);
    wait.reset();
    expect(wait.earliest).toBe(Number.NEGATIVE_INFINITY);
    wait.named(2_500, 3_000, 3_000, true);
    expect(wait.earliest).toBe(5_500);
    wait.reset();
    wait.named(2_000, 9_000, 9_000, true);
    expect(wait.earliest).toBe(11_000);
  });

  it('is over when something is let in', () => {
    const wait = new NamedWait();
    wait.named(1_000, 0, 10, true);
    wait.reset();
    expect(wait.until).toBe(Number.NEGATIVE_INFINITY);
  });

  it.each([0.3, 1, 2])('that is %s times the true one is corrected by a second one', (factor) => {
    const wait = new NamedWait();
    // It is over at 10,000.
    wait.named(10_000 * factor, 0, 0, true);
    const later = 5_000;
    wait.named((10_000 - later) * factor, later, later, true);
    expect(wait.until).toBeCloseTo(10_000, 6);
  });

  it('that is a tenth of the true one is corrected by a third one', () => {
    const wait = new NamedWait();
    wait.named(1_000, 0, 0, true);
    wait.named(900, 1_000, 1_000, true);
    expect(wait.until).toBe(1_900);
    wait.named(810, 1_900, 1_900, true);
    expect(wait.until).toBeCloseTo(10_000, 6);
  });

  it('is not taken for another because of its jitter', () => {
    const wait = new NamedWait();
    let now = 0;
    for (const ms of [1_000, 900, 1_050, 870, 960, 1_010]) {
      wait.named(ms, now, now, true);
      expect(wait.until).toBe(now + ms);
      now = wait.until;
    }
  });

  it('is not corrected by another one that was named less than 0.2 s later', () => {
    const wait = new NamedWait();
    wait.named(150, 0, 0, true);
    wait.named(50, 199, 199, true);
    expect(wait.until).toBe(249);
    wait.reset();
    wait.named(150, 1_000, 1_000, true);
    wait.named(50, 1_201, 1_201, true);
    expect(wait.until).toBeCloseTo(1_201 + 50 * 2.01, 6);
  });

  it('that is ten times too long is corrected by attempts close together, in the second stall', () => {
    const wait = new NamedWait();
    wait.named(10_000, 0, 30, true);
    wait.named(9_800, 20, 50, false);
    expect(wait.until).toBe(10_030);
    wait.reset();
    wait.named(5_000, 20_000, 20_030, true);
    wait.named(4_800, 20_020, 20_050, false);
    expect(wait.until).toBeCloseTo(20_530, 6);
  });

  it.each([
    ['fall at another scale', 20, 50, 4_600],
    ['fall by less than the elapsed time', 20, 250, 4_800],
    ['fall by less than 0.1 s', 4, 40, 4_955],
    ['rise', 20, 50, 5_200],
  ])('is not corrected by attempts close together whose waits %s', (_, sentAt, now, ms) => {
    const wait = new NamedWait();
    wait.named(10_000, 0, 30, true);
    wait.named(9_800, 20, 50, false);
    wait.reset();
    wait.named(5_000, 20_000, 20_030, true);
    wait.named(ms, 20_000 + sentAt, 20_000 + now, false);
    expect(wait.scale).toBe(1);
  });

  it('is corrected, too, where another attempt was sent at the same time as the first', () => {
    const wait = new NamedWait();
    wait.named(10_000, 0, 30, true);
    wait.named(9_800, 20, 50, false);
    wait.reset();
    wait.named(5_000, 20_000, 20_030, true);
    wait.named(4_850, 20_000, 20_035, false);
    wait.named(4_800, 20_020, 20_050, false);
    expect(wait.scale).toBeCloseTo(0.1, 9);
  });

  it('is not corrected by whole seconds that fall at attempts close together', () => {
    const wait = new NamedWait();
    for (const at of [0, 20_000]) {
      wait.reset();
      wait.named(10_000, at, at + 30, true);
      wait.named(9_000, at + 100, at + 130, false);
    }
    expect(wait.scale).toBe(1);
  });

  it('is no longer than the longest that is obeyed, where it is corrected', () => {
    const wait = new NamedWait(5_000);
    wait.named(3_000, 0, 0, true);
    wait.named(2_000, 3_000, 3_000, true);
    expect(wait.until).toBe(3_000 + 5_000);
  });

  it('keeps its correction for the waits that follow', () => {
    const wait = new NamedWait();
    wait.named(3_000, 0, 0, true);
    wait.named(1_500, 5_000, 5_000, true);
    wait.reset();
    wait.named(3_000, 50_000, 50_000, true);
    expect(wait.until).toBeCloseTo(60_000, 6);
  });

  it('was too long where an attempt is accepted much earlier', () => {
    const wait = new NamedWait();
    wait.named(10_000, 0, 0, true);
    wait.accepted(1_000);
    expect(wait.until).toBe(1_000);
    wait.reset();
    wait.named(10_000, 20_000, 20_000, true);
    expect(wait.until).toBe(21_000);
  });

  it('was not too long where an attempt is accepted a little earlier, or was in flight', () => {
    const wait = new NamedWait();
    wait.named(10_000, 100, 1_110, true);
    wait.accepted(10_500);
    wait.accepted(1_109);
    wait.accepted(50);
    // Sent in the same moment as the rejection came: perhaps before it.
    wait.accepted(1_110);
    expect(wait.until).toBe(11_110);
    const atOnce = new NamedWait();
    atOnce.named(10_000, 100, 100, true);
    atOnce.accepted(100);
    atOnce.accepted(119);
    expect(atOnce.until).toBe(10_100);
  });
});

describe('a wait that is named once', () => {
  it('is obeyed: nothing goes earlier, and one goes at most 20 % and 10 ms later', () => {
    const scenario = fc.record({
      waitMs: fc.integer({ min: 1, max: 60_000 }),
      tookMs: fc.integer({ min: 1, max: 5_000 }),
      accepted: fc.nat({ max: 40 }),
    });
    fc.assert(
      fc.property(scenario, ({ waitMs, tookMs, accepted }) => {
        const player = corePlayer();
        for (let n = 0; n < accepted; n += 1) {
          const charge = player.send();
          player.now += 10;
          player.end(charge);
        }
        const charge = player.send();
        player.now += tookMs;
        player.end(charge, { verdict: { kind: 'throttled', retryAfterMs: waitMs } });
        const from = player.now;
        player.sendLater();
        const waited = player.now - from;
        expect(waited).toBeGreaterThanOrEqual(waitMs - 1e-6);
        // Shorter ones are as long as the gap between probes, which is told by `isOut` and the
        // pace.
        if (waitMs >= LEAST_GAP_MS && waitMs >= tookMs) {
          expect(waited).toBeLessThanOrEqual(1.2 * waitMs + 10);
        }
      }),
    );
  });
});

describe('a wait that is named again when it is over', () => {
  it('does not count as one of twice the time, which would show no window', () => {
    const player = corePlayer();
    const verdict = { kind: 'throttled', retryAfterMs: 50_000 } as const;
    for (let round = 0; round < 2; round += 1) {
      const charges = [player.sendLater(), ...player.sendAll(15)];
      // Rejections come back before the answers.
      player.now += 30;
      for (const charge of charges.slice(12)) player.end(charge, { verdict });
      player.now += 170;
      for (const charge of charges.slice(0, 12)) player.end(charge);
    }
    expect(player.policy.snapshot(player.now).perSecond).toBeCloseTo(12 / 50, 1);
  });
});

describe('a wait that is named while others are in flight', () => {
  it('is not cut by their silence, nor by answers that may be older: nothing goes earlier', () => {
    const other = fc.record({
      gapMs: fc.nat({ max: 150 }),
      /** From the first rejection on; undefined: no answer comes before the wait is over. */
      answerAfterMs: fc.option(fc.nat({ max: 900 }), { nil: undefined }),
      isRejected: fc.boolean(),
    });
    const others = fc.array(other, { minLength: 1, maxLength: 8 });
    const scenario = fc.record({ tookMs: fc.nat({ max: 300 }), others });
    fc.assert(
      fc.property(scenario, ({ tookMs, others }) => {
        const player = corePlayer();
        const told = { kind: 'throttled', retryAfterMs: 1_000 } as const;
        const first = player.send();
        const charges = others.map(({ gapMs }) => {
          player.now += gapMs;
          return player.send();
        });
        player.now += tookMs;
        player.end(first, { verdict: told });
        const namedAt = player.now;
        const answers = others
          .map(({ answerAfterMs, isRejected }, index) => ({ answerAfterMs, isRejected, index }))
          .filter(({ answerAfterMs }) => answerAfterMs !== undefined)
          .toSorted((a, b) => (a.answerAfterMs ?? 0) - (b.answerAfterMs ?? 0));
        for (const { answerAfterMs = 0, isRejected, index } of answers) {
          player.now = namedAt + answerAfterMs;
          // It may be asked at any time.
          expect(player.wait()).toBeGreaterThan(0);
          player.end(charges[index] ?? 0, isRejected ? { verdict: told } : undefined);
        }
        player.sendLater();
        expect(player.now - namedAt).toBeGreaterThanOrEqual(1_000 - 1e-6);
      }),
    );
  });
});

/** Single probes go no sooner after each other, whatever is named. */
const LEAST_GAP_MS = 100;

describe('two waits that are named for attempts in flight at once', () => {
  it('show how many times too long they are', () => {
    const wait = new NamedWait();
    // It is over at 10,000, and ten times that is named.
    wait.named(100_000, 0, 500, true);
    wait.named(97_001, 300, 800, false);
    expect(wait.until).toBeCloseTo(10_503, 0);
  });

  it('show nothing where the network may explain the difference, or rounding', () => {
    const near = new NamedWait();
    near.named(100_000, 0, 500, true);
    near.named(98_001, 199, 700, false);
    expect(near.until).toBe(100_500);
    const rounded = new NamedWait();
    rounded.named(9_000, 0, 500, true);
    rounded.named(8_000, 400, 900, false);
    expect(rounded.until).toBe(9_500);
    const alike = new NamedWait();
    alike.named(9_000, 0, 500, true);
    alike.named(8_901, 400, 900, false);
    expect(alike.until).toBe(900 + 8_901);
  });

  it('show nothing where one was held up on its way', () => {
    const way = fc.nat({ max: 2_000 });
    const scenario = fc.record({ apartMs: fc.integer({ min: 200, max: 900 }), a: way, b: way });
    fc.assert(
      fc.property(scenario, way, way, ({ apartMs, a, b }, backA, backB) => {
        // It is over at 9,999.5, and each is named what is left as it gets there.
        const namings = [
          { sentAt: 0, gotThere: a, at: a + backA },
          { sentAt: apartMs, gotThere: apartMs + b, at: apartMs + b + backB },
        ].toSorted((one, other) => one.at - other.at);
        const wait = new NamedWait();
        for (const [index, { sentAt, gotThere, at }] of namings.entries()) {
          wait.named(9_999.5 - gotThere, sentAt, at, index === 0);
        }
        expect(wait.until).toBeGreaterThanOrEqual(9_999.5 - 1e-6);
      }),
    );
  });
});
