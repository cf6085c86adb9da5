import { Subscriber } from 'rxjs';
import type { Outcome } from '../model/outcome.ts';
import type { Sized } from '../model/sized.ts';
import type { RequestPipeline, ResultSubscriber } from '../request/dispatch-subscriber.ts';
import type { Slot } from '../request/in-order.ts';
import { StreamRequests } from '../request/stream-requests.ts';

/** The requests of a stream with the same key. */
interface KeyedRequests<T> {
  readonly requests: StreamRequests<T>;
  /** Requests that arrived and were not sent yet. */
  pending: number;
}

/** Takes each request of a stream to the gate of its key, and then to the API. */
export class KeyRouter<T, R> extends Subscriber<T | Sized<T>> {
  private readonly out: Subscriber<unknown>;
  private readonly results: ResultSubscriber<T, R>;
  private readonly pipelineOf: (input: T | Sized<T>) => RequestPipeline<T, R>;
  /** By pipeline. A group drops the pipelines of idle keys. */
  private readonly byKey = new WeakMap<RequestPipeline<T, R>, KeyedRequests<T>>();
  /** The keys with pending requests. */
  private readonly active = new Set<KeyedRequests<T>>();
  /** The places of requests in the order of results, by index, if results are ordered. */
  private readonly slots = new Map<number, Slot<R | Outcome<T, R>>>();
  private arrivals = 0;
  private sourceDone = false;

  /** @param pipelineOf its error errors the stream */
  constructor(
    out: Subscriber<unknown>,
    results: ResultSubscriber<T, R>,
    pipelineOf: (input: T | Sized<T>) => RequestPipeline<T, R>,
  ) {
    super(results);
    this.out = out;
    this.results = results;
    this.pipelineOf = pipelineOf;
    out.add(() => this.close());
  }

  protected override _next(input: T | Sized<T>): void {
    let keyed: KeyedRequests<T>;
    try {
      keyed = this.requestsOf(this.pipelineOf(input));
    } catch (error) {
      this.out.error(error);
      return;
    }
    const index = this.arrivals;
    this.arrivals += 1;
    const slot = this.results.reserve();
    if (slot !== undefined) this.slots.set(index, slot);
    if (keyed.pending === 0) this.active.add(keyed);
    keyed.pending += 1;
    keyed.requests.bring(input, index);
  }

  protected override _error(error: unknown): void {
    this.out.error(error);
  }

  protected override _complete(): void {
    this.sourceDone = true;
    try {
      this.completeIfDone();
    } finally {
      this.unsubscribe();
    }
  }

  private requestsOf(pipeline: RequestPipeline<T, R>): KeyedRequests<T> {
    const known = this.byKey.get(pipeline);
    if (known !== undefined) return known;
    const requests = new StreamRequests<T>(pipeline.gate, pipeline.factory, {
      admitted: (ticket) => {
        const slot = this.slots.get(ticket.index);
        this.slots.delete(ticket.index);
        try {
          this.results.send(ticket, pipeline.dispatch, slot);
        } finally {
          keyed.pending -= 1;
          if (keyed.pending === 0) this.active.delete(keyed);
        }
        this.completeIfDone();
      },
      failed: (error) => this.out.error(error),
    });
    const keyed: KeyedRequests<T> = { requests, pending: 0 };
    this.byKey.set(pipeline, keyed);
    return keyed;
  }

  private completeIfDone(): void {
    if (this.sourceDone && this.active.size === 0) this.results.complete();
  }

  private close(): void {
    for (const { requests } of this.active) requests.close();
    this.active.clear();
  }
}
