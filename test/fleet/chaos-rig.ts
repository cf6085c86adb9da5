import { Observable, Subscription } from 'rxjs';
import { FleetLearner } from '../../src/fleet/learning/fleet-learner.ts';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import type { ExchangeRequest } from '../../src/fleet/protocol.ts';
import type { SharedStore } from '../../src/fleet/shared-store.ts';
import { createLimiter, type Limiter } from '../../src/index.ts';
import {
  createProvider,
  ManualClock,
  type ProviderOptions,
  seededRandom,
} from '../../src/simulator/index.ts';
import { limit, type Rate } from '../limiter/adaptive/world.ts';
import { slowStore } from './slow-store.ts';

const REQUEST = { inputTokens: 1, maxTokens: 1, outputTokens: 1 };

/** A fleet whose workers fail, and the provider of its streams. */
export interface Chaos {
  readonly seed: number;
  readonly algorithm: Rate;
  readonly perMinute: number;
  readonly headers: NonNullable<ProviderOptions['headers']>;
  readonly workers: number;
  /** What a call of the store takes each way, in ms. */
  readonly wayMs: number;
  /** The share of streams that break. */
  readonly breaks: number;
}

/** One thing that happens: a worker closes, is killed or joins, or all lose the store. */
export interface Fault {
  readonly kind: 'close' | 'kill' | 'join' | 'away' | 'deaf';
  readonly afterMs: number;
  readonly ms: number;
}

interface Member {
  readonly limiter: Limiter;
  readonly work: Subscription;
  isKilled: boolean;
}

/** The counts of a learner that no fault may spoil. */
interface Log {
  readonly inFlight: number;
  readonly unknown: number;
}

export class ChaosFleet {
  readonly clock = new ManualClock();
  begun = 0;
  rejected = 0;
  private readonly members: Member[] = [];
  private readonly given: Chaos;
  private readonly random: () => number;
  private readonly submit: () => Promise<unknown>;
  private readonly store: SharedStore;
  private isAway = false;
  private isDeaf = false;
  private isOver = false;

  constructor(given: Chaos) {
    const { clock } = this;
    this.given = given;
    const { seed, headers, algorithm, perMinute } = given;
    this.random = seededRandom(seed);
    const provider = createProvider({
      clock,
      seed,
      headers,
      limits: [limit(algorithm, perMinute, 60_000)],
      rejectLatencyMs: 50,
      retryAfter: headers === 'none' ? 'none' : 'exact',
      latency: () => 500 + 1_500 * this.random(),
    });
    this.submit = () => provider.submitOrThrow(REQUEST);
    this.store = slowStore(memoryStore({ clock }), clock, given.wayMs);
    for (let place = 0; place < given.workers; place += 1) this.join();
  }

  /** What happens, one after the other. */
  async suffer({ kind, afterMs, ms }: Fault): Promise<void> {
    await this.clock.advanceAsync(afterMs);
    // The first worker that is left leads.
    const [leader] = this.members;
    if (kind === 'join') this.join();
    if (this.members.length > 1 && leader !== undefined) {
      if (kind === 'close' || kind === 'kill') this.members.shift();
      if (kind === 'close') {
        leader.work.unsubscribe();
        leader.limiter.close();
      }
      if (kind === 'kill') leader.isKilled = true;
    }
    if (kind === 'away') this.isAway = true;
    if (kind === 'deaf') this.isDeaf = true;
    if (kind === 'away' || kind === 'deaf') await this.clock.advanceAsync(ms);
    this.isAway = false;
    this.isDeaf = false;
  }

  /** Nothing more is sent, and all streams end. */
  async finish(): Promise<void> {
    this.isOver = true;
    for (const { limiter } of this.members) limiter.clear();
    await this.clock.advanceAsync(90_000);
  }

  close(): void {
    for (const { limiter } of this.members) limiter.close();
  }

  private join(): void {
    const { clock, store } = this;
    const exchange = async (request: ExchangeRequest) => {
      if (member.isKilled) return new Promise<never>(() => {});
      if (this.isAway) throw new Error('the store is away');
      const reply = await store.exchange(request);
      if (this.isDeaf) throw new Error('the reply was lost');
      return reply;
    };
    // Each wrapper of this store makes its calls in this way.
    const wrapped = (inner: SharedStore): SharedStore => ({
      ...inner,
      exchange,
      of: () => wrapped(inner),
    });
    const limiter = createLimiter({
      clock,
      random: this.random,
      concurrency: 2_000,
      shared: wrapped(store),
    });
    const work = new Subscription();
    const member: Member = { limiter, work, isKilled: false };
    this.members.push(member);
    const attempt = () => new Observable<unknown>((out) => this.attempt(member, out));
    const source = numbers(() => this.isOver);
    work.add(
      limiter.throttleFrom(source, attempt, { outcomes: true }).subscribe({ error: () => {} }),
    );
  }

  private attempt(
    member: Member,
    out: { next(value: unknown): void; error(error: unknown): void; complete(): void },
  ): void {
    if (member.isKilled) return;
    const { random, clock } = this;
    this.submit().then(
      (answer) => {
        if (member.isKilled) return;
        this.begun += 1;
        out.next(answer);
        const breaks = random() < this.given.breaks;
        const end = () => {
          if (member.isKilled) return;
          if (breaks) out.error(new Error('the stream broke'));
          else out.complete();
        };
        clock.setTimer(end, 1_000 + 60_000 * random());
      },
      (error) => {
        this.rejected += 1;
        if (!member.isKilled) out.error(error);
      },
    );
  }
}

function* numbers(isOver: () => boolean) {
  for (let number = 0; !isOver(); number += 1) yield number;
}

/** Calls back with the counts of a learner at each of its plans. @returns the undoing */
export function watch(look: (log: Log, learner: FleetLearner) => void): () => void {
  const { plan } = FleetLearner.prototype;
  FleetLearner.prototype.plan = function (now) {
    look((this.learner as unknown as { readonly log: Log }).log, this);
    return plan.call(this, now);
  };
  return () => {
    FleetLearner.prototype.plan = plan;
  };
}
