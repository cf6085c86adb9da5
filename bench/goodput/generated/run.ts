/** Runs one client against one generated provider, in virtual time. */
import type { Random } from 'headgate';
import { seededRandom } from 'headgate/simulator';
import type { VirtualTime } from '../virtual-time.ts';
import type { ClientContext, GeneratedClient, Request, RunningClient } from './client.ts';
import { tokenSource } from './limit-set.ts';
import { arrivalsOf } from './load.ts';
import { omniscientTimes } from './omniscient.ts';
import { type Score, scoreOf } from './score.ts';
import { type Answer, Server } from './server.ts';
import type { Scenario } from './space.ts';
import { Stalls, type StallTimes, stalledClock } from './stalls.ts';

export interface RunOptions {
  /** The concurrency that the user allows. */
  readonly concurrency: number;
  readonly watcher?: Watcher;
  /** How often and how long the client's and the provider's process stall. Default: never. */
  readonly stalls?: StallTimes | undefined;
}

/** Observes a run, for a trace. */
export interface Watcher {
  /** Called once before the run begins. */
  begun(view: RunView): void;
  sent(): void;
  /** Called after the client has received an answer. */
  answered(answer: Answer): void;
}

/** The state of a run that a watcher can read at any time. */
export interface RunView {
  readonly scenario: Scenario;
  readonly clock: VirtualTime['clock'];
  inFlight(): number;
  /** The number of submitted requests that are neither answered nor in flight. */
  waiting(): number;
  /** The client's estimates; undefined: the client reports none. */
  snapshot(): unknown;
}

/**
 * The time in which bursts must be answered, in multiples of the run; also for the omniscient
 * schedule.
 */
const DRAIN_RUNS = 2.5;
const BOUND_RUNS = 2;
/** How many times a run of bursts checks whether it has finished. */
const LOOKS = 250;
/** The shortest delay after which a request that was given up is submitted again. */
const LOST_MS = 1;
/** The seed of the client's random numbers, independent of the provider's. */
const clientSeed = (seed: number) => seed * 29 + 7;

/** The seeds of the client's and the provider's stalls, independent of each other. */
const stallSeeds = (seed: number) => [seed * 31 + 5, seed * 37 + 9] as const;

/** @throws the error that the client throws or ends with */
export async function runGenerated(
  scenario: Scenario,
  client: GeneratedClient,
  options: RunOptions,
): Promise<Score> {
  const arrivals = arrivalsOf(scenario);
  const isBursts = scenario.load === 'bursts';
  const endMs = scenario.horizonMs * (isBursts ? DRAIN_RUNS : 1);
  const random = seededRandom(clientSeed(scenario.seed));
  const start = await client.load();
  const time = client.time(random);
  try {
    const run = new Run(scenario, arrivals, time, options);
    run.begin(start, random);
    for (let look = 1; look <= LOOKS && !run.isDone; look += 1) {
      await time.runUntil((endMs * look) / LOOKS);
    }
    run.throwFailure();
    const boundMs = scenario.horizonMs * (isBursts ? BOUND_RUNS : 1);
    return scoreOf(scenario, arrivals, omniscientTimes(scenario, arrivals, boundMs), run.log);
  } finally {
    time.end();
  }
}

class Run implements RunView {
  readonly scenario: Scenario;
  readonly clock: VirtualTime['clock'];
  private readonly arrivals: readonly number[];
  private readonly server: Server;
  private readonly options: RunOptions;
  /** The client's clock; the clock of the run if nothing stalls. */
  private readonly clientClock: VirtualTime['clock'];
  private readonly nextTokens: () => number;
  private client: RunningClient | undefined;
  private handedOver = 0;
  private out = 0;
  private done = 0;
  private failure: { readonly error: unknown } | undefined;

  constructor(
    scenario: Scenario,
    arrivals: readonly number[],
    { clock }: VirtualTime,
    options: RunOptions,
  ) {
    this.scenario = scenario;
    this.clock = clock;
    this.arrivals = arrivals;
    this.options = options;
    const [ofClient, ofServer] = stallSeeds(scenario.seed).map((seed) => this.stalled(clock, seed));
    this.clientClock = ofClient ?? clock;
    this.server = new Server(scenario, ofServer ?? clock);
    this.nextTokens = tokenSource(scenario.seed);
  }

  private stalled(clock: VirtualTime['clock'], seed: number): VirtualTime['clock'] {
    const { stalls } = this.options;
    return stalls === undefined
      ? clock
      : stalledClock(clock, new Stalls(stalls, seededRandom(seed)));
  }

  get log(): Server['log'] {
    return this.server.log;
  }

  get isDone(): boolean {
    return this.done === this.arrivals.length || this.failure !== undefined;
  }

  inFlight(): number {
    return this.out;
  }

  waiting(): number {
    return this.handedOver - this.done - this.out;
  }

  snapshot(): unknown {
    return this.client?.snapshot?.();
  }

  throwFailure(): void {
    if (this.failure !== undefined) throw this.failure.error;
  }

  begin(start: (context: ClientContext) => RunningClient, random: Random): void {
    const { scenario, clock, options } = this;
    this.client = start({
      scenario,
      clock: this.clientClock,
      random,
      concurrency: options.concurrency,
      send: (request, answered) => this.send(request, answered),
      lost: (request, afterMs = LOST_MS) => {
        // Submit it later: a client that gives up at once would otherwise loop without time
        // passing.
        clock.setTimer(() => this.client?.handOver(request), Math.max(LOST_MS, afterMs));
      },
      failed: (error) => {
        this.failure ??= { error };
      },
    });
    options.watcher?.begun(this);
    this.handOverArrived();
  }

  private handOverArrived(): void {
    const { arrivals, clock } = this;
    const now = clock.now();
    for (;;) {
      const arrival = arrivals[this.handedOver];
      if (arrival === undefined) return;
      if (arrival > now) {
        clock.setTimer(() => this.handOverArrived(), arrival - now);
        return;
      }
      const index = this.handedOver++;
      this.client?.handOver({ index, tokens: this.nextTokens() });
    }
  }

  private send(request: Request, answered: (answer: Answer) => void): void {
    const { watcher } = this.options;
    this.out += 1;
    watcher?.sent();
    this.server.submit(request, (answer) => {
      if (this.options.stalls === undefined) this.returned(answer, answered);
      else this.clientClock.setTimer(() => this.returned(answer, answered), 0);
    });
  }

  private returned(answer: Answer, answered: (answer: Answer) => void): void {
    this.out -= 1;
    if (answer.status === 200) this.done += 1;
    answered(answer);
    this.options.watcher?.answered(answer);
  }
}
