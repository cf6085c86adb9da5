/** One worker of a fleet in virtual time. */
import { createLimiter, type Limiter, type LimiterOptions } from 'headgate';
import type { ExchangeRequest, SharedStore } from 'headgate/advanced';
import type { ManualClock } from 'headgate/simulator';

/** The real time that the calls of all workers took. */
export interface CallCost {
  calls: number;
  ms: number;
}

export class VirtualWorker {
  readonly limiter: Limiter;
  /** When requests were sent and ended, in virtual ms. */
  readonly sent: number[] = [];
  readonly ended: number[] = [];
  /** When the worker was cut off, as by a kill. */
  killedAt: number | undefined = undefined;
  /** Whether it has requests to send. */
  private isBusy = false;
  private readonly clock: ManualClock;

  constructor(store: SharedStore, clock: ManualClock, options: LimiterOptions, cost: CallCost) {
    this.clock = clock;
    const exchange = (request: ExchangeRequest) => {
      if (this.killedAt !== undefined) throw new Error('the worker is gone');
      const startMs = performance.now();
      const reply = store.exchange(request);
      cost.ms += performance.now() - startMs;
      cost.calls += 1;
      return reply;
    };
    const shared: SharedStore = { ...store, exchange };
    this.limiter = createLimiter({ adaptive: false, clock, ...options, shared });
  }

  /** Keeps this number of requests waiting or running until `rest` or `kill`. */
  work(requests: number, tookMs: number): void {
    this.isBusy = true;
    for (let request = 0; request < requests; request += 1) this.next(tookMs);
  }

  /** Stops sending. */
  rest(): void {
    this.isBusy = false;
    this.limiter.clear();
  }

  kill(): void {
    this.killedAt = this.clock.now();
    this.rest();
  }

  private next(tookMs: number): void {
    const again = () => {
      if (this.isBusy) this.next(tookMs);
    };
    // Ignore the errors of cleared requests.
    this.limiter.run(() => this.attempt(tookMs)).then(again, () => {});
  }

  private attempt(tookMs: number): Promise<void> {
    // The provider still runs the requests of a killed worker, but their ends are not reported.
    if (this.killedAt === undefined) this.sent.push(this.clock.now());
    return new Promise((done) => {
      this.clock.setTimer(() => {
        if (this.killedAt === undefined) this.ended.push(this.clock.now());
        done();
      }, tookMs);
    });
  }
}
