import { isRejection, type ReportedLimit, type Verdict } from '../../model/feedback.ts';
import type { RateSnapshot } from '../../policies/adaptive-rate/rate-snapshot.ts';
import type { KnownLimits } from '../../policies/adaptive-rate/units/unit-rates.ts';
import type { Data, Plan, ReportEntry } from '../protocol.ts';
import type { FleetRateLearner } from './fleet-rate-learner.ts';
import { learnedBy, type State, teach } from './learner-state.ts';
import { ObservedAttempts } from './observed-attempts.ts';
import { planOf } from './plan.ts';
import { isReadable, isRecord } from './report-shape.ts';

/** Raised with each change that another version would misread: it then takes over only the rate. */
const VERSION = 4;

const US = 1_000;

/** The parts of a report, as `AttemptReports` makes them. */
type Report = readonly [
  inFlight: number,
  first: number,
  sends: readonly number[],
  ends: readonly (readonly [number, number, number, Verdict | number, number])[],
  begins?: readonly (readonly [number, number, number, Verdict | number])[],
];

interface Observation {
  readonly at: number;
  readonly run: (at: number) => void;
}

/**
 * The learning controller of a fleet. It replays the reports of all workers in the order of time to
 * a learner, and plans what the workers may send. Times in ms of the store's clock.
 */
export class FleetLearner {
  readonly learner: FleetRateLearner;
  private readonly workers = new Map<string, ObservedAttempts>();
  /** The latest time that was read. Later reports of an earlier time count as of this time. */
  private readTo = Number.NEGATIVE_INFINITY;
  /** The last limits that answers to accepted attempts named. */
  private told: { readonly at: number; readonly limits: readonly ReportedLimit[] } | undefined;
  private tokens = 1;
  private measured = 0;
  private measuredAt: number | undefined = undefined;
  /** Whether a rejection was read since the last plan. */
  hasNews = false;

  constructor(learner: FleetRateLearner) {
    this.learner = learner;
  }

  read(entries: readonly ReportEntry[]): void {
    const observations: Observation[] = [];
    const after: (() => void)[] = [];
    for (const [time, worker, report] of entries.filter(isReadable)) {
      if (report === 0) after.push(() => this.gone(worker, time / US));
      else this.note(worker, time / US, report as unknown as Report, observations, after);
    }
    observations.sort((one, other) => one.at - other.at);
    for (const { at, run } of observations) {
      this.readTo = Math.max(this.readTo, at);
      run(this.readTo);
    }
    for (const end of after) end();
  }

  /** @param now the store's time, in ms */
  plan(now: number): Plan {
    this.hasNews = false;
    this.readTo = Math.max(this.readTo, now);
    const { learner } = this;
    const outlook = learner.outlook(this.tokens, this.readTo);
    const { rate } = learner;
    if (rate.measuredAt !== this.measuredAt) {
      this.measuredAt = rate.measuredAt;
      this.measured += 1;
    }
    const perSecond = rate.measuredPerSecond ?? 0;
    return planOf(outlook, this.tokens, perSecond, this.measured);
  }

  /** As `lastsMs` of the outlook. */
  lastsMs(now: number): number {
    return this.learner.outlook(this.tokens, Math.max(this.readTo, now)).lastsMs;
  }

  snapshot(now: number): RateSnapshot {
    return this.learner.snapshot(Math.max(this.readTo, now));
  }

  /** The state that the next leader continues from. */
  get state(): Data {
    const { learner, told, tokens, measured } = this;
    const { requests, tokens: ofTokens } = learner.knownLimits;
    const known = { requests: { ...requests }, tokens: ofTokens && { ...ofTokens } };
    const limits =
      told === undefined
        ? null
        : { at: told.at, limits: told.limits.map((each) => ({ ...each })), known };
    return {
      version: VERSION,
      learner: learnedBy(learner) as Data,
      told: limits,
      tokens,
      measured,
      at: this.readTo,
    };
  }

  /** Continues from the state of another leader. @returns whether the state could be read */
  restore(state: Data, now: number): boolean {
    if (!isRecord(state) || state.version !== VERSION) return false;
    teach(this.learner, state.learner as State, now);
    this.tokens = Number(state.tokens);
    this.measured = Number(state.measured);
    this.measuredAt = this.learner.rate.measuredAt;
    this.readTo = Math.min(now, Number(state.at));
    const { told } = state;
    if (told !== undefined && isRecord(told)) {
      this.told = told as unknown as NonNullable<FleetLearner['told']>;
      this.learner.told(this.told.limits, told.known as unknown as KnownLimits, this.told.at);
    }
    return true;
  }

  /** The reports of the time without a leader have been read. */
  begun(now: number): void {
    this.learner.interrupted(now);
  }

  private note(
    worker: string,
    time: number,
    [inFlight, first, sends, ends, begins = []]: Report,
    observations: Observation[],
    after: (() => void)[],
  ): void {
    const own = this.workers.get(worker) ?? new ObservedAttempts(this.learner);
    // Its first report counts the attempts in flight as of its end.
    if (!this.workers.has(worker)) own.counted(inFlight - sends.length / 4 + ends.length);
    this.workers.set(worker, own);
    const before = (age: number) => time - age / US;
    for (let place = 0; place < sends.length; place += 4) {
      const [id = 0, age = 0, flags = 0, tokens = 0] = sends.slice(place, place + 4);
      const run = (at: number) => {
        own.sent(id, tokens, flags, at);
        if (tokens > 0) this.tokens += (tokens - this.tokens) / 32;
      };
      observations.push({ at: before(age), run });
    }
    for (const [id, sentAge, age, verdict] of begins) {
      const run = (at: number) => {
        this.heard(verdict, at);
        own.begun(id, before(sentAge), verdict, at);
      };
      observations.push({ at: before(age), run });
    }
    for (const [id, sentAge, age, verdict, used] of ends) {
      const run = (at: number) => {
        this.heard(verdict, at);
        own.ended(id, before(sentAge), verdict, used < 0 ? undefined : used, at);
      };
      observations.push({ at: before(age), run });
    }
    after.push(() => {
      own.endBefore(first, this.readTo);
      own.counted(inFlight);
    });
  }

  private heard(verdict: Verdict | number, at: number): void {
    if (typeof verdict === 'number') return;
    if (isRejection(verdict)) this.hasNews = true;
    else if (verdict.limits !== undefined) this.told = { at, limits: verdict.limits };
  }

  private gone(worker: string, at: number): void {
    const own = this.workers.get(worker);
    own?.endBefore(Number.POSITIVE_INFINITY, Math.max(this.readTo, at));
    own?.counted(0);
    this.workers.delete(worker);
  }
}
