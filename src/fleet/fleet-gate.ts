import type { GaugeValue } from '../model/gauge.ts';
import type { BackoffChange } from '../model/instrumentation.ts';
import type { Policies } from '../policies/policies.ts';
import type { Policy } from '../policies/policy.ts';
import type { RateLimitPolicy } from '../policies/rate-limit-policy.ts';
import type { Clock } from '../util/clock.ts';
import type { FleetSnapshot } from './fleet-hooks.ts';
import type { WorkerShare } from './protocol.ts';
import type { OnStoreLoss } from './store-settings.ts';

/** The gate of a limiter or a stream, as far as its fleet needs it. */
export interface FleetGate {
  readonly name: string | undefined;
  /** That of a limiter of a group. */
  readonly key?: string | undefined;
  readonly gate: { readonly waiting: number; drain(): void };
  readonly slots: { readonly maxLimit: number };
  readonly bytes: { readonly maxBytes: number };
  readonly policies: Pick<Policies, 'rateLimit' | 'circuitBreaker'>;
  readonly feedback: FleetFeedback;
}

/** What the gate knows of its provider. */
export interface FleetFeedback {
  readonly clock: Clock;
  readonly gate: { readonly policy: { readonly until: number; readonly throttledUntil: number } };
  readonly provider: {
    readonly users: {
      /** @returns ends it */
      watch(listener: {
        backoff(waitMs: number, source: string, change: BackoffChange): void;
        modeBegan(): void;
      }): () => void;
    };
    /** Another worker was asked to slow down. */
    heard(closedMs: number, throttledMs: number): void;
    /** Whether a sender finds that the provider lets nothing in. */
    setOutage(sender: object, isOut: boolean): void;
  };
}

/** Limits that are kept in a store, for several workers. */
export interface RemoteLimits {
  /** Called before anything waits. */
  begin(gate: FleetGate): void;
  /** What adapts in this process, before anything is sent. */
  adapts(adaptive: Policies['adaptive']): void;
  /** A policy that stands for them and for the rate limits of this worker. */
  policyOf(own: RateLimitPolicy | undefined): Policy;
  /** The limits of this worker were changed. */
  configured(): void;
  snapshot(): FleetSnapshot | undefined;
  /** The same as gauges, by the keys of their metrics. */
  gauges(): Readonly<Record<string, GaugeValue>>;
  /** What this worker does while the store is away. */
  readonly onStoreLoss: OnStoreLoss;
  /** Who works on the key; undefined: the store does not tell. Rejects where it is away. */
  workers(): Promise<readonly WorkerShare[] | undefined>;
  close(): void;
}
