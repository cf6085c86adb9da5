import fc from 'fast-check';
import { range } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createLimiter, type LimiterOptions } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';

/** What the server does for a while. */
type Weather = 'up' | 'refuses' | 'resets' | 'hangs up' | 'long wait' | 'quota' | '429' | '500';
/** What the user does meanwhile. */
type Step = 'pause' | 'resume' | 'clear' | 'abort' | 'send';

const weather = fc.constantFrom<Weather>(
  'up',
  'refuses',
  'resets',
  'hangs up',
  'long wait',
  'quota',
  '429',
  '500',
);
const down = fc.constantFrom<Weather>('up', 'refuses', 'resets', 'hangs up');
const stepOf = fc.record({
  afterMs: fc.integer({ min: 0, max: 20_000 }),
  what: fc.constantFrom<Step>('pause', 'resume', 'clear', 'abort', 'send'),
});
const phaseOf = (of: fc.Arbitrary<Weather>) =>
  fc.record({ weather: of, forMs: fc.integer({ min: 1, max: 30_000 }) });
const optionsOf = fc.record({
  concurrency: fc.integer({ min: 1, max: 8 }),
  adaptive: fc.constantFrom<LimiterOptions['adaptive']>('rate', false),
  onLongWait: fc.constantFrom('fail' as const, 'wait' as const),
  outageMs: fc.constantFrom(0, 5_000, 60_000, Number.POSITIVE_INFINITY),
});

function failure(code: string): Error {
  return Object.assign(new Error(code), { code });
}

function rejection(status: number, headers: Record<string, string>, error?: object): Error {
  return Object.assign(new Error(String(status)), { status, headers, ...(error && { error }) });
}

/** A server with a weather, that counts what is in flight while it cannot be reached. */
class Server {
  calls = 0;
  inFlight = 0;
  readonly clock: ManualClock;
  private readonly phases: readonly { readonly weather: Weather; readonly forMs: number }[];

  constructor(clock: ManualClock, phases: Server['phases']) {
    this.clock = clock;
    this.phases = phases;
  }

  get weather(): Weather {
    let left = this.clock.now();
    for (const { weather: now, forMs } of this.phases) {
      if (left < forMs) return now;
      left -= forMs;
    }
    return 'up';
  }

  async send(n: number): Promise<number> {
    this.calls += 1;
    this.inFlight += 1;
    try {
      const { weather: now } = this;
      if (now === 'refuses') throw failure('ECONNREFUSED');
      await new Promise<void>((resolve) => this.clock.setTimer(resolve, 5 + (n % 3) * 20));
      if (now === 'resets' || this.weather === 'hangs up') throw failure('ECONNRESET');
      if (now === 'long wait') throw rejection(429, { 'retry-after': '7200' });
      if (now === 'quota') throw rejection(429, {}, { code: 'insufficient_quota' });
      if (now === '429') throw rejection(429, {});
      if (now === '500') throw rejection(500, {});
      return n;
    } finally {
      this.inFlight -= 1;
    }
  }
}

/** Counts how each request has ended. */
class Ends {
  readonly counts = new Map<number, number>();
  readonly codes: (string | undefined)[] = [];
  ok = 0;

  follow(n: number, promise: Promise<unknown>): void {
    this.counts.set(n, 0);
    const ended = () => this.counts.set(n, (this.counts.get(n) ?? 0) + 1);
    promise.then(
      () => {
        this.ok += 1;
        ended();
      },
      (error: { code?: string }) => {
        this.codes.push(error?.code);
        ended();
      },
    );
  }

  get once(): boolean {
    return [...this.counts.values()].every((count) => count === 1);
  }
}

describe('whatever the weather', () => {
  it('every request ends once, and nothing is held or armed at the end', async () => {
    await fc.assert(
      fc.asyncProperty(
        optionsOf,
        fc.array(phaseOf(weather), { maxLength: 6 }),
        fc.array(stepOf, { maxLength: 8 }),
        async (options, phases, steps) => {
          const clock = new ManualClock();
          const server = new Server(clock, phases);
          const limiter = createLimiter({ clock, random: () => 0.5, ...options });
          const ends = new Ends();
          const controllers: AbortController[] = [];
          let next = 0;
          const send = () => {
            const n = next++;
            const controller = new AbortController();
            controllers.push(controller);
            const { signal } = controller;
            ends.follow(
              n,
              limiter.run(() => server.send(n), n % 2 === 0 ? { signal } : {}),
            );
          };
          for (let n = 0; n < 12; n += 1) send();
          const stream: unknown[] = [];
          let isComplete = false;
          range(100, 12)
            .pipe(limiter.throttle((n: number) => server.send(n), { outcomes: true }))
            .subscribe({
              next: (outcome) => stream.push(outcome),
              complete: () => (isComplete = true),
            });
          for (const { afterMs, what } of steps) {
            await clock.advanceAsync(afterMs);
            if (what === 'pause') limiter.pause();
            else if (what === 'resume') limiter.resume();
            else if (what === 'clear') limiter.clear();
            else if (what === 'abort') controllers[next >> 1]?.abort('gone');
            else send();
          }
          limiter.resume();
          limiter.close();
          // Two long waits, and the bound of an outage, are over by then.
          for (let hours = 0; hours < 6; hours += 1) await clock.advanceAsync(3_600_000);
          expect([ends.once, stream.length, isComplete]).toEqual([true, 12, true]);
          expect(limiter.snapshot()).toMatchObject({ state: 'closed', waiting: 0 });
          expect(limiter.snapshot().concurrency.inFlight).toBe(0);
          expect([server.inFlight, clock.pendingTimers]).toEqual([0, 0]);
        },
      ),
    );
  });
});

describe('an outage', () => {
  it('uses up no attempt, loses nothing within its bound, and has one probe at a time', async () => {
    await fc.assert(
      fc.asyncProperty(
        optionsOf,
        fc.array(phaseOf(down), { maxLength: 6 }),
        fc.integer({ min: 2, max: 3 }),
        async (options, phases, maxAttempts) => {
          const clock = new ManualClock();
          const server = new Server(clock, phases);
          const settings = { ...options, maxAttempts, outageMs: 600_000 };
          const limiter = createLimiter({ clock, random: () => 0.5, ...settings });
          const ends = new Ends();
          let mostProbes = 0;
          let startedAt: number | undefined;
          limiter.events$.subscribe(({ kind, at }) => {
            if (kind === 'outageStarted') startedAt = at;
            if (kind === 'outageEnded') startedAt = undefined;
          });
          const send = (n: number) => {
            // Those of before the outage have ended within 45 ms.
            const isProbe = startedAt !== undefined && clock.now() > startedAt + 45;
            const result = server.send(n);
            if (isProbe) mostProbes = Math.max(mostProbes, server.inFlight);
            return result;
          };
          for (let n = 0; n < 30; n += 1)
            ends.follow(
              n,
              limiter.run(() => send(n)),
            );
          await clock.advanceAsync(3_600_000);
          expect(ends.once).toBe(true);
          // A connection that breaks thrice while others are answered fails its request: not by an
          // outage.
          for (const code of ends.codes) expect(code).toMatch(/^ECONN/);
          const isGone = phases.every(
            ({ weather: kind }) => kind !== 'hangs up' && kind !== 'resets',
          );
          if (isGone) expect(ends.codes).toEqual([]);
          expect(mostProbes).toBeLessThanOrEqual(1);
          expect(clock.pendingTimers).toBe(0);
        },
      ),
    );
  });
});
