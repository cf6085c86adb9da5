import type { AdaptiveRateSnapshot } from '../core/adaptive-rate-core.ts';
import type { BackoffSnapshot } from '../core/backoff.ts';
import type { ByteBudgetSnapshot } from '../core/byte-budget.ts';
import type { CircuitSnapshot } from '../core/circuit-facts.ts';
import { CoolingCore } from '../core/cooling-core.ts';
import type { CoolingSnapshot } from '../core/cooling-facts.ts';
import type { GradientSnapshot } from '../core/gradient.ts';
import type { PaceSnapshot } from '../core/pace.ts';
import type { RateLimitUsage } from '../core/rate-limit/reservation.ts';
import type { SlotsSnapshot } from '../core/slots.ts';
import type { GateSnapshot } from '../gate/gate.ts';
import type { Mode } from '../model/feedback.ts';
import type { GateKind } from '../model/outcome.ts';
import type { Gates } from '../operators/gates.ts';
import type { Census, Counts, LimiterProgress } from './census.ts';

/**
 * - `circuitOpen`: the circuit breaker lets nothing pass;
 * - `cooling`: the adaptive limit is on its way back up;
 * - `draining`: closed, and requests that came before have not ended yet;
 * - `closed`: and they have.
 */
export type LimiterState = 'running' | 'cooling' | 'circuitOpen' | 'draining' | 'closed';

/** The state of a limiter at one moment. Times in ms; what is not on, or not known, is undefined. */
export interface LimiterSnapshot {
  readonly state: LimiterState;
  readonly mode: Mode;
  /** What those wait for that have got furthest; undefined: nobody waits. */
  readonly binding: GateKind | undefined;
  /** Requests that wait at all gates, those too that are to be sent again. */
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
  readonly concurrency: GateSnapshot & SlotsSnapshot;
  readonly byteBudget: GateSnapshot & ByteBudgetSnapshot;
  /** Of the gate that all attempts pass; `waitsFor`: what holds its head back. */
  readonly backoff: GateSnapshot & BackoffSnapshot & { readonly waitsFor: GateKind };
  readonly circuitBreaker: CircuitSnapshot | undefined;
  readonly rateLimit: Readonly<Record<string, RateLimitUsage>> | undefined;
  readonly pace: PaceSnapshot | undefined;
  readonly adaptive: CoolingSnapshot | GradientSnapshot | AdaptiveRateSnapshot | undefined;
}

/** Who knows more of a limiter than its gates do. */
interface Known {
  readonly gates: Gates;
  readonly census: Census;
  readonly maxConcurrency: number;
  readonly state: LimiterState;
  readonly now: number;
}

export function snapshotOf({ gates, census, maxConcurrency, state, now }: Known): LimiterSnapshot {
  const { attempt, feedback } = gates;
  const { circuitBreaker, rateLimit, pace, adaptive } = attempt.cores;
  const { waiting, longestWaitMs, nextInMs } = attempt.gate.snapshot();
  const cooling = adaptive instanceof CoolingCore ? adaptive.snapshot(now) : undefined;
  const limits = rateLimit?.snapshot(now);
  const queue = { waiting, longestWaitMs, nextInMs, waitsFor: attempt.gate.waitKind };
  return {
    state,
    mode: feedback.mode,
    binding: bindingOf(gates),
    waiting: waitingAt(gates),
    ended: census.counts,
    dropped: gates.queues.room.dropped,
    progress: census.progress(),
    maxConcurrency,
    safeCeiling: cooling?.ceiling ?? maxConcurrency,
    failures: cooling?.failures ?? 0,
    intervalMs: pace?.interval.ms ?? 0,
    tokensUsed: limits?.tokens?.used,
    tokensRemaining: limits?.tokens?.available,
    concurrency: gates.concurrency.snapshot(),
    byteBudget: gates.byteBudget.snapshot(),
    backoff: { ...feedback.gate.core.snapshot(now), ...queue },
    circuitBreaker: circuitBreaker?.snapshot(now),
    rateLimit: limits,
    pace: pace?.snapshot(now),
    adaptive: cooling ?? adaptive?.snapshot(now),
  };
}

export function waitingAt({ concurrency, byteBudget, attempt }: Gates): number {
  return concurrency.waiting + byteBudget.waiting + attempt.gate.waiting;
}

/** The last gate that has a queue: those before it wait because that one does. */
export function bindingOf({ concurrency, byteBudget, attempt }: Gates): GateKind | undefined {
  return [attempt.gate, byteBudget, concurrency].find(({ waiting }) => waiting > 0)?.waitKind;
}
