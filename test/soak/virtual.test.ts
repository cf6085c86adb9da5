import { expect, it } from 'vitest';
import { createLimiter, type Limiter } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { seededRandom } from '../../src/simulator/random.ts';
import { expectIdle } from '../limiter/harness.ts';
import { ApiError, tooMany } from '../request/harness.ts';
import { aliveBytes, growthOf } from '../support/memory.ts';
import { isLong } from '../support/runs.ts';

const REQUESTS = isLong ? 1_000_000 : 5_000;
const ROUNDS = 20;
/** A few bytes of each of a million requests would be above it. */
const GROWTH = 2_000_000;
const LONGEST_MS = 400;

/** Sends requests that end in every way, and counts those that have ended. */
class Users {
  readonly clock = new ManualClock();
  readonly limiter: Limiter;
  readonly ended = { ok: 0, failed: 0 };
  readonly #random = seededRandom(1);

  constructor() {
    const { clock } = this;
    this.limiter = createLimiter({ clock, concurrency: 100, random: this.#random });
  }

  get count(): number {
    return this.ended.ok + this.ended.failed;
  }

  send(count: number): void {
    for (let n = 0; n < count; n += 1) this.#sendOne();
  }

  /** An answer: good, a 429, an error, a reset, or none until the caller gives up. */
  readonly #call = ({ signal }: { readonly signal: AbortSignal }) =>
    new Promise<string>((resolve, reject) => {
      const chance = this.#random();
      const ms = this.#random() * LONGEST_MS;
      const after = (end: () => void) => {
        const timer = this.clock.setTimer(end, ms);
        signal.addEventListener('abort', () => {
          timer.cancel();
          reject(signal.reason);
        });
      };
      if (chance < 0.01) after(() => reject(tooMany()));
      else if (chance < 0.02) after(() => reject(tooMany(100)));
      else if (chance < 0.04) after(() => reject(new ApiError(500)));
      else if (chance < 0.05) after(() => reject(new ApiError(400)));
      else if (chance < 0.06)
        after(() => reject(Object.assign(new Error(), { code: 'ECONNRESET' })));
      else if (chance < 0.07) signal.addEventListener('abort', () => reject(signal.reason));
      else after(() => resolve('answer'));
    });

  #sendOne(): void {
    const controller = new AbortController();
    const { signal } = controller;
    // What hangs ends in the end.
    const patienceMs = this.#random() < 0.02 ? LONGEST_MS * this.#random() : 50 * LONGEST_MS;
    const call = (context: { readonly signal: AbortSignal }) => {
      const timer = this.clock.setTimer(() => controller.abort(), patienceMs);
      return this.#call(context).finally(() => timer.cancel());
    };
    const end = (how: 'ok' | 'failed') => () => {
      this.ended[how] += 1;
    };
    if (this.#random() < 0.9) {
      this.limiter.run(call, { signal, bytes: 100 }).then(end('ok'), end('failed'));
    } else {
      const acquired = this.limiter.acquire({ signal, bytes: 100 });
      acquired
        .then((lease) => call({ signal }).finally(() => lease.release()))
        .then(end('ok'), end('failed'));
    }
  }
}

it(`${REQUESTS} requests in virtual time leave nothing held, and the heap flat`, async () => {
  const users = new Users();
  const sizes: number[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    users.send(REQUESTS / ROUNDS);
    while (users.count < (round * REQUESTS) / ROUNDS) await users.clock.advanceAsync(1_000);
    await users.clock.advanceAsync(0);
    expectIdle(users.limiter);
    sizes.push(aliveBytes());
  }
  const growth = growthOf(sizes);
  console.log(`${REQUESTS} requests:`, users.ended, `${growth} bytes more in the later half`);
  expect(users.count).toBe(REQUESTS);
  expect(Math.min(users.ended.ok, users.ended.failed)).toBeGreaterThan(REQUESTS / 100);
  expect(growth).toBeLessThan(GROWTH);
  users.limiter.close();
  await users.clock.advanceAsync(1_000);
  expect(users.clock.pendingTimers).toBe(0);
});
