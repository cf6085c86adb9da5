/** A generated provider: requests travel to it, are let in or rejected, and answers travel back. */
import type { Clock, Random } from 'headgate';
import { seededRandom } from 'headgate/simulator';
import { headersOf, type Telling } from './headers.ts';
import { type Cost, LimitSet } from './limit-set.ts';
import type { Scenario } from './space.ts';

export interface Answer {
  readonly status: 200 | 429 | 503;
  readonly headers: Readonly<Record<string, string>>;
  readonly usage: { readonly total_tokens: number };
}

/** What the server has seen of a run. */
export interface ServerLog {
  /** When each request was let in, in ms, ascending. */
  readonly accepted: number[];
  /** When each was rejected, in ms, ascending. */
  readonly rejected: number[];
}

export class Server {
  readonly log: ServerLog = { accepted: [], rejected: [] };
  private readonly scenario: Scenario;
  private readonly clock: Clock;
  private readonly limits: LimitSet;
  private readonly random: Random;

  constructor(scenario: Scenario, clock: Clock) {
    this.scenario = scenario;
    this.clock = clock;
    this.limits = new LimitSet(scenario);
    this.random = seededRandom(scenario.seed * 13 + 3);
  }

  /** @param answered called once, when the answer has come back */
  submit(cost: Cost, answered: (answer: Answer) => void): void {
    this.clock.setTimer(() => this.arrived(cost, answered), this.travelMs());
  }

  private arrived(cost: Cost, answered: (answer: Answer) => void): void {
    const { scenario, clock, limits, log } = this;
    const now = clock.now();
    const isOut = now >= scenario.outageFromMs && now < scenario.outageFromMs + scenario.outageMs;
    const waitMs = limits.waitMs(now, cost);
    if (!isOut && waitMs === 0) {
      limits.admit(now, cost);
      log.accepted.push(now);
      const { latencyMs, latencySigma } = scenario;
      const told = limits.told(now);
      clock.setTimer(
        () => {
          limits.release();
          const telling = {
            status: 200,
            waitMs: 0,
            told,
            decidedAt: now,
            now: clock.now(),
          } as const;
          this.answer(telling, cost, answered);
        },
        this.around(latencyMs, latencySigma),
      );
      return;
    }
    log.rejected.push(now);
    if (!isOut) limits.reject(now, cost);
    const status = isOut && scenario.outage === '503' ? 503 : 429;
    const leftMs = isOut ? Number.POSITIVE_INFINITY : limits.waitMs(now, cost);
    const told = isOut ? [] : limits.told(now);
    clock.setTimer(
      () => {
        const telling = { status, waitMs: leftMs, told, decidedAt: now, now: clock.now() } as const;
        this.answer(telling, cost, answered);
      },
      this.around(scenario.rejectionMs, 0.2),
    );
  }

  /** What is told was true when the request was let in or rejected, as servers have it. */
  private answer(telling: Telling, { tokens }: Cost, answered: (answer: Answer) => void): void {
    const headers = headersOf(this.scenario.headers, telling);
    const answer = { status: telling.status, headers, usage: { total_tokens: tokens } };
    this.clock.setTimer(() => answered(answer), this.travelMs());
  }

  private travelMs(): number {
    const { networkMs, networkJitter } = this.scenario;
    return networkMs * (1 + networkJitter * (2 * this.random() - 1));
  }

  /** Log-normal, with the mean that is given. */
  private around(meanMs: number, sigma: number): number {
    const { random } = this;
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    return meanMs * Math.exp(sigma * normal - sigma ** 2 / 2);
  }
}
