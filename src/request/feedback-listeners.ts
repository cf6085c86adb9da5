import type { GaugeSnapshot } from '../model/gauge-snapshot.ts';
import type { Instrumentation } from '../model/instrumentation.ts';
import { partsOf } from '../model/join-instrumentations.ts';
import type { Emit, PolicyEvent } from '../model/policy-events.ts';

/** An instrumentation that is shown the state. */
interface Shown {
  /** For how many. */
  times: number;
  readonly close: (() => void) | undefined;
}

/** Those that a feedback tells of backoffs, modes and outages, each once however often it registers. */
export class FeedbackListeners {
  /** Each with the number of its registrations. */
  readonly #instrumentations = new Map<Instrumentation, number>();
  readonly #shown = new Map<Instrumentation, Shown>();
  /** Told of the events of policies, beside the instrumentations. */
  readonly #emits = new Set<Emit>();
  readonly #snapshot: () => GaugeSnapshot;

  /** @param snapshot the state that instrumentations are shown */
  constructor(snapshot: () => GaugeSnapshot) {
    this.#snapshot = snapshot;
  }

  /** Tells this instrumentation until all its registrations end. @returns ends this one */
  watch(instrumentation: Instrumentation | undefined): () => void {
    if (instrumentation === undefined) return () => {};
    const parts = partsOf(instrumentation);
    for (const part of parts)
      this.#instrumentations.set(part, (this.#instrumentations.get(part) ?? 0) + 1);
    return () => {
      for (const part of parts) {
        const left = (this.#instrumentations.get(part) ?? 0) - 1;
        if (left > 0) this.#instrumentations.set(part, left);
        else this.#instrumentations.delete(part);
      }
    };
  }

  /** The same, and shows it the state. @returns ends both */
  show(instrumentation: Instrumentation): () => void {
    const unwatch = this.watch(instrumentation);
    const closers = partsOf(instrumentation).map((part) => this.#showTo(part));
    return () => {
      for (const close of closers) close();
      unwatch();
    };
  }

  #showTo(part: Instrumentation): () => void {
    let shown = this.#shown.get(part);
    if (shown === undefined) {
      shown = { times: 0, close: part.opened?.(() => this.#snapshot()) };
      this.#shown.set(part, shown);
    }
    shown.times += 1;
    const { close } = shown;
    return () => {
      const { times } = shown;
      shown.times = times - 1;
      if (times > 1) return;
      this.#shown.delete(part);
      close?.();
    };
  }

  /** @returns ends it */
  listen(emit: Emit): () => void {
    this.#emits.add(emit);
    return () => this.#emits.delete(emit);
  }

  emit(event: PolicyEvent): void {
    this.tell((instrumentation) => instrumentation.changed?.(event));
    for (const emit of [...this.#emits]) emit(event);
  }

  /** Calls a hook of each instrumentation. */
  tell(hook: (instrumentation: Instrumentation) => void): void {
    for (const instrumentation of this.#instrumentations.keys()) hook(instrumentation);
  }
}
