import { type LimiterRuntime, runtimeOf } from '../limiter/limiter-runtime.ts';
import { AdaptiveRatePolicy, type AdaptiveRateSnapshot } from '../policies/adaptive-rate-policy.ts';
import type { BackoffSnapshot } from '../policies/backoff.ts';
import type { CircuitSnapshot } from '../policies/circuit-types.ts';
import type { CostBudgetSnapshot } from '../policies/cost-budget.ts';
import type { RateLimitUsage } from '../policies/rate-limit/limit-set.ts';
import type { RequestGate } from '../request/request-gate.ts';
import { isPaused } from './controls.ts';
import type { Gate } from './wire.ts';

/** The state of a gate at one moment, with the figures of `snapshot()`. Times in ms. */
export interface GateState {
  readonly runtime: LimiterRuntime | undefined;
  readonly gate: RequestGate;
  readonly lifecycle: 'running' | 'paused' | 'draining' | 'closed';
  /** The reason that `pause` was given, if there was one. */
  readonly pauseReason: string | undefined;
  readonly waiting: number;
  readonly waitingBy: Readonly<Partial<Record<Gate, number>>>;
  readonly longestWaitMs: number;
  readonly nextInMs: number | undefined;
  readonly binding: Gate | undefined;
  /** The named limit for which the first waiting request waits, if there is one. */
  readonly bindingLimit: string | undefined;
  /** Whether the first waiting request waits for a limit that all keys of its group share. */
  readonly isSharedBinding: boolean;
  readonly inFlight: number;
  /** Of these, slots of requests that do not wait to be sent again. */
  readonly running: number;
  /** The present limit of slots, which is lower in throttled mode. */
  readonly limit: number;
  /** Whether throttled mode lowers the limit of slots. */
  readonly hasThrottledSlots: boolean;
  readonly maxLimit: number;
  readonly bytes: { readonly used: number; readonly limit: number };
  readonly backoff: BackoffSnapshot;
  /** The time until throttled mode ends, if no other rejection comes; 0: it is off. */
  readonly throttledForMs: number;
  readonly circuit: CircuitSnapshot | undefined;
  readonly limits: Readonly<Record<string, RateLimitUsage>> | undefined;
  readonly costs: CostBudgetSnapshot | undefined;
  readonly intervalMs: number | undefined;
  /** The state of an adaptive rate. */
  readonly rate: AdaptiveRateSnapshot | undefined;
}

/** Reads the state of a gate. It starts no measurement. */
export function stateOf(gate: RequestGate, now: number): GateState {
  const { slots, bytes, feedback, policies } = gate;
  const { circuitBreaker, rateLimit, costBudget, pace, adaptive } = policies;
  const runtime = runtimeOf(gate);
  const { waiting, longestWaitMs, nextInMs } = gate.queueSnapshot(now);
  const backoff = feedback.gate.policy.snapshot(now);
  // A closed backoff stops an adaptive rate too: the backoff is shown as the cause.
  const isShut = backoff.state === 'closed' || backoff.suspended !== undefined;
  const causeOf = (kind: Gate): Gate => (kind === 'pace' && isShut ? 'backoff' : kind);
  const waitingBy: Partial<Record<Gate, number>> = {};
  let retrying = 0;
  for (const [index, [kind, requests]] of gate.gate.waitingByKind.entries()) {
    if (index > 0) retrying += requests;
    const cause = causeOf(kind);
    if (requests > 0) waitingBy[cause] = (waitingBy[cause] ?? 0) + requests;
  }
  const { inFlight, throttledLimit } = slots;
  const hasThrottledSlots = slots.mode.throttledUntil > now && throttledLimit < slots.limit;
  const limit = hasThrottledSlots ? throttledLimit : slots.limit;
  const binding = waiting > 0 ? causeOf(gate.gate.waitKind) : undefined;
  return {
    runtime,
    gate,
    lifecycle: lifecycleOf(gate, runtime),
    pauseReason: runtime?.lifecycle.pauseReason,
    waiting,
    waitingBy,
    longestWaitMs,
    nextInMs,
    binding,
    bindingLimit: binding === 'rateLimit' ? gate.gate.policy.bindingLimit : undefined,
    isSharedBinding: binding !== undefined && gate.gate.policy.isShared === true,
    inFlight,
    running: Math.max(0, inFlight - retrying),
    limit,
    hasThrottledSlots,
    maxLimit: slots.maxLimit,
    bytes: { used: bytes.used, limit: bytes.maxBytes },
    backoff,
    throttledForMs: Math.max(0, feedback.gate.policy.throttledUntil - now),
    circuit: circuitBreaker?.snapshot(now),
    limits: rateLimit?.snapshot(now),
    costs: costBudget?.snapshot(now),
    intervalMs: pace?.interval.ms,
    rate: adaptive instanceof AdaptiveRatePolicy ? adaptive.snapshot(now) : undefined,
  };
}

function lifecycleOf(
  gate: RequestGate,
  runtime: LimiterRuntime | undefined,
): GateState['lifecycle'] {
  const state = runtime?.lifecycle.state;
  if (state === 'closed' || state === 'draining') return state;
  return isPaused(gate) ? 'paused' : 'running';
}

/** The length of the window of a named limit, in ms. */
export function windowOf({ gate }: GateState, name: string, limit: number): number | undefined {
  const perSecond = gate.policies.rateLimit?.limits.perSecond(name);
  return perSecond === undefined ? undefined : Math.round((limit / perSecond) * 1_000);
}

/** Whether the provider has turned a request away lately. */
export function isThrottled({ backoff, rate }: GateState): boolean {
  return backoff.mode === 'throttled' || (rate?.sinceCutMs ?? Number.POSITIVE_INFINITY) < 10_000;
}
