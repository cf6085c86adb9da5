import type { QueueJob, QueueWorker } from '../../src/bullmq/index.ts';
import type { ManualClock } from '../../src/simulator/manual-clock.ts';

export type JobState = 'waiting' | 'active' | 'completed' | 'failed';

/** A job of the fake queue. */
export interface FakeJob extends QueueJob<number> {
  readonly id: string;
}

interface Entry {
  readonly id: string;
  readonly data: number;
  readonly priority: number;
  state: JobState;
  token: string | undefined;
  lockedUntil: number;
  value: unknown;
  error: Error | undefined;
  readonly logs: string[];
  deferredFailure: string | undefined;
  attemptsStarted: number;
}

/** How often a blocked worker looks whether a job has come. */
const LOOK_MS = 10;

/**
 * A queue with the locks of BullMQ, in virtual time: a job whose lock ends goes back to the queue.
 */
export class FakeQueue {
  readonly clock: ManualClock;
  readonly entries: Entry[] = [];
  /** How long a worker has a job before it must renew its lock, in ms. */
  readonly lockDuration: number;
  /** Calls are answered with an error. */
  isAway = false;
  maxStartedAttempts: number | undefined = undefined;
  /** While it is away, calls wait until it is back, as those of a client that keeps its commands. */
  keepsCalls = false;
  awayError = 'connect ECONNREFUSED 127.0.0.1:6379';
  /** Calls of `getNextJob`. */
  asked = 0;
  /** How long a call of `getNextJob` takes. */
  latencyMs = 0;
  /** Calls of `getNextJob` at a time: now, and the most. */
  asking = { now: 0, most: 0 };
  /** This number of calls that find no job do not wait for one. */
  early = 0;
  /** Until then calls return no job at once, as where the queue limits its rate. */
  limitedUntil = 0;
  /** The most jobs that may be active. A job that ends wakes no call that waits for a job. */
  mostActive = Number.POSITIVE_INFINITY;

  constructor(clock: ManualClock, lockDuration = 30_000) {
    this.clock = clock;
    this.lockDuration = lockDuration;
  }

  add(data: number, priority = 0, id = `job ${this.entries.length}`): Entry {
    const state = 'waiting' as const;
    const lock = { token: undefined, lockedUntil: 0 };
    const entry = {
      id,
      data,
      priority,
      state,
      ...lock,
      value: undefined,
      error: undefined,
      logs: [],
      deferredFailure: undefined,
      attemptsStarted: 0,
    };
    this.entries.push(entry);
    return entry;
  }

  count(state: JobState): number {
    this.#freeStalled();
    return this.entries.filter((entry) => entry.state === state).length;
  }

  /** A worker of this queue. With a `partition` its calls fail, as if it alone were cut off. */
  worker(): QueueWorker<FakeJob> & {
    isCut: boolean;
    isClosed: boolean;
    checksStalled: boolean;
    renewals: number;
  } {
    const worker = {
      opts: { lockDuration: this.lockDuration, maxStartedAttempts: this.maxStartedAttempts },
      isCut: false,
      isClosed: false,
      checksStalled: false,
      renewals: 0,
      isRunning: () => false,
      startStalledCheckTimer: async () => {
        worker.checksStalled = true;
      },
      close: async () => {
        worker.isClosed = true;
      },
      getNextJob: async (token: string, { block = true } = {}) => {
        this.asked += 1;
        const giveUpAt = this.clock.now() + 5_000;
        if (this.latencyMs > 0) await this.#reply();
        for (;;) {
          if (this.keepsCalls) await this.#back();
          this.#reach(worker);
          if (this.clock.now() < this.limitedUntil) return undefined;
          if (this.count('active') >= this.mostActive) {
            if (block) await this.#passed(giveUpAt);
            this.#reach(worker);
            if (!block || this.count('active') >= this.mostActive) return undefined;
          }
          const entry = this.#next();
          if (entry !== undefined) return this.#lock(entry, token, worker);
          if (!block || worker.isClosed || this.clock.now() >= giveUpAt) return undefined;
          if (this.early > 0) {
            this.early -= 1;
            return undefined;
          }
          await this.#passed(this.clock.now() + LOOK_MS);
        }
      },
      extendJobLocks: async (ids: string[], tokens: string[], durationMs: number) => {
        if (this.keepsCalls) await this.#back();
        this.#reach(worker);
        this.#freeStalled();
        worker.renewals += 1;
        return ids.filter((id, index) => {
          const entry = this.entries.find((each) => each.id === id);
          if (entry === undefined || entry.token !== tokens[index]) return true;
          entry.lockedUntil = this.clock.now() + durationMs;
          return false;
        });
      },
    };
    return worker;
  }

  async #reply(): Promise<void> {
    this.asking.now += 1;
    this.asking.most = Math.max(this.asking.most, this.asking.now);
    await this.#passed(this.clock.now() + this.latencyMs);
    this.asking.now -= 1;
  }

  #passed(time: number): Promise<void> {
    return new Promise((resolve) => this.clock.setTimer(resolve, time - this.clock.now()));
  }

  async #back(): Promise<void> {
    while (this.isAway) await this.#passed(this.clock.now() + LOOK_MS);
  }

  #reach({ isCut }: { readonly isCut: boolean }): void {
    if (this.isAway || isCut) throw new Error(this.awayError);
  }

  #freeStalled(): void {
    for (const entry of this.entries) {
      if (entry.state !== 'active' || entry.lockedUntil > this.clock.now()) continue;
      entry.state = 'waiting';
      entry.token = undefined;
    }
  }

  #next(): Entry | undefined {
    this.#freeStalled();
    const waiting = this.entries.filter(({ state }) => state === 'waiting');
    return waiting.sort((a, b) => a.priority - b.priority)[0];
  }

  #lock(entry: Entry, token: string, worker: { readonly isCut: boolean }): FakeJob {
    entry.state = 'active';
    entry.token = token;
    entry.lockedUntil = this.clock.now() + this.lockDuration;
    entry.attemptsStarted += 1;
    const own = async (held: string | undefined, change: () => void) => {
      if (this.keepsCalls) await this.#back();
      this.#reach(worker);
      this.#freeStalled();
      if (!this.entries.includes(entry)) throw refusal(`Missing key for job ${entry.id}`, -1);
      if (entry.token !== held) throw refusal(`Missing lock for job ${entry.id}`, -2);
      entry.token = undefined;
      change();
    };
    return {
      id: entry.id,
      data: entry.data,
      deferredFailure: entry.deferredFailure,
      attemptsStarted: entry.attemptsStarted,
      log: async (row) => entry.logs.push(row),
      moveToCompleted: async (value, held) =>
        own(held, () => Object.assign(entry, { state: 'completed', value })),
      moveToFailed: async (error, held) =>
        own(held, () => Object.assign(entry, { state: 'failed', error })),
      moveToWait: async (held) => own(held, () => Object.assign(entry, { state: 'waiting' })),
    };
  }
}

/** An error of BullMQ's own has a number as its code. */
function refusal(message: string, code: number): Error {
  return Object.assign(new Error(message), { code });
}
