import type { Subscriber } from 'rxjs';
import { EstimatorError } from '../model/errors.ts';
import type { Outcome, RequestStats } from '../model/outcome.ts';
import { isSized, type Sized } from '../model/sized.ts';
import type { Slot } from '../request/in-order.ts';
import { type RequestPipeline, ResultSubscriber } from '../request/result-subscriber.ts';
import type { ResultOptions } from '../request/send-options.ts';
import { StreamRequests } from '../request/stream-requests.ts';

/** The requests of a stream with the same key. */
interface KeyedRequests<T> {
  readonly requests: StreamRequests<T>;
  /** Requests that arrived and were not sent yet. */
  pending: number;
}

/** The history of a request that reached no gate. */
const UNSENT: RequestStats = { waits: {}, attempts: 0, bytes: 0, tokens: 0, durationMs: 0 };

/** Takes each request of a stream to the gate of its key's limiter, and then to the API. */
export class KeyRouter<T, R, L extends object> extends ResultSubscriber<T, R> {
  private readonly limiterOf: (input: T | Sized<T>) => L;
  private readonly pipelineOf: (limiter: L) => RequestPipeline<T, R>;
  /** The requests by limiter. A group drops the limiters of idle keys. */
  private readonly byLimiter = new WeakMap<L, KeyedRequests<T>>();
  /** The keys with pending requests. */
  private readonly active = new Set<KeyedRequests<T>>();
  /** The places of requests in the order of results, by index, if results are ordered. */
  private readonly slots = new Map<number, Slot<R | Outcome<T, R>>>();
  private arrivals = 0;

  /** @param limiterOf its error fails the request, or without `outcomes` the stream */
  constructor(
    out: Subscriber<R | Outcome<T, R>>,
    limiterOf: (input: T | Sized<T>) => L,
    pipelineOf: (limiter: L) => RequestPipeline<T, R>,
    options: ResultOptions,
  ) {
    super(out, options);
    this.limiterOf = limiterOf;
    this.pipelineOf = pipelineOf;
    this.closeWithDownstream();
  }

  protected override _next(input: T | Sized<T>): void {
    const index = this.arrivals;
    this.arrivals += 1;
    // Counted first: functions of the user may complete the source before the key is known.
    this.pending += 1;
    let keyed: KeyedRequests<T>;
    try {
      keyed = this.requestsOf(this.limiterOf(input));
    } catch (error) {
      const failure = error instanceof EstimatorError ? error.at(index) : error;
      this.failUnsent(isSized(input) ? input.value : input, failure);
      return;
    }
    // They may also have unsubscribed: then nothing would take the request out of the queue.
    if (this.gone) return;
    const slot = this.reserve();
    if (slot !== undefined) this.slots.set(index, slot);
    if (keyed.pending === 0) this.active.add(keyed);
    keyed.pending += 1;
    keyed.requests.bring(input, index);
  }

  /** No limiter takes the request: the error becomes its outcome, or the error of the stream. */
  private failUnsent(request: T, error: unknown): void {
    if (!this.outcomes) {
      this.fail(error);
      return;
    }
    const slot = this.reserve();
    const outcome = { status: 'failed', error, request, stats: UNSENT } as const;
    this.emit({ slot, carry: undefined }, outcome);
    if (slot !== undefined) this.order?.close(slot);
    this.pending -= 1;
    // The source may have completed meanwhile.
    this.completeIfDone();
  }

  private requestsOf(limiter: L): KeyedRequests<T> {
    const known = this.byLimiter.get(limiter);
    if (known !== undefined) return known;
    const { gate, factory, dispatch } = this.pipelineOf(limiter);
    const requests = new StreamRequests<T>(gate, factory, {
      admitted: (ticket) => {
        const slot = this.slots.get(ticket.index);
        this.slots.delete(ticket.index);
        try {
          this.send(ticket, dispatch, slot);
        } finally {
          this.pending -= 1;
          keyed.pending -= 1;
          if (keyed.pending === 0) this.active.delete(keyed);
        }
        this.completeIfDone();
      },
      inputFailed: (error) => this.fail(error),
    });
    const keyed: KeyedRequests<T> = { requests, pending: 0 };
    this.byLimiter.set(limiter, keyed);
    return keyed;
  }

  protected override leaveGates(): void {
    for (const { requests } of this.active) requests.close();
  }
}
