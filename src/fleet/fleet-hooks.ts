import type { RateOrigin } from '../policies/adaptive-rate/unit-rate.ts';
import type { ExchangeRequest, GrantReply, SharedConfig, Shortage } from './protocol.ts';

/** What a request costs, in the units of the protocol. */
export interface FleetRequest {
  /** By limit. */
  readonly costs: readonly number[];
  readonly slots: number;
  readonly bytes: number;
  readonly tokens: number;
}

/** What a worker tells the fleet of its provider. Times in microseconds. */
export interface FleetNews {
  readonly closed: number;
  readonly throttled: number;
  readonly broken: number;
  readonly lesson: Lesson;
}

/** What it tells of the learning controller. */
export type Lesson = Pick<
  ExchangeRequest,
  'leads' | 'term' | 'heard' | 'sends' | 'report' | 'plan' | 'learned'
>;

/** Of a worker that learns nothing. */
export const NO_LESSON: Lesson = { leads: 0, term: 0, heard: 0, sends: 0 };

/** What a worker needs of its limiter. */
export interface FleetHooks {
  /** How many requests wait. */
  waiting(): number;
  /** What there is to tell. It counts as told. */
  news(now: number): FleetNews;
  /** @param sentAt when the call was made */
  answered(reply: GrantReply, hasForgotten: boolean, now: number, sentAt: number): void;
  /** How soon the next call is due by time alone, in ms; Infinity: the lease decides. */
  beatMs(now: number): number;
  /** Other limits are in force, because another worker has begun with these. */
  reconfigured(config: SharedConfig, epoch: number, now: number): void;
  lost(error: Error, now: number): void;
  back(awayMs: number, now: number): void;
  /** One try of a call of the store has ended. */
  called(tookMs: number, isAnswered: boolean): void;
  /** Requests may pass now that could not before. */
  changed(): void;
}

/** What a fleet has learned: what all of its workers send by. */
export interface FleetLearned {
  /** Requests a second, over all workers; Infinity: nothing bounds them. */
  readonly perSecond: number;
  /** Where that comes from; `start`: nothing is known. */
  readonly origin: RateOrigin;
  /** Requests in flight, over all workers, if a cap is believed. */
  readonly cap: number | undefined;
  /** Whether the provider rejects everything, and single probes go. */
  readonly isOut: boolean;
}

/** How a worker stands in its fleet. Times in ms. */
export interface FleetSnapshot {
  /** The name of this run of this worker. */
  readonly worker: string;
  /** Whether the store cannot be reached. */
  readonly isAway: boolean;
  /** Workers that the store has heard of lately, and those of them that send or wait. */
  readonly workers: number;
  readonly sharers: number;
  /** The part of what is short that is this worker's: 1 of the sharers. */
  readonly share: number;
  /** Requests in flight, each by its weight, and the slots that were lent to this worker. */
  readonly slots: { readonly used: number; readonly held: number };
  readonly bytes: { readonly used: number; readonly held: number };
  /** Answered calls, those that failed or were too slow, and how long the last one took. */
  readonly calls: number;
  readonly failedCalls: number;
  readonly latencyMs: number;
  /** How often this worker was silent for so long that it lost what it held. */
  readonly lostLeases: number;
  /** How often another worker has taken over the learning controller. */
  readonly handovers: number;
  /** Whether this worker runs it. */
  readonly leads: boolean;
  /** What the fleet has learned of its provider; undefined: nothing yet, or the rate does not adapt. */
  readonly learned: FleetLearned | undefined;
  /** Counts the configurations of the fleet. */
  readonly epoch: number;
  /** What is short at the store while requests wait here; empty: nothing. */
  readonly waitsFor: Shortage;
}
