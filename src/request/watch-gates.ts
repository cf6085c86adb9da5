import type { Subscriber } from 'rxjs';
import type { GaugeSnapshot } from '../model/gauge-snapshot.ts';
import type { Instrumentation } from '../model/instrumentation.ts';
import { KINDS, measure, type Policies } from '../policies/policies.ts';
import type { Gate } from '../queue/gate.ts';
import type { ResolvedOptions } from './common-options.ts';
import type { RequestGate } from './request-gate.ts';

/** Is told of the gates of limiters and streams that come and go. Must not throw. */
export interface GateWatcher {
  opened(gate: RequestGate): void;
  closed(gate: RequestGate): void;
}

/** Fewer references are not worth a search for those whose gates were collected. */
const LEAST_SWEPT = 64;

/**
 * The gates of all limiters and streams of this process that are open. Those that were dropped
 * without `close()`, as a limiter may be, are not kept alive.
 */
class OpenGates {
  readonly #gates = new Map<number, WeakRef<RequestGate>>();
  readonly #watchers = new Set<GateWatcher>();
  #next = 1;
  #sweepAt = LEAST_SWEPT;

  /** @returns what takes it off again */
  add(gate: RequestGate): () => void {
    const id = this.#next;
    this.#next += 1;
    this.#gates.set(id, new WeakRef(gate));
    if (this.#gates.size > this.#sweepAt) this.#sweep();
    for (const watcher of this.#watchers) watcher.opened(gate);
    return () => {
      if (!this.#gates.delete(id)) return;
      for (const watcher of this.#watchers) watcher.closed(gate);
    };
  }

  /** Tells of all that are open, then of each change, until what is returned is called. */
  watch(watcher: GateWatcher): () => void {
    for (const reference of this.#gates.values()) {
      const gate = reference.deref();
      if (gate !== undefined) watcher.opened(gate);
    }
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** Each time their number has doubled: a constant cost for each gate. */
  #sweep(): void {
    for (const [id, reference] of this.#gates) {
      if (reference.deref() === undefined) this.#gates.delete(id);
    }
    this.#sweepAt = Math.max(LEAST_SWEPT, 2 * this.#gates.size);
  }
}

export const openGates = new OpenGates();

/** Every gate is told from the start: at 0, while nobody waits there. */
const NOBODY: GaugeSnapshot['waiting'] = ([...KINDS, 'retry', 'paused'] as const).map((kind) => [
  kind,
  0,
]);

/** The state of a gate for gauges. */
export function gaugeSnapshotOf({ gate, policies, feedback, fleet }: RequestGate): GaugeSnapshot {
  return {
    waiting: [...NOBODY, ...gate.waitingByKind],
    isSending: true,
    mode: feedback.mode,
    gauges: { ...measure(policies, feedback.clock.now()), ...fleet?.gauges() },
  };
}

/** Has a probe, and inspectors, watch a gate, until what is returned is called. */
export function watchGate(
  instrumentation: Instrumentation | undefined,
  gate: RequestGate,
  read: () => GaugeSnapshot = () => gaugeSnapshotOf(gate),
): () => void {
  const unlist = openGates.add(gate);
  if (instrumentation === undefined) return unlist;
  const unwatch = gate.feedback.provider.listeners.watch(instrumentation);
  const close = instrumentation.opened?.(read);
  return () => {
    close?.();
    unwatch();
    unlist();
  };
}

/**
 * Shows the state of an operator in gauges, and that of the feedback it was given, while `out` is
 * subscribed.
 */
export function watchOperator(
  out: Subscriber<never>,
  { instrumentation, feedback }: ResolvedOptions,
  read?: () => GaugeSnapshot,
): void {
  if (instrumentation === undefined) return;
  if (feedback !== undefined) out.add(feedback.provider.listeners.show(instrumentation));
  if (read !== undefined) out.add(instrumentation.opened?.(read));
}

/** Shows the gauges of the policies of an operator's gate, and who waits there. */
export function watchGateOf(
  out: Subscriber<never>,
  around: ResolvedOptions,
  gate: Gate,
  policies: Partial<Policies>,
): void {
  watchOperator(out, around, () => ({
    waiting: gate.waitingByKind,
    gauges: measure(policies, around.clock.now()),
  }));
}
