import { runtimeOf } from '../limiter/limiter-runtime.ts';
import type { RequestGate } from '../request/request-gate.ts';

/** What `pause` is told, and events tell on. */
const REASON = 'paused in the inspector';

/** Streams have no `pause` of their own: those that were paused here. */
const streams = new WeakSet<RequestGate>();

export function isPaused(gate: RequestGate): boolean {
  return runtimeOf(gate)?.lifecycle.isPaused ?? streams.has(gate);
}

/** Nothing more is sent; what runs goes on. */
export function pause(gate: RequestGate): void {
  const runtime = runtimeOf(gate);
  if (runtime !== undefined) {
    runtime.lifecycle.pause(REASON);
    return;
  }
  streams.add(gate);
  gate.gate.pause();
}

export function resume(gate: RequestGate): void {
  const runtime = runtimeOf(gate);
  if (runtime !== undefined) {
    runtime.lifecycle.resume();
    return;
  }
  streams.delete(gate);
  gate.gate.resume();
}
