import type { SharedStore } from '../../src/fleet/shared-store.ts';
import {
  createLimiterGroup,
  type LimiterGroup,
  type LimiterGroupOptions,
} from '../../src/index.ts';
import type { ManualClock } from '../../src/simulator/manual-clock.ts';

/** One process with a group, and the way from it to the store: a call takes 1 ms. */
export class Process {
  readonly group: LimiterGroup<string>;
  /** When each request was sent, by key. */
  readonly sends = new Map<string, number[]>();
  inFlight = 0;
  calls = 0;
  isCut = false;
  private readonly clock: ManualClock;

  constructor(store: SharedStore, clock: ManualClock, options: LimiterGroupOptions) {
    this.clock = clock;
    this.group = createLimiterGroup((key: string) => key, {
      clock,
      ...options,
      store: this.carried(store),
    });
  }

  /** Sends requests of a key that take a time each. */
  send(key: string, count: number, tookMs: number): void {
    for (let request = 0; request < count; request += 1) {
      this.group.run(key, () => this.attempt(key, tookMs)).catch(() => {});
    }
  }

  sent(key: string): number {
    return this.sends.get(key)?.length ?? 0;
  }

  get total(): number {
    return [...this.sends.values()].reduce((sum, times) => sum + times.length, 0);
  }

  private attempt(key: string, tookMs: number): Promise<void> {
    this.inFlight += 1;
    const times = this.sends.get(key) ?? [];
    this.sends.set(key, times);
    times.push(this.clock.now());
    return new Promise((done) => {
      this.clock.setTimer(() => {
        this.inFlight -= 1;
        done();
      }, tookMs);
    });
  }

  private carried(store: SharedStore): SharedStore {
    return {
      ...store,
      exchange: (request) => {
        this.calls += 1;
        if (this.isCut) return Promise.reject(new Error('the way to the store is cut'));
        return new Promise((answer) => {
          this.clock.setTimer(() => {
            const reply = store.exchange(JSON.parse(JSON.stringify(request)));
            answer(JSON.parse(JSON.stringify(reply)));
          }, 1);
        });
      },
      of: (name) => this.carried((store.of as NonNullable<SharedStore['of']>)(name)),
    };
  }
}

/** The most sends in any interval of a length. */
export function mostWithin(times: readonly number[], windowMs: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  let first = 0;
  let most = 0;
  sorted.forEach((at, place) => {
    while (at - (sorted[first] as number) >= windowMs) first += 1;
    most = Math.max(most, place - first + 1);
  });
  return most;
}
