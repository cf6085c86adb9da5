import type { SharedStore } from '../../src/fleet/shared-store.ts';
import { createLimiter, type Limiter, type LimiterOptions } from '../../src/index.ts';
import type { ManualClock } from '../../src/simulator/manual-clock.ts';
import { seededRandom } from '../../src/simulator/random.ts';
import type { Clock } from '../../src/util/clock.ts';

/**
 * A process of a serverless platform, with a limiter of its own. While it is frozen, its timers and
 * the answers to it wait; they come all at once when it goes on. A killed one hears of nothing more.
 */
export class Container implements Clock {
  readonly limiter: Limiter;
  state: 'on' | 'frozen' | 'killed' = 'on';
  /** The timers that keep it from exiting. */
  keepAlive = 0;
  private readonly clock: ManualClock;
  private late: (() => void)[] = [];

  constructor(
    clock: ManualClock,
    seed: number,
    options: LimiterOptions,
    store: SharedStore,
    callMs: number,
  ) {
    this.clock = clock;
    const shared = this.reach(store, callMs / 2);
    this.limiter = createLimiter({ clock: this, random: seededRandom(seed), ...options, shared });
  }

  now(): number {
    return this.clock.now();
  }

  setTimer(callback: () => void, delayMs: number, keepAlive = true) {
    let isPending = true;
    if (keepAlive) this.keepAlive += 1;
    const end = () => {
      if (isPending && keepAlive) this.keepAlive -= 1;
      const wasPending = isPending;
      isPending = false;
      return wasPending;
    };
    const timer = this.clock.setTimer(() => {
      this.pass(() => {
        if (end()) callback();
      });
    }, delayMs);
    const cancel = () => {
      if (end()) timer.cancel();
    };
    return { cancel };
  }

  /** An answer from outside reaches it. */
  receive<T>(answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      answer.then(
        (value) => this.pass(() => resolve(value)),
        (error) => this.pass(() => reject(error)),
      );
    });
  }

  thaw(): void {
    this.state = 'on';
    const { late } = this;
    this.late = [];
    for (const callback of late) this.clock.setTimer(() => this.pass(callback), 0);
  }

  private pass(callback: () => void): void {
    if (this.state === 'on') callback();
    else if (this.state === 'frozen') this.late.push(callback);
  }

  private reach(store: SharedStore, wayMs: number): SharedStore {
    const { clock } = this;
    const passed = () => new Promise<void>((done) => clock.setTimer(done, wayMs));
    const exchange: SharedStore['exchange'] = async (request) => {
      const copy = structuredClone(request);
      await passed();
      const reply = structuredClone(await store.exchange(copy));
      await this.receive(passed());
      return reply;
    };
    return { ...store, exchange };
  }
}
