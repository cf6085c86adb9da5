import type { FleetSnapshot } from '../fleet/fleet-hooks.ts';
import type { Mode } from '../model/feedback.ts';
import type { GateKind } from '../model/outcome.ts';
import { AimdPolicy } from '../policies/aimd-policy.ts';
import type { SuspensionSnapshot } from '../policies/backoff.ts';
import type { OutageSnapshot } from '../policies/outage.ts';
import { snapshotsOf } from '../policies/policies.ts';
import type { PolicySnapshots } from '../policies/registry.ts';
import type { GateSnapshot } from '../queue/gate-rules.ts';
import type { RequestGate } from '../request/request-gate.ts';
import type { Counts, LimiterProgress, RequestCounters } from './request-counters.ts';
import type { SharedSnapshot } from './shared-limits.ts';

/**
 * - `paused`: nothing is sent until `resume`;
 * - `circuitOpen`: the circuit breaker lets nothing pass;
 * - `cooling`: the adaptive limit was lowered and is rising again;
 * - `draining`: closed, and earlier requests have not ended yet;
 * - `closed`: closed, and all requests have ended.
 */
export type LimiterState = 'running' | 'cooling' | 'circuitOpen' | 'paused' | 'draining' | 'closed';

/** Why nothing is sent, and for how long that has been so. */
export interface PauseSnapshot {
  /** The reason that `pause` was given. */
  readonly reason: string | undefined;
  readonly pausedMs: number;
}

/**
 * The state of a limiter at one moment. Times in ms. A policy that is off, or an unknown value, is
 * undefined.
 */
export interface LimiterSnapshot extends PolicySnapshots {
  /** Whether the limiter sends requests, and if not, why. */
  readonly state: LimiterState;
  /** How the provider is seen now. */
  readonly mode: Mode;
  /** Undefined if it is not paused. */
  readonly paused: PauseSnapshot | undefined;
  /**
   * Why the provider takes no requests for long, and whether they fail or wait; undefined: it takes
   * requests.
   */
  readonly suspended: SuspensionSnapshot | undefined;
  /** Since when the provider cannot be reached; undefined: it can. */
  readonly outage: OutageSnapshot | undefined;
  /** The cause of the wait of the most urgent request; undefined if none waits. */
  readonly binding: GateKind | undefined;
  /**
   * The time in ms until the gate decides again on the next request: its limit then admits it, or
   * the next probe of an outage is sent. While the adaptive rate holds the request back, the time
   * until that rate would admit it; the rate may change before. Undefined if no request waits, or
   * if only the end of another request helps.
   */
  readonly nextInMs: number | undefined;
  /** Waiting requests, retries too. */
  readonly waiting: number;
  /** Ended requests by outcome. */
  readonly ended: Counts;
  /** Requests that found the queue full, or were given up for newcomers. */
  readonly dropped: number;
  /** The progress of all requests. */
  readonly progress: LimiterProgress;
  /** The upper bound of the concurrency limit; the present limit is `concurrency.limit`. */
  readonly maxConcurrency: number;
  /** The present ceiling of the adaptive limit. */
  readonly safeCeiling: number;
  /** The failures that count for the adaptive limit at present. */
  readonly failures: number;
  /** The present interval between two dispatches, without jitter; 0 without a pace. */
  readonly intervalMs: number;
  /** The used amount of the limit with the name `tokens`; undefined: there is no such limit. */
  readonly tokensUsed: number | undefined;
  /** The amount of that limit that a request sent now may use. */
  readonly tokensRemaining: number | undefined;
  /** Its state among the workers of its key; undefined without `shared`. */
  readonly fleet: FleetSnapshot | undefined;
  /** The concurrency limit, and the one queue of the gate while its head waits for a slot. */
  readonly concurrency: GateSnapshot & PolicySnapshots['concurrency'];
  /** The byte budget, and that queue while its head waits for bytes. */
  readonly byteBudget: GateSnapshot & PolicySnapshots['byteBudget'];
  /** The backoff, and that queue while its head waits for anything else: see `waitsFor`. */
  readonly backoff: GateSnapshot & PolicySnapshots['backoff'] & { readonly waitsFor: GateKind };
}

/** The state of a group at one moment. */
export interface GroupSnapshot {
  readonly shared: SharedSnapshot | undefined;
  /** The state of this process among those that share these limits; undefined if it shares none. */
  readonly fleet: FleetSnapshot | undefined;
  /** By key. */
  readonly keys: Readonly<Record<string, LimiterSnapshot>>;
}

/** The parts of a snapshot that do not come from the gate. */
interface Known {
  readonly gate: RequestGate;
  readonly counters: RequestCounters;
  readonly state: LimiterState;
  readonly paused: PauseSnapshot | undefined;
  readonly fleet: FleetSnapshot | undefined;
  readonly now: number;
}

const NO_QUEUE: GateSnapshot = { waiting: 0, longestWaitMs: 0, nextInMs: undefined };

export function snapshotOf(known: Known): LimiterSnapshot {
  const { counters, state, paused, now } = known;
  const { gate, feedback, policies, queues, slots } = known.gate;
  const { pace, adaptive } = policies;
  const shown = snapshotsOf(policies, now);
  const queue = known.gate.queueSnapshot(now);
  const { waiting, nextInMs } = queue;
  const { waitKind } = gate;
  const isHold = waitKind === 'concurrency' || waitKind === 'byteBudget';
  const cooling = adaptive instanceof AimdPolicy ? adaptive.snapshot(now) : undefined;
  const limits = shown.rateLimit;
  return {
    state,
    mode: feedback.mode,
    paused,
    suspended: shown.backoff.suspended,
    outage: shown.backoff.outage,
    binding: bindingOf(known.gate),
    nextInMs,
    waiting,
    ended: counters.counts,
    dropped: queues.capacity.dropped,
    progress: counters.progress(),
    maxConcurrency: slots.maxLimit,
    safeCeiling: cooling?.ceiling ?? slots.maxLimit,
    failures: cooling?.failures ?? 0,
    intervalMs: pace?.interval.ms ?? 0,
    tokensUsed: limits?.tokens?.used,
    tokensRemaining: limits?.tokens?.available,
    fleet: known.fleet,
    // The spread is not first: V8 takes three times as long if many properties follow a spread.
    ...shown,
    concurrency: { ...(waitKind === 'concurrency' ? queue : NO_QUEUE), ...shown.concurrency },
    byteBudget: { ...(waitKind === 'byteBudget' ? queue : NO_QUEUE), ...shown.byteBudget },
    backoff: {
      ...shown.backoff,
      ...(isHold ? NO_QUEUE : queue),
      waitsFor: isHold ? 'backoff' : waitKind,
    },
  };
}

/** The cause of the wait of the next request. */
export function bindingOf({ gate }: RequestGate): GateKind | undefined {
  return gate.waiting > 0 ? gate.nextWaitKind : undefined;
}
