import { expect, it } from 'vitest';
import { createLimiter } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { fate } from '../../limiter/harness.ts';

const TIMES = 10;
const MOST_MS = 60_000;

/** A server that is closed until `openAt`, and names ten times the time that is left. */
function exaggerating() {
  const clock = new ManualClock();
  const limiter = createLimiter({ clock, maxRetryAfterMs: MOST_MS, telemetry: false });
  const server = { openAt: 0, calls: 0 };
  const call = () =>
    limiter.run(async () => {
      const number = server.calls++;
      const leftMs = server.openAt - clock.now();
      // Answers take long, and not all as long.
      await new Promise<void>((resolve) => clock.setTimer(resolve, 60 + 7 * (number % 5)));
      if (leftMs <= 0) return number;
      throw Object.assign(new Error('429'), {
        status: 429,
        headers: { 'retry-after-ms': String(TIMES * leftMs) },
      });
    });
  return { clock, limiter, server, call };
}

/** Twelve requests, each some ms after the one before, while the server is closed for 5 s. */
async function shown() {
  const rig = exaggerating();
  const { clock, server, call } = rig;
  await clock.advanceAsync(1_000);
  server.openAt = clock.now() + 5_003;
  const calls: { state: string }[] = [];
  for (let index = 0; index < 12; index += 1) {
    calls.push(fate(call()));
    await clock.advanceAsync(3);
  }
  await clock.advanceAsync(6_000);
  expect(new Set(calls.map(({ state }) => state))).toEqual(new Set(['ok']));
  return rig;
}

it('waits that have proved too long are corrected, and so are those beyond `maxRetryAfterMs`', async () => {
  const { clock, server, call } = await shown();
  const from = clock.now();
  server.openAt = from + 20_003;
  const later = fate(call());
  // 200 s are named: too long, were they true.
  await clock.advanceAsync(19_000);
  expect(later.state).toBe('open');
  await clock.advanceAsync(4_000);
  expect(later.state).toBe('ok');
});

it('the end of a used-up quota is not corrected', async () => {
  const { clock, limiter } = await shown();
  const failed = fate(
    limiter.run(async () => {
      const error = { code: 'insufficient_quota', message: 'You exceeded your current quota' };
      const headers = { 'retry-after-ms': '3600000' };
      throw Object.assign(new Error(error.message), { status: 429, error, headers });
    }),
  );
  await clock.advanceAsync(100);
  expect(failed.state).toBe('failed');
  const refused = fate(limiter.run(async () => 1));
  await clock.advanceAsync(0);
  expect(refused.error).toMatchObject({ name: 'QuotaExhaustedError' });
  expect((refused.error as { retryAfterMs: number }).retryAfterMs).toBeGreaterThan(3_590_000);
});

it('a wait that is too long even after correction fails its request with the corrected time', async () => {
  const { clock, server, call } = await shown();
  server.openAt = clock.now() + 90_003;
  const later = fate(call());
  await clock.advanceAsync(100);
  expect(later.state).toBe('failed');
  expect(later.error).toMatchObject({ name: 'RetryAfterTooLongError' });
  const { retryAfterMs } = later.error as { retryAfterMs: number };
  expect(retryAfterMs).toBeGreaterThan(80_000);
  expect(retryAfterMs).toBeLessThan(110_000);
});
