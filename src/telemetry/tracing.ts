import {
  type Context,
  isSpanContextValid,
  type Link,
  type SpanContext,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { FeedbackKind, Mode } from '../model/feedback.ts';
import type { ClosedChunk, Instrumentation, WaitDetail } from '../model/instrumentation.ts';
import type { GateKind, SettleOutcome } from '../model/outcome.ts';
import type { PolicyEvent } from '../model/policy-events.ts';
import type { Chunk, ChunkReason } from '../model/sized.ts';
import type { Ticket } from '../model/ticket.ts';
import { getOrMake } from '../util/collections.ts';
import { ATTRIBUTES, EVENT_NAMES, SPAN_NAMES, spanEventOf } from './attributes.ts';
import { activeContext, ContextPropagator, runIn } from './context-propagator.ts';
import { Rejections } from './rejections.ts';
import { Note, noteOf, RequestSpan } from './request-span.ts';
import { joined, WaitParts } from './wait-parts.ts';

/** How many links a span keeps (the default of the SDK). */
const MOST_LINKS = 128;

/**
 * A wait with more parts gets one span for each gate and limit: alternating gates would fill a
 * trace.
 */
const MOST_PARTS = 32;

/**
 * Makes the spans of requests, and restores their contexts. For an untraced request it keeps only
 * the context.
 */
export class Tracing implements Instrumentation {
  readonly #tracer: Tracer;
  readonly #name: string;
  readonly #carrier = new ContextPropagator();
  /** The mode at the arrival of each request, if it was not `normal`. */
  readonly #modes = new WeakMap<Ticket, Mode>();
  /** The request whose attempt has just ended, and which caused the present changes. */
  #cause: RequestSpan | undefined = undefined;
  /** By feedback: limiters of one name, such as the keys of a group, have their own. */
  #rejections = new WeakMap<object, Rejections>();
  /** Those of the request whose attempt has just failed. */
  #rejected: Rejections | undefined = undefined;
  /** Collects the parts of waits, which the gate reports one by one. */
  readonly #parts = new WaitParts();

  constructor(tracer: Tracer, name: string) {
    this.#tracer = tracer;
    this.#name = name;
  }

  needsArrival(feedback?: { readonly mode: Mode }): boolean {
    return (feedback?.mode ?? 'normal') !== 'normal' || this.#carrier.needsArrival();
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
    const span = this.#spanOf(ticket);
    if (span === undefined) return;
    const parts = this.#parts.add(ticket, gate, waitMs, rounds, detail);
    for (const part of parts.length > MOST_PARTS ? joined(parts) : parts) {
      span.waited(part, this.#causeOf(part.gate, ticket));
    }
  }

  attemptStarted(ticket: Ticket, attempt: number): void {
    this.#cause = undefined;
    this.#spanOf(ticket)?.attemptStarted(attempt);
  }

  attemptEnded(ticket: Ticket, _attempt: number, kind: FeedbackKind, error?: unknown): void {
    const span = this.#spanOf(ticket);
    span?.attemptEnded(kind === 'ok' && error === undefined, error);
    this.#cause = span;
    this.#rejected = undefined;
    if (kind === 'ok') return;
    const rejected = getOrMake(this.#rejections, ticket.feedback ?? this, () => new Rejections());
    this.#rejected = rejected;
    if (kind === 'throttled') rejected.slowed(span?.links, ticket);
    // A request that is sent again is not settled now, so its role as the cause ends here.
    queueMicrotask(() => {
      if (this.#cause === span) this.#cause = undefined;
      if (this.#rejected === rejected) this.#rejected = undefined;
    });
  }

  backoff(waitMs: number, source: string): void {
    // The program has reported a 429 itself, of any feedback: no cause is known any more.
    if (this.#rejected === undefined) this.#rejections = new WeakMap();
    else this.#rejected.closedBy = this.#cause?.links;
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
    const event = spanEventOf(fact);
    if (event !== undefined) this.#cause.event(...event);
  }

  settled(ticket: Ticket, outcome: SettleOutcome): void {
    const note = noteOf(ticket, this) ?? this.#begin(ticket);
    if (note === undefined) return;
    const { span } = note;
    note.span = undefined;
    span?.settled(outcome);
    if (this.#cause === span) this.#cause = undefined;
  }

  around(): Context {
    return activeContext();
  }

  /**
   * Makes a chunk's span: a child of the first traced item's span, and the parent of its request's.
   */
  chunkClosed(items: number, bytes: number, reason: ChunkReason, closed?: ClosedChunk): void {
    if (closed === undefined) return;
    const arounds = closed.arounds as readonly Context[];
    const callers = arounds.map((around) => trace.getSpanContext(around));
    const index = arounds.findIndex((around) => !isUnsampled(around));
    const parent = arounds[Math.max(0, index)] ?? activeContext();
    if (index < 0 && arounds.length > 0) {
      this.#carrier.remember(closed.chunk, parent);
      return;
    }
    const endTime = Date.now();
    const options = {
      startTime: endTime - closed.openMs,
      links: linksTo(callers, callers[index]),
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
    const { span, inside } = noteOf(ticket, this) ?? {};
    runIn(span?.active ?? inside ?? this.#carrier.of(ticket), send);
  }

  delivering(subject: Ticket | Chunk<unknown>, deliver: () => void): void {
    this.#carrier.delivering(subject, deliver);
  }

  /** Links to the 429 that made a request wait. */
  #causeOf(gate: GateKind, ticket: Ticket): readonly Link[] | undefined {
    const rejections = this.#rejections.get(ticket.feedback ?? this);
    return rejections?.causeOf(gate, ticket, this.#modes.has(ticket));
  }

  /** A request's spans, made when there is something to record: a million requests may wait. */
  #spanOf(ticket: Ticket): RequestSpan | undefined {
    const known = noteOf(ticket, this);
    // Start no span for an ended request: the span would never end.
    if (known !== undefined || ticket.outcome !== undefined) return known?.span;
    return this.#begin(ticket)?.span;
  }

  /** Starts the span of a request; undefined: its caller's span is not sampled. */
  #begin(ticket: Ticket): Note | undefined {
    const arrival = this.#carrier.of(ticket);
    if (isUnsampled(arrival)) return undefined;
    const arrivedAt = wallTimeAgo(() => Math.max(0, ticket.ageMs));
    const mode = this.#modes.get(ticket) ?? 'normal';
    // Samplers see only these attributes. Others are added if the span is recorded.
    const attributes = { [ATTRIBUTES.name]: this.#name, [ATTRIBUTES.mode]: mode };
    const options = { attributes, startTime: Math.ceil(arrivedAt) };
    const span = this.#tracer.startSpan(SPAN_NAMES.request, options, arrival);
    const inside = trace.setSpan(arrival, span);
    const note = new Note(ticket, this);
    note.inside = inside;
    if (span.isRecording()) {
      note.span = new RequestSpan(this.#tracer, ticket, this.#name, span, inside, arrivedAt);
    }
    return note;
  }
}

/**
 * The wall clock so long ago. The age is read before the clock, so that a pause of the process
 * between the two dates nothing before its cause. It would date it too late: then both are read
 * again.
 */
function wallTimeAgo(ageMs: () => number): number {
  for (let tries = 3; ; tries -= 1) {
    const before = Date.now();
    const age = ageMs();
    const now = Date.now();
    if (now - before <= 1 || tries === 0) return now - age;
  }
}

/** Whether the caller's span is neither sampled nor recorded. */
function isUnsampled(around: Context): boolean {
  const caller = trace.getSpan(around);
  if (caller === undefined || caller.isRecording()) return false;
  const spanContext = caller.spanContext();
  return isSpanContextValid(spanContext) && (spanContext.traceFlags & TraceFlags.SAMPLED) === 0;
}

/**
 * @param parent has no link: Jaeger takes one for the parent's reference, which is then missing
 */
function linksTo(
  callers: readonly (SpanContext | undefined)[],
  parent: SpanContext | undefined,
): Link[] {
  const links = new Map<string, Link>();
  for (const caller of callers) {
    if (caller === undefined || !isSpanContextValid(caller)) continue;
    if (caller.spanId === parent?.spanId || links.size === MOST_LINKS) continue;
    links.set(`${caller.traceId}${caller.spanId}`, { context: caller });
  }
  return [...links.values()];
}
