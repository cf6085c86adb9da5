import {
  type Context,
  context,
  isSpanContextValid,
  type Link,
  type SpanContext,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { Chunk, ChunkReason } from '../model/chunk.ts';
import type { FeedbackKind, Mode } from '../model/feedback.ts';
import type { ClosedChunk, Instrumentation, WaitDetail } from '../model/instrumentation.ts';
import type { GateKind, SettleOutcome } from '../model/outcome.ts';
import type { PolicyEvent } from '../model/policy-events.ts';
import type { Ticket } from '../model/ticket.ts';
import { ATTRIBUTES } from './attributes.ts';
import { ContextPropagator } from './context-propagator.ts';
import { runIn } from './contexts.ts';
import { RequestSpan } from './request-span.ts';
import { adaptationOf, attributesOf, circuitOf, outageOf, suspensionOf } from './span-events.ts';
import { EVENT_NAMES, SPAN_NAMES } from './trace-names.ts';

/** How many links a span keeps (the default of the SDK). */
const MOST_LINKS = 128;

/**
 * Makes the spans of requests, and restores their contexts. For an untraced request it keeps only
 * the context.
 */
export class Tracing implements Instrumentation {
  readonly #tracer: Tracer;
  readonly #name: string;
  readonly #carrier = new ContextPropagator();
  /** The spans of requests that have not ended. */
  readonly #spans = new Map<Ticket, RequestSpan>();
  /** The mode in which those came that did not come in normal mode. */
  readonly #modes = new WeakMap<Ticket, Mode>();
  /** The request whose attempt has just ended: it caused the present changes. */
  #cause: RequestSpan | undefined = undefined;
  /** The request whose 429 has closed the backoff gate last, and its attempt; undefined: not traced. */
  #closedBy: readonly Link[] | undefined = undefined;

  constructor(tracer: Tracer, name: string) {
    this.#tracer = tracer;
    this.#name = name;
  }

  needsArrival(feedback?: { readonly mode: Mode }): boolean {
    const isNormal = feedback === undefined || feedback.mode === 'normal';
    return !isNormal || this.#carrier.needsArrival();
  }

  arrived(ticket: Ticket, feedback?: { readonly mode: Mode }): void {
    this.#carrier.arrived(ticket);
    if (feedback !== undefined && feedback.mode !== 'normal')
      this.#modes.set(ticket, feedback.mode);
  }

  admitted(
    ticket: Ticket,
    gate: GateKind,
    waitMs: number,
    rounds: number,
    detail?: WaitDetail,
  ): void {
    if (rounds === 0) return;
    const links = gate === 'backoff' ? this.#closedBy : undefined;
    this.#spanOf(ticket)?.waited(gate, waitMs, rounds, detail, links);
  }

  attemptStarted(ticket: Ticket, attempt: number): void {
    this.#cause = undefined;
    this.#spanOf(ticket)?.attemptStarted(attempt);
  }

  attemptEnded(ticket: Ticket, _attempt: number, kind: FeedbackKind, error?: unknown): void {
    const span = this.#spanOf(ticket);
    span?.attemptEnded(kind === 'ok' && error === undefined, error);
    this.#cause = span;
    // A request that goes on would never end its role as the cause.
    if (span !== undefined && kind !== 'ok') {
      queueMicrotask(() => {
        if (this.#cause === span) this.#cause = undefined;
      });
    }
  }

  backoff(waitMs: number, source: string): void {
    this.#closedBy = this.#cause?.links;
    this.#cause?.event(EVENT_NAMES.backoff, {
      [ATTRIBUTES.seconds]: waitMs / 1000,
      [ATTRIBUTES.source]: source,
    });
  }

  modeBegan(mode: Mode): void {
    this.#cause?.event(EVENT_NAMES.mode, { [ATTRIBUTES.mode]: mode });
  }

  changed(fact: PolicyEvent): void {
    if (this.#cause === undefined) return;
    const circuit = circuitOf(fact);
    if (circuit !== undefined) this.#cause.event(EVENT_NAMES.circuit, circuit);
    const adaptation = adaptationOf(fact);
    if (adaptation !== undefined) {
      this.#cause.event(EVENT_NAMES.adaptation, attributesOf(fact.kind, adaptation));
    }
    const outage = outageOf(fact);
    if (outage !== undefined) this.#cause.event(EVENT_NAMES.outage, outage);
    const suspension = suspensionOf(fact);
    if (suspension !== undefined) this.#cause.event(EVENT_NAMES.suspended, suspension);
  }

  settled(ticket: Ticket, outcome: SettleOutcome): void {
    const span = this.#spans.get(ticket) ?? this.#begin(ticket);
    this.#spans.delete(ticket);
    if (span?.isRecording) span.settled(outcome);
    if (this.#cause === span) this.#cause = undefined;
  }

  around(): Context {
    return context.active();
  }

  /** Its span is a child of the first traced item's span, and the parent of its request's span. */
  chunkClosed(items: number, bytes: number, reason: ChunkReason, closed?: ClosedChunk): void {
    if (closed === undefined) return;
    const arounds = closed.arounds as readonly Context[];
    const callers = arounds.map((around) => trace.getSpanContext(around));
    const index = callers.findIndex((caller) => !isUnsampled(caller));
    const parent = arounds[Math.max(0, index)] ?? context.active();
    if (index < 0 && arounds.length > 0) {
      this.#carrier.remember(closed.chunk, parent);
      return;
    }
    const endTime = Date.now();
    const options = {
      startTime: endTime - closed.openMs,
      links: linksTo(callers),
      attributes: {
        [ATTRIBUTES.name]: this.#name,
        [ATTRIBUTES.items]: items,
        [ATTRIBUTES.bytes]: bytes,
        [ATTRIBUTES.reason]: reason,
      },
    };
    const span = this.#tracer.startSpan(SPAN_NAMES.chunk, options, parent);
    span.end(endTime);
    this.#carrier.remember(closed.chunk, trace.setSpan(parent, span));
  }

  sending(ticket: Ticket, send: () => void): void {
    runIn(this.#spans.get(ticket)?.active ?? this.#carrier.of(ticket), send);
  }

  delivering(subject: Ticket | Chunk<unknown>, deliver: () => void): void {
    this.#carrier.delivering(subject, deliver);
  }

  /** Made when there is something to record: a million requests may wait. */
  #spanOf(ticket: Ticket): RequestSpan | undefined {
    let span = this.#spans.get(ticket);
    // An ended request gets no more events: its span would never end.
    if (span === undefined && ticket.outcome === undefined) {
      span = this.#begin(ticket);
      if (span !== undefined) this.#spans.set(ticket, span);
    }
    return span?.isRecording ? span : undefined;
  }

  #begin(ticket: Ticket): RequestSpan | undefined {
    const arrival = this.#carrier.of(ticket);
    if (isUnsampled(trace.getSpanContext(arrival))) return undefined;
    const mode = this.#modes.get(ticket) ?? 'normal';
    return new RequestSpan(this.#tracer, ticket, arrival, this.#name, mode);
  }
}

function isUnsampled(caller: SpanContext | undefined): boolean {
  return (
    caller !== undefined &&
    isSpanContextValid(caller) &&
    (caller.traceFlags & TraceFlags.SAMPLED) === 0
  );
}

function linksTo(callers: readonly (SpanContext | undefined)[]): Link[] {
  const links = new Map<string, Link>();
  for (const caller of callers) {
    if (caller === undefined || !isSpanContextValid(caller)) continue;
    if (links.size < MOST_LINKS) {
      links.set(`${caller.traceId}${caller.spanId}`, { context: caller });
    }
  }
  return [...links.values()];
}
