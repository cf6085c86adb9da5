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
  answered(reply: GrantReply, hasForgotten: boolean, now: number): void;
  /** Other limits are in force, because another worker has begun with these. */
  reconfigured(config: SharedConfig, epoch: number, now: number): void;
  lost(error: Error, now: number): void;
  back(awayMs: number, now: number): void;
  /** One try of a call of the store has ended. */
  called(tookMs: number, isAnswered: boolean): void;
  /** Requests may pass now that could not before. */
  changed(): void;
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
  /** Counts the configurations of the fleet. */
  readonly epoch: number;
  /** What is short at the store while requests wait here; empty: nothing. */
  readonly waitsFor: Shortage;
}
