/**
 * A generated provider. Requests travel to it, are accepted or rejected, and answers travel back.
 */
import type { Clock, Random } from 'headgate';
import { seededRandom } from 'headgate/simulator';
import { answerTimes, logNormalAround } from './answer-times.ts';
import { headersOf, type Telling } from './headers.ts';
import { type Cost, LimitSet } from './limit-set.ts';
import type { Scenario } from './space.ts';

export interface Answer {
  readonly status: 200 | 429 | 503;
  readonly headers: Readonly<Record<string, string>>;
  readonly usage: { readonly total_tokens: number };
}

/** The server's record of a run. */
export interface ServerLog {
  /** When each request was accepted, in ms, ascending. */
  readonly accepted: number[];
  /** When each rejected request was rejected, in ms, ascending. */
  readonly rejected: number[];
}

/** The time of a rejection, which varies little. */
const REJECTION_SIGMA = 0.2;

export class Server {
  readonly log: ServerLog = { accepted: [], rejected: [] };
  private readonly scenario: Scenario;
  private readonly clock: Clock;
  private readonly limits: LimitSet;
  private readonly random: Random;
  private readonly nextAnswerMs: () => number;

  constructor(scenario: Scenario, clock: Clock) {
    this.scenario = scenario;
    this.clock = clock;
    this.limits = new LimitSet(scenario);
    this.random = seededRandom(scenario.seed * 13 + 3);
    this.nextAnswerMs = answerTimes(scenario);
  }

  /** @param answered called once, when the answer has arrived at the client */
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
      const told = limits.told(now);
      clock.setTimer(() => {
        limits.release();
        const telling = {
          status: 200,
          waitMs: 0,
          told,
          decidedAt: now,
          now: clock.now(),
        } as const;
        this.answer(telling, cost, answered);
      }, this.nextAnswerMs());
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
      logNormalAround(scenario.rejectionMs, REJECTION_SIGMA, this.random),
    );
  }

  /** Headers report the state at the moment of acceptance or rejection, as those of servers do. */
  private answer(telling: Telling, { tokens }: Cost, answered: (answer: Answer) => void): void {
    const headers = headersOf(this.scenario.headers, telling);
    const answer = { status: telling.status, headers, usage: { total_tokens: tokens } };
    this.clock.setTimer(() => answered(answer), this.travelMs());
  }

  private travelMs(): number {
    const { networkMs, networkJitter } = this.scenario;
    return networkMs * (1 + networkJitter * (2 * this.random() - 1));
  }
}
