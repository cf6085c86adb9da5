/**
 * What a worker and the shared store tell each other. All numbers are integers: amounts of limits in
 * millionths of their unit, times in microseconds.
 */

/** Raised with every change that an older worker would misunderstand. */
export const PROTOCOL = 3;

/** One unit of a limit, in the unit of the protocol. */
export const MICRO = 1_000_000;

/** A rate limit as a bucket that is refilled evenly. */
export interface SharedLimit {
  readonly name: string;
  /** The most that it holds. */
  readonly capacity: number;
  /** What flows in an hour. */
  readonly perHour: number;
}

/** What is the same for all workers of a key. */
export interface SharedConfig {
  readonly limits: readonly SharedLimit[];
  /** Requests in flight, over all workers. */
  readonly slots: number;
  /** Bytes in flight, over all workers. */
  readonly bytes: number;
  /** A worker that is silent for so long loses what it holds. */
  readonly ttl: number;
  /** What is known of the key is dropped when no worker has called for so long. */
  readonly keep: number;
  /** How far ahead a worker may reserve: about the time between two of its calls. */
  readonly tick: number;
  /** Requests in flight, over all workers, until there is a plan; 0: as many as `slots`. */
  readonly startSlots: number;
}

/** Some of the first requests that wait at a worker, of equal cost. */
export interface Demand {
  readonly count: number;
  /** What one of them costs of each limit, in the order of the limits. */
  readonly costs: readonly number[];
  /** The tokens of one of them, for a learned rate of tokens. */
  readonly tokens: number;
  /** 1: none of them waits yet. They are granted only what nobody else needs. */
  readonly spare: 0 | 1;
}

/** What was learned of the provider: rates beside the configured ones. */
export interface Plan {
  /** 0: not known. */
  readonly requestsPerHour: number;
  readonly requestsCapacity: number;
  /** 0: not known. */
  readonly tokensPerHour: number;
  readonly tokensCapacity: number;
  /** Requests in flight, over all workers; 0: not known. */
  readonly slots: number;
  /** Requests that may still be sent before the next plan, beyond those that it knows of. */
  readonly budget: number;
  /** Nothing goes for so long. */
  readonly closed: number;
  /** 1: the provider lets nothing in, and single probes go. */
  readonly isOut: 0 | 1;
  /** Where the rate comes from: its place in {@link ORIGINS}. */
  readonly origin: number;
  /** The rate that was measured at the last rejection; 0: none was. */
  readonly measuredPerHour: number;
  /** Counts the measurements. */
  readonly measured: number;
}

/** Where a planned rate comes from. */
export const ORIGINS = ['start', 'limit', 'headers', 'learned'] as const;

/** What JSON can say. */
export type Data =
  | number
  | string
  | boolean
  | null
  | readonly Data[]
  | { readonly [name: string]: Data };

/** What one worker has observed: when it was heard of, by whom, and what. 0: the worker is gone. */
export type ReportEntry = readonly [time: number, worker: string, report: Data];

/** One call of a worker. */
export interface ExchangeRequest {
  readonly protocol: number;
  /** Names one run of one worker; nobody else ever has the same. */
  readonly worker: string;
  /** Counts its calls from 1. A call that is repeated has the number of the first, and no effect. */
  readonly sequence: number;
  /** The incarnation of the store that it knows; 0: none. */
  readonly run: number;
  /** How many workers the store told of last; 0: none. */
  readonly workers: number;
  /** The configuration that it knows; 0: none. */
  readonly epoch: number;
  /** Set when it begins, when it has changed, and when the store asks for it. */
  readonly config?: SharedConfig;
  /** Slots in use, and kept for what waits. Absolute, so that a lost answer heals itself. */
  readonly slots: number;
  /** 1: since its last answer it has gone on alone, and holds what it has of its own share. */
  readonly alone: 0 | 1;
  /** More slots that it needs for what waits. */
  readonly wantedSlots: number;
  /** Those of them for the first that waits. */
  readonly headSlots: number;
  /** More that it would need soon. They are granted only where nobody else needs them. */
  readonly spareSlots: number;
  /** The same of bytes. */
  readonly bytes: number;
  readonly wantedBytes: number;
  readonly headBytes: number;
  /** What was granted of each limit, the learned ones last, and not used yet. */
  readonly unused: readonly number[];
  /**
   * Corrections of earlier charges, by limit, the learned ones last: above 0 charges more. Below 0 it is
   * the part that the window still holds, and fills a bucket to its capacity, or to what the first
   * waiting request costs.
   */
  readonly settled: readonly number[];
  /** What was granted and was not used in time. It may go at once, but pays no debt of a bucket. */
  readonly returned: readonly number[];
  /** In the order in which they will be sent; at most 64 entries. */
  readonly demand: readonly Demand[];
  /** The provider asked to send nothing for so long; 0: no news. */
  readonly closed: number;
  /** Throttled mode lasts so long; 0: no news. */
  readonly throttled: number;
  /** The circuit breaker is open for so long; 0: it is not. */
  readonly broken: number;
  /** 1: it would run the learning controller. */
  readonly leads: 0 | 1;
  /** The term in which it runs it; 0: it does not. What it has planned in another term has no effect. */
  readonly term: number;
  /** The number of the last report that its plan and its state are made of. */
  readonly heard: number;
  /** Requests that it has sent since it began. */
  readonly sent: number;
  /** Attempts that it has sent since its last call. */
  readonly sends: number;
  /** What it has observed, for the worker that runs the controller. The store does not read it. */
  readonly report?: Data;
  /** What that worker has planned, ... */
  readonly plan?: Plan;
  /** ... and what the next one needs to go on. The store does not read it. */
  readonly learned?: Data;
  /** 1: this is its last call. */
  readonly leaves: 0 | 1;
}

/** Why not all that was asked for was granted. */
export type Shortage =
  | ''
  | 'limit'
  | 'learned'
  | 'slots'
  | 'bytes'
  | 'closed'
  | 'broken'
  | 'recovering';

/** The store's answer. */
export type ExchangeReply =
  | {
      /** A newer version of the protocol has this key. */
      readonly status: 'protocol';
      readonly protocol: number;
    }
  | {
      /** The configuration must be sent: nothing was done. */
      readonly status: 'config';
      readonly protocol: number;
    }
  | GrantReply;

/** What was granted, and how the fleet stands. */
export interface GrantReply {
  readonly status: 'ok';
  readonly sequence: number;
  /** The store's time. */
  readonly now: number;
  /** The incarnation of the store: another one than before has forgotten everything. */
  readonly run: number;
  readonly epoch: number;
  /** The newest configuration, if the worker does not know it. Then nothing was granted. */
  readonly config?: SharedConfig;
  /** How many of the requests were granted what they cost. */
  readonly count: number;
  /** That of each limit, the learned ones last. */
  readonly amounts: readonly number[];
  /**
   * The first request may be sent so long from now, the last one at `until`, and those between at
   * even distances. Below 0: a part of them may go at once.
   */
  readonly from: number;
  readonly until: number;
  /** Slots and bytes that it now holds. */
  readonly slots: number;
  readonly bytes: number;
  /** It keeps no more than these as its requests end, because other workers wait for theirs. */
  readonly keptSlots: number;
  readonly keptBytes: number;
  /** 1: other workers wait for slots. */
  readonly contested: 0 | 1;
  readonly why: Shortage;
  /** The place of the limit that is short, the learned ones last; -1: none is. */
  readonly limit: number;
  readonly closed: number;
  /** By the plan nothing goes for so long. */
  readonly held: number;
  readonly throttled: number;
  readonly broken: number;
  /** Counts the backoffs of the fleet. */
  readonly backoffs: number;
  /** Workers that are heard of, and those of them that send or wait. */
  readonly workers: number;
  readonly sharers: number;
  /** 1: it was silent for too long, and had lost what it held. */
  readonly lost: 0 | 1;
  /** 1: it runs the learning controller. */
  readonly leads: 0 | 1;
  /** How often another worker took over the learning controller. */
  readonly terms: number;
  /** The number of the last report that the store has had. */
  readonly lastReport: number;
  readonly plan?: Plan;
  /** For the one that leads: what all workers have reported since those that it has heard. */
  readonly reports?: readonly ReportEntry[];
  /** For one that begins to lead: what the one before has learned. */
  readonly learned?: Data;
}

/** How a worker stands, as the store knows it. */
export interface WorkerShare {
  readonly worker: string;
  /** Requests and bytes in flight that it holds. */
  readonly slots: number;
  readonly bytes: number;
  /** Requests that it has sent since it began. */
  readonly sent: number;
  /** 1: it sends or waits. */
  readonly active: 0 | 1;
  /** 1: it runs the learning controller. */
  readonly leads: 0 | 1;
}

/** So many workers are told of at the most: those that hold most. */
export const MOST_TOLD = 32;
