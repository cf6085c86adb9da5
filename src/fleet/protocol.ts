/**
 * The messages between a worker and the shared store. All numbers are integers: amounts of limits
 * in millionths of their unit, times in microseconds.
 */

/** Raised with every change that an older worker would misunderstand. */
export const PROTOCOL = 4;

/** One unit of a limit, in the unit of the protocol. */
export const MICRO = 1_000_000;

/** A rate limit as a bucket that is refilled evenly. */
export interface SharedLimit {
  readonly name: string;
  /** The most that the bucket holds. */
  readonly capacity: number;
  /** The amount that is refilled in an hour. */
  readonly perHour: number;
}

/** The settings that all workers of a key share. */
export interface SharedConfig {
  readonly limits: readonly SharedLimit[];
  /** Requests in flight, over all workers. */
  readonly slots: number;
  /** Bytes in flight, over all workers. */
  readonly bytes: number;
  /** A worker that makes no call for this time loses the slots and bytes that it holds. */
  readonly ttl: number;
  /** The state of the key is dropped when no worker has called for this time. */
  readonly keep: number;
  /**
   * About the time from a reply to the next call. A worker may reserve its share of what flows in
   * within two ticks and two of the slowest calls.
   */
  readonly tick: number;
  /** Requests in flight, over all workers, until there is a plan; 0: as many as `slots`. */
  readonly startSlots: number;
}

/** Requests of equal cost at one worker: the first that wait, or those expected soon. */
export interface Demand {
  readonly count: number;
  /** The cost of one request, by limit, in the order of the limits. */
  readonly costs: readonly number[];
  /** The tokens of one request, for a learned rate of tokens. */
  readonly tokens: number;
  /**
   * 1: these requests do not wait yet. The store grants them only what no other worker needs.
   * 2: they wait behind a first request that has its grant. The store reserves for them what flows
   * in within two ticks and two calls. For the first request (0) it reserves any cost.
   */
  readonly spare: 0 | 1 | 2;
}

/** Limits learned from the provider's answers. They apply beside the configured ones. */
export interface Plan {
  /** 0: not known. */
  readonly requestsPerHour: number;
  readonly requestsCapacity: number;
  /** 0: not known. */
  readonly tokensPerHour: number;
  readonly tokensCapacity: number;
  /** Requests of workers that go on alone, all together. */
  readonly alonePerHour: number;
  /** Requests in flight, over all workers; 0: not known. */
  readonly slots: number;
  /** Requests that may be sent before the next plan, beyond those that this plan has counted. */
  readonly budget: number;
  /** No request may be sent for this time. */
  readonly closed: number;
  /** 1: the provider rejects every request, and only single probes are sent. */
  readonly isOut: 0 | 1;
  /** The source of the rate: its index in {@link ORIGINS}. */
  readonly origin: number;
  /** The rate that was measured at the last rejection; 0: none was. */
  readonly measuredPerHour: number;
  /** Counts the measurements. */
  readonly measured: number;
  /** The true waits as a share of those that rejections name, in millionths. */
  readonly waitShare: number;
}

/** The sources of a planned rate. */
export const ORIGINS = ['start', 'limit', 'headers', 'learned'] as const;

/** A value that JSON can represent. */
export type Data =
  | number
  | string
  | boolean
  | null
  | readonly Data[]
  | { readonly [name: string]: Data };

/** The observations that one worker reported, and when. A `report` of 0: the worker is gone. */
export type ReportEntry = readonly [time: number, worker: string, report: Data];

/** One call of a worker. */
export interface ExchangeRequest {
  readonly protocol: number;
  /** A unique name for one run of one worker. */
  readonly worker: string;
  /**
   * Counts the worker's calls from 1. A repeated call keeps its number, and has no effect if the
   * first one arrived.
   */
  readonly sequence: number;
  /** The incarnation of the store that the worker knows; 0: none. */
  readonly run: number;
  /** The number of workers in the last reply of the store; 0: there was no reply. */
  readonly workers: number;
  /** What a call of this worker takes; 0: not known. */
  readonly took: number;
  /** The number of the configuration that the worker knows; 0: none. */
  readonly epoch: number;
  /** Sent with the first call, after a change, and when the store asks for it. */
  readonly config?: SharedConfig;
  /**
   * Slots in use, and slots kept for waiting requests. This is the whole number, not a change, so
   * that a lost reply causes no error.
   */
  readonly slots: number;
  /** 1: since its last reply the worker went on alone, and it holds slots of its share. */
  readonly alone: 0 | 1;
  /** Additional slots that the waiting requests need. */
  readonly wantedSlots: number;
  /** The part of `wantedSlots` that the first waiting request needs. */
  readonly headSlots: number;
  /**
   * 1: only limits that are not of this key hold the first waiting request. The worker keeps slots
   * and bytes for it even if other workers wait, and its unused grants from before this call, which
   * count as a part of what the buckets hold.
   */
  readonly keeps: 0 | 1;
  /** Additional slots for requests expected soon: granted only if no other worker needs them. */
  readonly spareSlots: number;
  /** Bytes in flight, in the same way. */
  readonly bytes: number;
  readonly wantedBytes: number;
  readonly headBytes: number;
  /** Granted amounts that are not used yet, by limit, the learned ones last. */
  readonly unused: readonly number[];
  /**
   * Corrections of earlier charges, by limit, the learned ones last. Above 0: a further charge.
   * Below 0: a refund of the part that the window still holds. It fills a bucket to its capacity,
   * or to the cost of the first waiting request if that is more.
   */
  readonly settled: readonly number[];
  /**
   * Granted amounts that were not used in time, by limit. The store may grant them again at once,
   * but they pay no debt of a bucket.
   */
  readonly returned: readonly number[];
  /** In the order in which they will be sent; at most 64 entries. */
  readonly demand: readonly Demand[];
  /** The provider asked to send nothing for this time; 0: nothing new. */
  readonly closed: number;
  /** Throttled mode lasts for this time; 0: nothing new. */
  readonly throttled: number;
  /** The circuit breaker stays open for this time; 0: it is not open, or nothing new. */
  readonly broken: number;
  /** 1: the worker can run the learning controller. */
  readonly leads: 0 | 1;
  /** The term in which the worker leads; 0: it does not. A plan of another term has no effect. */
  readonly term: number;
  /** The number of the last report that its plan and its state take into account. */
  readonly heard: number;
  /** Requests that the worker has sent since it began. */
  readonly sent: number;
  /** Attempts in `report` that the worker has sent. */
  readonly sends: number;
  /** Its observations, for the worker that runs the controller. The store does not read them. */
  readonly report?: Data;
  /** The new plan of the worker that runs the controller. */
  readonly plan?: Plan;
  /** The state that the next leader continues from. The store does not read it. */
  readonly learned?: Data;
  /** 1: this is its last call. */
  readonly leaves: 0 | 1;
}

/** Why the store granted less than a worker asked for; empty: nothing is short. */
export type Shortage =
  | ''
  | 'limit'
  | 'learned'
  | 'slots'
  | 'bytes'
  | 'closed'
  | 'broken'
  | 'recovering';

/** The reply of the store. */
export type ExchangeReply =
  | {
      /** Other workers of this key use a newer version of the protocol. */
      readonly status: 'protocol';
      readonly protocol: number;
    }
  | {
      /** The store has no configuration of this key, and the call had none: nothing was done. */
      readonly status: 'config';
      readonly protocol: number;
    }
  | GrantReply;

/** The amounts that were granted, and the state of the fleet. */
export interface GrantReply {
  readonly status: 'ok';
  readonly sequence: number;
  /** The store's time. */
  readonly now: number;
  /** The incarnation of the store. If it changes, the store has lost its state. */
  readonly run: number;
  readonly epoch: number;
  /**
   * The newest configuration, unless the call had its `run` and `epoch`. Nothing was granted then,
   * except to a call that contained a configuration.
   */
  readonly config?: SharedConfig;
  /** The number of requests whose cost was granted. */
  readonly count: number;
  /** The granted amounts, by limit, the learned ones last. */
  readonly amounts: readonly number[];
  /**
   * The amount of each limit becomes usable evenly between its `from` and its `until`, both counted
   * from now. `from` below 0: a part is usable at once.
   */
  readonly from: readonly number[];
  readonly until: readonly number[];
  /** Slots and bytes that the worker now holds. */
  readonly slots: number;
  readonly bytes: number;
  /** As its requests end, the worker keeps no more than these, because other workers wait. */
  readonly keptSlots: number;
  readonly keptBytes: number;
  /** 1: other workers wait for slots. */
  readonly contested: 0 | 1;
  /**
   * What the slowest calls of all workers take. Due amounts are used half of it later, so that
   * replies arrive before.
   */
  readonly slowest: number;
  readonly why: Shortage;
  /** The index of the limit that is short, the learned ones last; -1: none is. */
  readonly limit: number;
  readonly closed: number;
  /** The plan lets no request be sent for this time. */
  readonly held: number;
  readonly throttled: number;
  readonly broken: number;
  /** Counts the backoffs of the fleet. */
  readonly backoffs: number;
  /** The number of workers with a lease, and of those that send or have waiting requests. */
  readonly workers: number;
  readonly sharers: number;
  /** 1: the worker made no call for too long, and lost the slots and bytes that it held, if any. */
  readonly lost: 0 | 1;
  /** 1: this worker runs the learning controller. */
  readonly leads: 0 | 1;
  /** Counts the terms of the learning controller: one more each time another worker runs it. */
  readonly terms: number;
  /** The number of the last report that the store has received. */
  readonly lastReport: number;
  readonly plan?: Plan;
  /** For the leader: the reports of all workers that its state does not contain yet. */
  readonly reports?: readonly ReportEntry[];
  /** For a worker that begins to lead: the state that the last leader stored. */
  readonly learned?: Data;
}

/** The state of one worker, as the store knows it. */
export interface WorkerShare {
  readonly worker: string;
  /** Slots and bytes that the worker holds. */
  readonly slots: number;
  readonly bytes: number;
  /** Requests that it has sent since it began. */
  readonly sent: number;
  /** 1: it sends or has waiting requests. */
  readonly active: 0 | 1;
  /** 1: it runs the learning controller. */
  readonly leads: 0 | 1;
}

/** The most workers that a store lists: those that hold the most slots. */
export const MOST_TOLD = 32;
