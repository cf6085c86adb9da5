import { Observable, Subject } from 'rxjs';
import { AnswerError } from '../../bench/goodput/generated/client.ts';
import { omniscientTimes } from '../../bench/goodput/generated/omniscient.ts';
import { type Answer, Server } from '../../bench/goodput/generated/server.ts';
import { drawScenario, type Scenario } from '../../bench/goodput/generated/space.ts';
import type { SharedStore } from '../../src/fleet/shared-store.ts';
import { createLimiter, type Limiter, type LimiterOptions } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { seededRandom } from '../../src/simulator/random.ts';
import { jain } from './rig.ts';

/** A provider of which nothing is known: what a seed draws, with some of it said. */
export function provider(seed: number, said: Partial<Scenario>): Scenario {
  const plain = { change: 'none', outage: 'none', outageMs: 0, load: 'saturated' } as const;
  return { ...drawScenario(seed), headers: 'nothing', ...plain, ...said };
}

/** One worker, which always has more to send than it may. */
export class Member {
  readonly limiter: Limiter;
  accepted = 0;
  rejected = 0;
  isStopped = false;
  private readonly requests = new Subject<number>();

  constructor(server: Server, clock: ManualClock, seed: number, options: LimiterOptions) {
    this.limiter = createLimiter({ clock, random: seededRandom(seed), ...options });
    const attempt = (): Observable<Answer> =>
      new Observable((out) => {
        server.submit({ tokens: 1 }, (answer) => {
          if (this.isStopped) return;
          if (answer.status === 200) this.accepted += 1;
          else this.rejected += 1;
          if (answer.status !== 200) return out.error(new AnswerError(answer));
          out.next(answer);
          out.complete();
        });
      });
    this.requests.pipe(this.limiter.throttle(attempt, { outcomes: true })).subscribe();
  }

  send(count: number): void {
    for (let index = 0; index < count; index += 1) this.requests.next(index);
  }
}

/** Workers on one provider. Without a store there is one process, which learns alone. */
export class Crowd {
  readonly clock = new ManualClock();
  readonly members: Member[] = [];
  readonly server: Server;
  private readonly scenario: Scenario;

  constructor(
    scenario: Scenario,
    count: number,
    storeOf?: (clock: ManualClock, place: number) => SharedStore,
    options: LimiterOptions = {},
  ) {
    this.scenario = scenario;
    this.server = new Server(scenario, this.clock);
    for (let place = 0; place < count; place += 1) {
      const shared = storeOf?.(this.clock, place);
      const given = { concurrency: 400, ...options, ...(shared && { shared }) };
      this.members.push(new Member(this.server, this.clock, place + 1, given));
    }
    const { requests, burst } = scenario;
    const each = Math.ceil((1.7 * requests + burst + 10) / count);
    for (const member of this.members) member.send(each);
  }

  run(ms: number): void {
    this.clock.advance(ms);
  }

  /**
   * In % of what an omniscient client gets, 429s for each 1,000 that were accepted, and fairness.
   */
  figures(fromMs = 0) {
    const { scenario, server, members, clock } = this;
    const arrivals = new Array<number>(Math.ceil(1.7 * scenario.requests + scenario.burst)).fill(0);
    const until = clock.now();
    const isIn = (at: number) => at >= fromMs && at < until;
    const bound = omniscientTimes(scenario, arrivals, until).filter(isIn).length;
    const accepted = server.log.accepted.filter(isIn).length;
    const rejected = server.log.rejected.filter(isIn).length;
    return {
      goodput: (100 * accepted) / Math.max(1, bound),
      perMille: (1_000 * rejected) / Math.max(1, accepted),
      jain: jain(members.map((member) => member.accepted)),
      accepted,
      rejected,
    };
  }
}
