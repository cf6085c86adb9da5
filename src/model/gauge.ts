import type { Mode } from './feedback.ts';
import type { GateKind } from './outcome.ts';

/** The OpenTelemetry definition of a policy's gauge. */
export interface PolicyMetric {
  readonly name: string;
  /** The unit in UCUM notation. */
  readonly unit: string;
  readonly meaning: string;
  /** The attribute that distinguishes its series. Default: it has one series. */
  readonly by?: 'limit' | 'mode' | 'source' | 'state';
  /** How the values of several instances of one name are combined. Default `sum`. */
  readonly together?: 'sum' | 'greatest';
}

/** The value of a gauge, or its values by the attribute that distinguishes its series. */
export type GaugeValue = number | Readonly<Record<string, number>>;

/** The state of a set of gates in plain numbers, for gauges. A policy that is off has no gauges. */
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
  /** The values of the policies that are on, by the keys of their gauges. */
  readonly gauges?: Readonly<Record<string, GaugeValue>> | undefined;
  /** Values of limits that all gates of this name share. They bound the sums of the gates' own. */
  readonly shared?: Readonly<Record<string, GaugeValue>> | undefined;
  /** How many requests have ended, and how many there will be. */
  readonly progress?:
    | { readonly completed: number; readonly total: number | undefined }
    | undefined;
}
