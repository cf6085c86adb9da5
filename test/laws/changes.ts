import { RateOracle } from './rate-oracle.ts';
import { type Action, pick } from './setup.ts';
import type { World } from './world.ts';

/** Changes one limit, of the limiter or of the stream; the warden knows what was in force. */
export function configure(
  { clock, concurrency, limiter, setup, warden, callsSoFar }: World,
  { a, b, c }: Action,
): void {
  const limit = (a % 4) + 1;
  if (limiter === undefined) {
    if (!setup.hasListener) return;
    warden.mostSlots = Math.max(warden.mostSlots, limit);
    concurrency.next(limit);
    return;
  }
  const change = pick(
    ['concurrency', 'throttled', 'bytes', 'limits', 'pace', 'queue', 'timeout', 'add', 'remove'],
    b,
  );
  if (change === 'concurrency') {
    warden.mostSlots = Math.max(warden.mostSlots, limit);
    limiter.configure({ concurrency: limit });
  }
  if (change === 'throttled') {
    warden.mostThrottled = Math.max(warden.mostThrottled, limit);
    limiter.configure({ throttledConcurrency: limit });
  }
  if (change === 'bytes') {
    warden.mostBytes = Math.max(warden.mostBytes, c % 100);
    limiter.configure({ maxBytes: c % 100 });
  }
  const named = pick([...warden.attempts.rates], c);
  if (change === 'limits' && named !== undefined) {
    const [name, rate] = named;
    rate.resize((a % 9) + 1, clock.now());
    limiter.configure({ limits: { [name]: { ...rate.rule, limit: rate.limit } } });
  }
  if (change === 'remove' && named !== undefined) {
    warden.attempts.rates.delete(named[0]);
    limiter.configure({ limits: { [named[0]]: null } });
  }
  const name = pick(['requests', 'tokens', 'credits'] as const, c) ?? 'requests';
  if (change === 'add' && !warden.attempts.rates.has(name)) {
    const rule = {
      limit: (a % 8) + 1,
      windowMs: pick([50, 400], a) ?? 50,
      algorithm:
        pick(['sliding-window', 'token-bucket', 'fixed-window'] as const, b) ?? 'fixed-window',
      charge: pick(['upfront', 'settle', 'actual'] as const, a) ?? 'upfront',
    } as const;
    warden.attempts.rates.set(name, new RateOracle(rule));
    limiter.configure({ limits: { [name]: rule } });
  }
  if (change === 'pace' && setup.pace !== undefined) {
    warden.attempts.intervalMs = a % 50;
    limiter.configure({ pace: { ...setup.pace, intervalMs: a % 50, maxIntervalMs: 300 } });
  }
  if (change === 'queue') {
    warden.maxQueue = a % 6;
    warden.mostQueue = Math.max(warden.mostQueue, warden.maxQueue);
    limiter.configure({ maxQueue: a % 6 });
  }
  if (change === 'timeout') {
    if (warden.waitTimeoutMs === Number.POSITIVE_INFINITY) warden.timedFrom = callsSoFar;
    warden.waitTimeoutMs = (c % 300) + 1;
    limiter.configure({ waitTimeoutMs: (c % 300) + 1 });
  }
}
