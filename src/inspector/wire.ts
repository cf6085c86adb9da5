/** The data that the inspector's server sends to its page. Both sides import these types. */
import { GATE_KINDS, type GateKind } from '../model/outcome.ts';

export type Gate = GateKind;

export const GATES: readonly Gate[] = GATE_KINDS;

/**
 * The condition of a limiter or stream.
 * - `held`: requests wait for a limit;
 * - `backoff`: nothing is sent until a time, after a rejection by the provider;
 * - `suspended`: nothing is sent for long, after an answer that concerns all requests;
 * - `throttled`: requests flow, slower than they could, after a rejection;
 * - `failing`: requests flow, and most calls fail;
 * - `outage`: the provider cannot be reached or rejects everything, and only probes are sent;
 * - `ended`: the stream is over, or the limiter is gone.
 */
export type Condition =
  | 'idle'
  | 'flowing'
  | 'held'
  | 'backoff'
  | 'suspended'
  | 'throttled'
  | 'failing'
  | 'outage'
  | 'circuitOpen'
  | 'paused'
  | 'draining'
  | 'closed'
  | 'ended';

/** One limiter or stream in the list of all. */
export interface GateSummary {
  readonly id: number;
  readonly name: string;
  readonly kind: 'limiter' | 'stream' | 'key';
  readonly condition: Condition;
  readonly waiting: number;
  readonly inFlight: number;
  /** Requests sent a second, over the last seconds. */
  readonly perSecond: number;
}

/** One policy of the gate, as a station that requests pass. */
export interface Station {
  readonly gate: Gate;
  readonly title: string;
  /** The state in a few words: `12 of 50`. */
  readonly text: string;
  /** The used part, from 0 to 1; undefined: the policy has no amount. */
  readonly fill: number | undefined;
  /** Whether the first waiting request waits for this policy. */
  readonly isBinding: boolean;
  /** The number of requests that wait for this policy. */
  readonly waiting: number;
  /** Whether nothing passes now: a circuit is open, or a backoff runs. */
  readonly isClosed: boolean;
}

/** One limit: configured, reported or learned. */
export interface LimitRow {
  readonly name: string;
  readonly source: 'set' | 'told' | 'learned' | 'shared';
  readonly unit: 'count' | 'bytes' | 'ms';
  readonly used: number | undefined;
  readonly limit: number;
  /** The length of its window, in ms. */
  readonly windowMs: number | undefined;
  /** The time until the whole limit is free again if nothing is sent, in ms. */
  readonly leftMs: number | undefined;
  /** How reliable the limit is, or why it applies; a sentence. */
  readonly note: string;
}

/** One worker of a key whose limits several processes share. */
export interface FleetRow {
  readonly name: string;
  /** Whether it is the worker that is shown. */
  readonly isThis: boolean;
  /** Whether it sends or waits. */
  readonly isActive: boolean;
  /** Requests and bytes in flight that it holds. */
  readonly slots: number;
  readonly bytes: number;
  /** Requests that it sends a second; undefined: it was not seen for long enough. */
  readonly perSecond: number | undefined;
  /** Whether it learns the rate for all workers. */
  readonly leads: boolean;
}

/** The workers that share the limits of one key through a store. */
export interface FleetView {
  /** What goes on, in a sentence. */
  readonly headline: string;
  readonly isAway: boolean;
  /** Slots of all workers together. */
  readonly slots: number;
  readonly rows: readonly FleetRow[];
  /** The number of workers that are not listed. */
  readonly more: number;
  /** How long the last call of the store took, in ms. */
  readonly latencyMs: number;
}

/** A setting that can be changed, with its present value. */
export interface Setting {
  readonly name: string;
  readonly label: string;
  readonly value: number;
}

/** Everything of one limiter or stream at one moment. */
export interface GateDetail extends GateSummary {
  readonly fullName: string;
  /** What goes on, in a sentence. */
  readonly headline: string;
  /** A second sentence, or an empty text. */
  readonly hint: string;
  /** The time until the state changes by itself, in ms, and below its label: `Next probe in`. */
  readonly leftMs: number | undefined;
  readonly leftLabel: string;
  /**
   * When its condition began, in milliseconds since 1970; undefined: just now, or before it was
   * followed.
   */
  readonly since: number | undefined;
  readonly binding: Gate | undefined;
  readonly mode: string;
  readonly limit: number;
  readonly maxLimit: number;
  readonly longestWaitMs: number;
  /** Requests in flight that do not wait to be sent again. */
  readonly running: number;
  readonly waitingBy: Readonly<Partial<Record<Gate, number>>>;
  readonly ended: {
    readonly ok: number;
    readonly failed: number;
    readonly rejected: number;
    readonly cancelled: number;
  };
  readonly dropped: number;
  readonly sent: number;
  /** The bytes of all sent attempts. */
  readonly bytesSent: number;
  readonly throttled: number;
  readonly bytes: { readonly used: number; readonly limit: number };
  readonly progress:
    | { readonly completed: number; readonly total: number; readonly etaMs: number | undefined }
    | undefined;
  readonly stations: readonly Station[];
  readonly limits: readonly LimitRow[];
  /** Undefined: nothing is shared. */
  readonly fleet: FleetView | undefined;
  /** Undefined if nothing can be changed. */
  readonly controls: Controls | undefined;
}

export interface Controls {
  readonly settings: readonly Setting[];
  readonly canPause: boolean;
  readonly isPaused: boolean;
  readonly canDrain: boolean;
}

/** Columns of a time line, in this order; the first is seconds since 1970. */
export const COLUMNS = [
  'time',
  'sent',
  'ok',
  'failed',
  'throttled',
  'rateSet',
  'rateTold',
  'rateLearned',
  'inFlight',
  'limit',
  'bytes',
  'tokens',
  ...GATES,
] as const;
export type Column = (typeof COLUMNS)[number];

/** One second: a number for each column; null: there was none. */
export type Point = readonly (number | null)[];

export interface Hello {
  readonly pid: number;
  readonly program: string;
  readonly node: string;
  /**
   * When the inspector was started, in ms since 1970. Each inspector numbers requests from the
   * start.
   */
  readonly startedAt: number;
  readonly canControl: boolean;
  readonly showsValues: boolean;
  readonly traceUrl: string | undefined;
}

/** Sent four times a second; once a second where nothing changes. */
export interface Frame {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** All followed limiters and streams; sent less often if there are many. */
  readonly gates?: readonly GateSummary[];
  /** The number of limiters and streams that are not followed. */
  readonly more?: number;
  /** The limiter or stream that the page asked for, or else the busiest one. */
  readonly detail?: GateDetail;
  /** All seconds known so far, sent once; then the last two. */
  readonly history?: readonly Point[];
  readonly points?: readonly Point[];
}
