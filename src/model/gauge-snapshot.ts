import type { Mode } from './feedback.ts';
import type { GateKind } from './outcome.ts';

/** The source of a rate limit: configured, reported by headers, or learned. */
export type RateSource = 'limit' | 'headers' | 'learned';

/** The state of a set of gates in plain numbers, for gauges. A policy that is off has no field. */
export interface GaugeSnapshot {
  /**
   * How many requests wait in each queue, by the cause of its head's wait. A cause may occur twice.
   */
  readonly waiting: readonly (readonly [gate: GateKind, requests: number])[];
  /** Whether attempts are made here. */
  readonly isSending?: boolean | undefined;
  readonly mode?: Mode | undefined;
  /** Whether the user has paused the limiter. */
  readonly isPaused?: boolean | undefined;
  /** Whether the backoff is in force. */
  readonly isBackingOff?: boolean | undefined;
  /** The present limit on concurrent requests, and the limit in throttled mode. */
  readonly slots?:
    | { readonly limit: number; readonly throttledLimit?: number | undefined }
    | undefined;
  /** Bytes in flight, and the number from which on requests wait. */
  readonly bytes?: { readonly used: number; readonly limit: number } | undefined;
  /** Rate limits by name, each in its own unit. */
  readonly limits?:
    | Readonly<Record<string, { readonly used: number; readonly limit: number }>>
    | undefined;
  readonly circuit?: 'closed' | 'open' | 'half-open' | undefined;
  /** Between two dispatches, in ms. */
  readonly intervalMs?: number | undefined;
  /** Requests a second that may be sent. */
  readonly rates?: Readonly<Partial<Record<RateSource, number>>> | undefined;
  /** The adaptive rate's last measurement of what the provider accepts, in requests per second. */
  readonly rateCeiling?: number | undefined;
  /** Whether the provider rejects everything, so that the adaptive rate sends single probes. */
  readonly isOut?: boolean | undefined;
  /** Of policies that describe their gauges, by the keys of these. */
  readonly gauges?: Readonly<Record<string, number>> | undefined;
  /** How many requests have ended, and how many there will be. */
  readonly progress?:
    | { readonly completed: number; readonly total: number | undefined }
    | undefined;
}
