import type { ExchangeReply, ExchangeRequest } from '../../src/fleet/protocol.ts';
import type { SharedStore } from '../../src/fleet/shared-store.ts';
import { createLimiter, type Limiter, type LimiterOptions } from '../../src/index.ts';
import type { ManualClock } from '../../src/simulator/manual-clock.ts';

/** One worker of a fleet under test, and its connection to the store. */
export class Worker {
  readonly limiter: Limiter;
  /** When each of its requests was sent, and what it cost. */
  readonly sends: { readonly at: number; readonly cost: number }[] = [];
  inFlight = 0;
  /**
   * Whether its calls fail before they arrive, or their answers are lost, or its client keeps them
   * until it is connected again.
   */
  way: 'open' | 'cut' | 'deaf' | 'kept' = 'open';
  calls = 0;
  private kept: (() => void)[] = [];

  constructor(store: SharedStore, clock: ManualClock, options: LimiterOptions) {
    this.clock = clock;
    const shared: SharedStore = {
      ...store,
      exchange: (request: ExchangeRequest) => this.carry(store, request),
    };
    this.limiter = createLimiter({ adaptive: false, clock, ...options, shared });
  }

  private readonly clock: ManualClock;

  /** Sends requests that take a time each. @param then is called as each of them ends */
  send(count: number, tookMs: number, cost = 1, then: () => void = () => {}): void {
    for (let request = 0; request < count; request += 1) {
      const sending = this.limiter.run(() => this.attempt(tookMs, cost), { tokens: cost });
      // Some tests clear what waits.
      sending.then(then, () => {});
    }
  }

  /** Its client is connected again, and makes the calls that it has kept, one each ms. */
  reconnect(): void {
    this.way = 'open';
    this.kept.forEach((call, ms) => {
      this.clock.setTimer(call, ms);
    });
    this.kept = [];
  }

  private attempt(tookMs: number, cost: number): Promise<void> {
    this.sends.push({ at: this.clock.now(), cost });
    this.inFlight += 1;
    return new Promise((done) => {
      this.clock.setTimer(() => {
        this.inFlight -= 1;
        done();
      }, tookMs);
    });
  }

  private carry(
    store: SharedStore,
    request: ExchangeRequest,
  ): ExchangeReply | Promise<ExchangeReply> {
    this.calls += 1;
    if (this.way === 'cut') throw new Error('the way to the store is cut');
    if (this.way === 'kept') {
      return new Promise((resolve) => {
        this.kept.push(() => resolve(store.exchange(structuredClone(request))));
      });
    }
    const reply = store.exchange(JSON.parse(JSON.stringify(request)));
    if (this.way === 'deaf') throw new Error('the answer was lost');
    return reply;
  }
}

/** The sends with their times. */
interface Send {
  readonly at: number;
  readonly cost: number;
}

/** The most requests that were sent in any interval of a length. */
export function mostInWindow(workers: readonly Worker[], windowMs: number): number {
  return mostIn(
    workers.flatMap((worker) => worker.sends),
    windowMs,
  );
}

/** The same of sends in any order. */
export function mostIn(unsorted: readonly Send[], windowMs: number): number {
  const sends = [...unsorted].sort((a, b) => a.at - b.at);
  let most = 0;
  let sum = 0;
  let first = 0;
  for (const { at, cost } of sends) {
    sum += cost;
    while (at - (sends[first] as Send).at >= windowMs) {
      sum -= (sends[first] as Send).cost;
      first += 1;
    }
    most = Math.max(most, sum);
  }
  return most;
}

/** Jain's index of fairness: 1 means equal shares, 1/n means that one worker gets everything. */
export function jain(values: readonly number[]): number {
  const sum = values.reduce((a, b) => a + b, 0);
  const squares = values.reduce((a, b) => a + b * b, 0);
  return squares === 0 ? 1 : (sum * sum) / (values.length * squares);
}
