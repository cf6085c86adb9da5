import fc from 'fast-check';
import { expect, it } from 'vitest';
import { runs } from '../support/runs.ts';
import { keepWarnings } from '../support/warnings.ts';
import { type Chaos, ChaosFleet, type Fault, watch } from './chaos-rig.ts';

const PLAIN: Omit<Chaos, 'algorithm' | 'headers'> = {
  seed: 1,
  perMinute: 500,
  workers: 2,
  wayMs: 5,
  breaks: 0.1,
};

keepWarnings();

it.each([
  { algorithm: 'token-bucket', headers: 'openai' },
  { algorithm: 'fixed-window', headers: 'openai' },
  { algorithm: 'fixed-window', headers: 'anthropic' },
] as const)(
  'the next leader keeps what $headers headers of a $algorithm have shown',
  async (given) => {
    for (const kind of ['close', 'kill'] as const) {
      const fleet = new ChaosFleet({ ...PLAIN, ...given });
      await fleet.suffer({ kind, afterMs: 25_000, ms: 0 });
      await fleet.clock.advanceAsync(30_000);
      expect(fleet.rejected, kind).toBeLessThan(40);
      await fleet.finish();
      fleet.close();
    }
  },
);

it('streams of a fleet whose workers fail count once, and cost few rejections', async () => {
  const fault: fc.Arbitrary<Fault> = fc.record({
    kind: fc.constantFrom('close', 'kill', 'join', 'away', 'deaf'),
    afterMs: fc.integer({ min: 1_000, max: 40_000 }),
    ms: fc.integer({ min: 5_000, max: 15_000 }),
  });
  const scenario: fc.Arbitrary<Chaos> = fc.record({
    seed: fc.nat(1_000_000),
    algorithm: fc.constantFrom('token-bucket', 'fixed-window'),
    perMinute: fc.integer({ min: 60, max: 300 }),
    headers: fc.constantFrom('none', 'openai', 'anthropic'),
    workers: fc.integer({ min: 2, max: 4 }),
    wayMs: fc.constantFrom(0, 5, 50, 200, 400),
    breaks: fc.double({ min: 0, max: 0.3, noNaN: true }),
  });
  const faults = fc.array(fault, { minLength: 1, maxLength: 4 });
  const law = fc.asyncProperty(scenario, faults, async (given, list) => {
    const fleet = new ChaosFleet(given);
    let inFlight = 0;
    const unwatch = watch((log) => {
      inFlight = log.inFlight;
      expect(log.unknown).toBeGreaterThanOrEqual(0);
      expect(log.inFlight).toBeGreaterThanOrEqual(log.unknown);
    });
    for (const each of list) await fleet.suffer(each);
    await fleet.clock.advanceAsync(60_000);
    const minutes = fleet.clock.now() / 60_000;
    const { begun, rejected } = fleet;
    await fleet.finish();
    unwatch();
    fleet.close();
    expect(inFlight).toBe(0);
    expect(begun).toBeGreaterThan(0.3 * given.perMinute * minutes);
    const most = given.headers === 'none' ? begun : given.perMinute;
    expect(rejected).toBeLessThan(most + 20);
  });
  await fc.assert(law, { numRuns: runs(8) });
});
