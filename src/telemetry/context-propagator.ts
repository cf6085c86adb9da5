import { type Context, ROOT_CONTEXT } from '@opentelemetry/api';
import type { ClosedChunk, Instrumentation } from '../model/instrumentation.ts';
import type { ChunkReason } from '../model/sized.ts';
import { activeContext, runIn } from './contexts.ts';

/**
 * Restores the context in which a request arrived when it is sent, and when its result is emitted.
 * Keeps nothing for requests without a context.
 */
export class ContextPropagator implements Instrumentation {
  readonly #contexts = new WeakMap<object, Context>();

  /** Without a context nothing is remembered. */
  needsArrival(): boolean {
    return activeContext() !== ROOT_CONTEXT;
  }

  arrived(subject: object): void {
    this.remember(subject, activeContext());
  }

  around(): Context {
    return activeContext();
  }

  chunkClosed(_items: number, _bytes: number, _reason: ChunkReason, closed?: ClosedChunk): void {
    const [first] = closed?.arounds ?? [];
    if (closed !== undefined && first !== undefined) {
      this.remember(closed.chunk, first as Context);
    }
  }

  sending(subject: object, send: () => void): void {
    runIn(this.of(subject), send);
  }

  delivering(subject: object, deliver: () => void): void {
    runIn(this.of(subject), deliver);
  }

  remember(subject: object, around: Context): void {
    if (around !== ROOT_CONTEXT) this.#contexts.set(subject, around);
  }

  of(subject: object): Context {
    return this.#contexts.get(subject) ?? ROOT_CONTEXT;
  }
}
