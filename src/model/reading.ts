import type { Mode } from './feedback.ts';
import type { GateKind } from './outcome.ts';

/** Where a rate at which requests may be sent comes from. */
export type RateSource = 'limit' | 'headers' | 'learned';

/** The state of a set of gates in plain numbers, for gauges. What is not on, or not known, is missing. */
export interface Reading {
  /** How many requests wait, by what the first of them waits for. A kind may occur twice. */
  readonly waiting: readonly (readonly [gate: GateKind, requests: number])[];
  /** Whether attempts are made here. */
  readonly isSending?: boolean | undefined;
  readonly mode?: Mode | undefined;
  /** Whether nothing is sent, since the user has paused the limiter. */
  readonly isPaused?: boolean | undefined;
  /** Whether nothing is sent, since the provider has asked for it. */
  readonly isBackingOff?: boolean | undefined;
  /** Requests: the limit now, and the one for those admitted in throttled mode. */
  readonly slots?:
    | { readonly limit: number; readonly throttledLimit?: number | undefined }
    | undefined;
  /** Bytes in flight, and how many may be before requests wait. */
  readonly bytes?: { readonly used: number; readonly limit: number } | undefined;
  /** By name, in the unit of each. */
  readonly limits?:
    | Readonly<Record<string, { readonly used: number; readonly limit: number }>>
    | undefined;
  readonly circuit?: 'closed' | 'open' | 'half-open' | undefined;
  /** Between two dispatches, in ms. */
  readonly intervalMs?: number | undefined;
  /** Requests a second that may be sent. */
  readonly rates?: Readonly<Partial<Record<RateSource, number>>> | undefined;
  /** Of a rate that adapts: what the provider accepted at the last congestion, requests a second; missing before the first. */
  readonly rateCeiling?: number | undefined;
  /** Of a rate that adapts: whether the provider lets nothing in, and single probes go. */
  readonly isOut?: boolean | undefined;
  /** Of policies that describe their gauges, by the keys of these. */
  readonly gauges?: Readonly<Record<string, number>> | undefined;
  /** Requests that have ended, and how many there will be. */
  readonly progress?:
    | { readonly completed: number; readonly total: number | undefined }
    | undefined;
}
