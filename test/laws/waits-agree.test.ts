import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { runs } from '../support/runs.ts';
import { lengthOf, type Sdk, startSdk } from '../telemetry/sdk.ts';
import { play, script, total } from './waits.ts';

let sdk: Sdk;
beforeEach(() => {
  sdk = startSdk();
});
afterEach(() => {
  vi.unstubAllGlobals();
  return sdk.stop();
});

/** How many wait for each, by the gauge. */
async function queuedOf(name: string): Promise<Record<string, number>> {
  const points = (await sdk.collect()).points('headgate.request.queued');
  const own = points.filter(({ attributes }) => attributes['headgate.name'] === name);
  return total(
    own.map(({ attributes, value }) => ({ [String(attributes['headgate.gate'])]: Number(value) })),
  );
}

/** Whether one limiter is there to be asked. */
const isLimiter = (form: string) => form !== 'throttle' && form !== 'group';

const near = (sums: Record<string, number>) =>
  Object.fromEntries(Object.entries(sums).map(([gate, ms]) => [gate, expect.closeTo(ms, 3)]));

/** In ms: other waits may lie between the parts of one that has very many. */
function waitedIn(span: ReadableSpan): number {
  const seconds = span.attributes['headgate.seconds'];
  return seconds === undefined ? lengthOf(span) : Number(seconds) * 1_000;
}

it('stats, hooks, events, spans and metrics tell of the same waits', async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(script, async (played) => {
      run += 1;
      // An SDK keeps a bounded number of series of a metric, and each run has its own.
      if (run % 50 === 0) {
        await sdk.stop();
        sdk = startSdk();
      }
      const name = `run ${run}`;
      sdk.forget();
      const {
        told: hooks,
        outcomes,
        events,
        looks,
        form,
      } = await play(played, name, () => queuedOf(name));
      const told = hooks.sums;

      // Each wait that was told to begin has ended, and was booked first to what it began with.
      expect(hooks.open.size).toBe(0);
      for (const { began, parts } of hooks.waits) expect(hooks.firstOf(parts)).toContain(began);
      // What waits is shown to wait for what it is booked to in the end.
      for (const { at, queued, binding } of looks) {
        expect(queued, `${at}`).toEqual(hooks.waitingAt(at));
        const { retry: _, ...atGate } = queued;
        if (isLimiter(form)) {
          if (binding === undefined) expect(atGate).toEqual({});
          else expect(Object.keys(atGate)).toContain(binding);
        }
      }
      if (form === 'throttle' || form === 'limiter.throttle') {
        const stats = outcomes.map(({ stats: { waits } }) =>
          Object.fromEntries(Object.entries(waits).map(([gate, { waitMs }]) => [gate, waitMs])),
        );
        expect(total(stats)).toEqual(near(told));
        for (const { stats } of outcomes) {
          const { limits, waitMs = 0 } = stats.waits.rateLimit ?? {};
          const named = Object.values(limits ?? {}).reduce((sum, ms) => sum + ms, 0);
          expect(named).toBeCloseTo(waitMs, 3);
        }
      }
      if (isLimiter(form)) {
        const { retry: _, ...atGate } = told;
        expect(total([events])).toEqual(near(atGate));
      }
      const metrics = await sdk.collect();
      const measured: Record<string, number> = {};
      for (const { attributes, value } of metrics.points('headgate.gate.wait.duration')) {
        if (attributes['headgate.name'] !== name) continue;
        const gate = String(attributes['headgate.gate']);
        measured[gate] = (measured[gate] ?? 0) + (value as { sum: number }).sum * 1_000;
      }
      expect(total([measured])).toEqual(near(told));
      const traced = sdk
        .finished('headgate.wait')
        .map((span) => ({ [String(span.attributes['headgate.gate'])]: waitedIn(span) }));
      for (const [gate, ms] of Object.entries(total(traced))) {
        // Waits of up to 1 ms are events; spans are as long as their whole milliseconds.
        expect(Math.abs(ms - (told[gate] ?? 0)), gate).toBeLessThanOrEqual(60);
      }
    }),
    { numRuns: runs(100) },
  );
});

it('a request never waits for longer than it is there', async () => {
  await fc.assert(
    fc.asyncProperty(script, async (played) => {
      const { outcomes } = await play(
        { ...played, form: 'throttle', looks: [] },
        'sums',
        async () => ({}),
      );
      expect(outcomes).toHaveLength(played.jobs.length);
      for (const { stats, request } of outcomes) {
        const waited = Object.values(stats.waits).reduce((sum, { waitMs }) => sum + waitMs, 0);
        // All else is spent in attempts: each takes as long as the job says.
        expect(waited + stats.attempts * request.ms).toBeCloseTo(stats.durationMs, 3);
      }
    }),
    { numRuns: runs(100) },
  );
});
