import type { RateOrigin } from '../policies/adaptive-rate/units/unit-rate.ts';
import type { ExchangeRequest, GrantReply, SharedConfig, Shortage } from './protocol.ts';

/** The costs of a request, in the units of the protocol. */
export interface FleetRequest {
  /** By limit. */
  readonly costs: readonly number[];
  readonly slots: number;
  readonly bytes: number;
  readonly tokens: number;
}

/** The state of the provider that a worker reports to the fleet. Times in microseconds. */
export interface FleetNews {
  readonly closed: number;
  readonly throttled: number;
  readonly broken: number;
  readonly lesson: Lesson;
}

/** The fields of a call that concern the learning controller. */
export type Lesson = Pick<
  ExchangeRequest,
  'leads' | 'term' | 'heard' | 'sends' | 'report' | 'plan' | 'learned'
>;

/** The lesson of a worker whose rate does not adapt. */
export const NO_LESSON: Lesson = { leads: 0, term: 0, heard: 0, sends: 0 };

/** The interface that a worker needs of its limiter. */
export interface FleetHooks {
  /** How many requests wait. */
  waiting(): number;
  /** Whether only limits outside this store held the first request when it was last decided on. */
  isHeldElsewhere(): boolean;
  /** Whether they may let it pass at any time, since no other request goes before it. */
  isNextElsewhere(): boolean;
  /** Returns the changes since the last call of this method. */
  news(now: number): FleetNews;
  /** @param sentAt when the call was made */
  answered(reply: GrantReply, hasForgotten: boolean, now: number, sentAt: number): void;
  /** The longest time between two calls, in ms; Infinity: the lease decides. */
  beatMs(now: number): number;
  /** Called when another worker has set other limits, which apply from now on. */
  reconfigured(config: SharedConfig, epoch: number, now: number): void;
  lost(error: Error, now: number): void;
  back(awayMs: number, now: number): void;
  /** One attempt of a call has ended. */
  called(tookMs: number, isAnswered: boolean): void;
  /** Waiting requests may pass now. */
  changed(): void;
}

/** The learned limits of a fleet, which all of its workers follow. */
export interface FleetLearned {
  /** Requests a second, over all workers; Infinity: nothing bounds them. */
  readonly perSecond: number;
  /** The source of `perSecond`; `start`: nothing is known. */
  readonly origin: RateOrigin;
  /** The learned cap of requests in flight, over all workers; undefined: none. */
  readonly cap: number | undefined;
  /** Whether the provider rejects every request, and only single probes are sent. */
  readonly isOut: boolean;
}

/** The state of a worker in its fleet. Times in ms. */
export interface FleetSnapshot {
  /** The name of this run of this worker. */
  readonly worker: string;
  /** Whether the store cannot be reached. */
  readonly isAway: boolean;
  /**
   * The number of workers that called the store lately, and of those that send or have waiting
   * requests.
   */
  readonly workers: number;
  readonly sharers: number;
  /** This worker's share of short limits: 1 / `sharers`; 0: the store has not replied yet. */
  readonly share: number;
  /** Requests in flight, each by its weight, and the slots that were lent to this worker. */
  readonly slots: { readonly used: number; readonly held: number };
  readonly bytes: { readonly used: number; readonly held: number };
  /** Answered calls, failed or late ones, and the duration of the last answered one. */
  readonly calls: number;
  readonly failedCalls: number;
  readonly latencyMs: number;
  /** How often this worker lost its slots and bytes because it had made no call for too long. */
  readonly lostLeases: number;
  /** How often another worker has taken over the learning controller. */
  readonly handovers: number;
  /** Whether this worker runs the learning controller. */
  readonly leads: boolean;
  /** The learned limits of the fleet; undefined: none yet, or the rate does not adapt. */
  readonly learned: FleetLearned | undefined;
  /** Counts the configurations of the fleet. */
  readonly epoch: number;
  /** The reason why requests wait here, if the store lacks something; empty: none. */
  readonly waitsFor: Shortage;
}
