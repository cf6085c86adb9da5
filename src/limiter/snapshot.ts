import { CoolingCore } from '../core/cooling-core.ts';
import { snapshotsOf } from '../core/policies.ts';
import type { PolicySnapshots } from '../core/registry.ts';
import type { Mode } from '../model/feedback.ts';
import type { GateKind } from '../model/outcome.ts';
import type { GateSnapshot } from '../queue/gate-rules.ts';
import type { RequestGate } from '../request/request-gate.ts';
import type { Counts, LimiterProgress, RequestCounters } from './request-counters.ts';

/**
 * - `paused`: nothing is sent until `resume`;
 * - `circuitOpen`: the circuit breaker lets nothing pass;
 * - `cooling`: the adaptive limit is on its way back up;
 * - `draining`: closed, and requests that came before have not ended yet;
 * - `closed`: and they have.
 */
export type LimiterState = 'running' | 'cooling' | 'circuitOpen' | 'paused' | 'draining' | 'closed';

/** Why nothing is sent, and for how long that has been so. */
export interface PauseSnapshot {
  /** What `pause` was told. */
  readonly reason: string | undefined;
  readonly pausedMs: number;
}

/** The state of a limiter at one moment. Times in ms; what is not on, or not known, is undefined. */
export interface LimiterSnapshot extends PolicySnapshots {
  readonly state: LimiterState;
  readonly mode: Mode;
  /** Undefined: it is not paused. */
  readonly paused: PauseSnapshot | undefined;
  /** What the most urgent of those that wait waits for; undefined: nobody waits. */
  readonly binding: GateKind | undefined;
  /** Requests that wait, those too that are to be sent again. */
  readonly waiting: number;
  /** Requests that have ended, by how they did. */
  readonly ended: Counts;
  /** Requests that found the queue full, or were given up for others. */
  readonly dropped: number;
  readonly progress: LimiterProgress;
  /** The highest that the concurrency limit may be; the limit itself is `concurrency.limit`. */
  readonly maxConcurrency: number;
  /** What the adaptive limit grows to for now. */
  readonly safeCeiling: number;
  /** Failures that count for the adaptive limit now. */
  readonly failures: number;
  /** Between two dispatches now, without jitter; 0 without a pace. */
  readonly intervalMs: number;
  /** Of the limit that is named `tokens`. */
  readonly tokensUsed: number | undefined;
  readonly tokensRemaining: number | undefined;
  /** All wait in one queue. It is shown here where it is a slot that its head waits for, ... */
  readonly concurrency: GateSnapshot & PolicySnapshots['concurrency'];
  /** ... or bytes, ... */
  readonly byteBudget: GateSnapshot & PolicySnapshots['byteBudget'];
  /** ... or anything else: `waitsFor`. */
  readonly backoff: GateSnapshot & PolicySnapshots['backoff'] & { readonly waitsFor: GateKind };
}

/** What is known of a limiter beside its gate. */
interface Known {
  readonly gate: RequestGate;
  readonly counters: RequestCounters;
  readonly maxConcurrency: number;
  readonly state: LimiterState;
  readonly paused: PauseSnapshot | undefined;
  readonly now: number;
}

const NO_QUEUE: GateSnapshot = { waiting: 0, longestWaitMs: 0, nextInMs: undefined };

export function snapshotOf(known: Known): LimiterSnapshot {
  const { counters, maxConcurrency, state, paused, now } = known;
  const { gate, feedback, policies, queues } = known.gate;
  const { pace, adaptive } = policies;
  const shown = snapshotsOf(policies, now);
  const { waiting, longestWaitMs, nextInMs } = gate.snapshot();
  const queue = { waiting, longestWaitMs, nextInMs };
  const { waitKind } = gate;
  const isHold = waitKind === 'concurrency' || waitKind === 'byteBudget';
  const cooling = adaptive instanceof CoolingCore ? adaptive.snapshot(now) : undefined;
  const limits = shown.rateLimit;
  return {
    ...shown,
    state,
    mode: feedback.mode,
    paused,
    binding: bindingOf(known.gate),
    waiting,
    ended: counters.counts,
    dropped: queues.capacity.dropped,
    progress: counters.progress(),
    maxConcurrency,
    safeCeiling: cooling?.ceiling ?? maxConcurrency,
    failures: cooling?.failures ?? 0,
    intervalMs: pace?.interval.ms ?? 0,
    tokensUsed: limits?.tokens?.used,
    tokensRemaining: limits?.tokens?.available,
    concurrency: { ...(waitKind === 'concurrency' ? queue : NO_QUEUE), ...shown.concurrency },
    byteBudget: { ...(waitKind === 'byteBudget' ? queue : NO_QUEUE), ...shown.byteBudget },
    backoff: {
      ...shown.backoff,
      ...(isHold ? NO_QUEUE : queue),
      waitsFor: isHold ? 'backoff' : waitKind,
    },
  };
}

/** What the head of the queue waits for. */
export function bindingOf({ gate }: RequestGate): GateKind | undefined {
  return gate.waiting > 0 ? gate.waitKind : undefined;
}
