import {
  type Attributes,
  type Context,
  type Link,
  type Span,
  type SpanContext,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { errorTypeOf } from '../model/error-type.ts';
import { traceIds } from '../model/inspection.ts';
import type { SettleOutcome } from '../model/outcome.ts';
import type { Ticket, TicketNote } from '../model/ticket.ts';
import { withoutUndefined } from '../util/without-undefined.ts';
import { ATTRIBUTES, EVENT_NAMES, type EventName, SPAN_NAMES } from './attributes.ts';
import type { WaitPart } from './wait-parts.ts';

/** A wait of up to this many ms is an event, a longer one a span. */
const SHORT_MS = 1;

/** The spans of one recorded request. Times are those of the gates' clock. */
export class RequestSpan {
  /**
   * The context of the request's arrival, with the span of the present attempt, or of the request,
   * as active span.
   */
  active: Context;
  readonly #tracer: Tracer;
  readonly #ticket: Ticket;
  readonly #span: Span;
  readonly #name: string;
  readonly #inside: Context;
  /** The wall clock at arrival, in ms. */
  readonly #arrivedAt: number;
  /** The start of the request's span. None of its child spans starts earlier. */
  readonly #startedAt: number;
  #attempt: Span | undefined = undefined;
  #lastAttempt: SpanContext | undefined = undefined;
  #errorType: string | undefined = undefined;

  /**
   * @param span the request's span, which has just started
   * @param inside the context of the request's arrival, with that span as active span
   * @param arrivedAt the wall clock at arrival, in ms
   */
  constructor(
    tracer: Tracer,
    ticket: Ticket,
    name: string,
    span: Span,
    inside: Context,
    arrivedAt: number,
  ) {
    this.#tracer = tracer;
    this.#ticket = ticket;
    this.#arrivedAt = arrivedAt;
    this.#name = name;
    // The caller's span starts at a whole millisecond: this one must not start before that.
    this.#startedAt = Math.ceil(arrivedAt);
    this.#span = span;
    this.#inside = inside;
    this.active = inside;
    span.setAttribute(ATTRIBUTES.bytes, ticket.bytes);
    traceIds.remember(ticket, span.spanContext().traceId);
  }

  /** Links to the request and its last attempt, for spans of requests that wait because of it. */
  get links(): readonly Link[] {
    const links: Link[] = [{ context: this.#span.spanContext() }];
    if (this.#lastAttempt !== undefined) links.push({ context: this.#lastAttempt });
    return links;
  }

  /** @param links to the spans that have caused the wait */
  waited(part: WaitPart, links: readonly Link[] = []): void {
    const { gate, limit, waitMs, rounds, beganMsAgo, endedMsAgo } = part;
    const now = this.#now;
    const cause = withoutUndefined({ [ATTRIBUTES.gate]: gate, [ATTRIBUTES.limit]: limit });
    const seconds = { [ATTRIBUTES.seconds]: waitMs / 1000 };
    if (waitMs <= SHORT_MS) {
      this.event(EVENT_NAMES.wait, { ...cause, ...seconds });
      return;
    }
    const { spanId } = this.#span.spanContext();
    const hasGaps = beganMsAgo - endedMsAgo - waitMs > SHORT_MS;
    const options = {
      attributes: {
        [ATTRIBUTES.name]: this.#name,
        ...cause,
        [ATTRIBUTES.rounds]: rounds,
        ...(hasGaps && seconds),
      },
      startTime: Math.max(this.#startedAt, now - beganMsAgo),
      // Jaeger takes a link to the parent for the parent's reference, which is then missing.
      links: links.filter(({ context }) => context.spanId !== spanId),
    };
    const endTime = Math.max(this.#startedAt, now - endedMsAgo);
    this.#tracer.startSpan(SPAN_NAMES.wait, options, this.#inside).end(endTime);
  }

  attemptStarted(attempt: number): void {
    const attributes = {
      [ATTRIBUTES.name]: this.#name,
      ...(attempt > 1 && { [ATTRIBUTES.resends]: attempt - 1 }),
    };
    // A child span starts at a whole millisecond, and must not start before this one.
    const startTime = Math.max(this.#startedAt, Math.floor(this.#now));
    const options = { attributes, startTime };
    this.#attempt = this.#tracer.startSpan(SPAN_NAMES.attempt, options, this.#inside);
    this.#lastAttempt = this.#attempt.spanContext();
    this.active = trace.setSpan(this.#inside, this.#attempt);
  }

  attemptEnded(isOk: boolean, error: unknown): void {
    const status = this.#ticket.verdict?.status;
    if (status !== undefined) this.#attempt?.setAttribute(ATTRIBUTES.status, status);
    this.#errorType = isOk ? undefined : errorTypeOf(this.#ticket, error);
    this.#endAttempt(this.#errorType);
  }

  event(name: EventName, attributes: Attributes): void {
    this.#span.addEvent(name, attributes, this.#now);
  }

  settled(outcome: SettleOutcome): void {
    const { attempts, tokens, epoch, refusal, gaveUpAt } = this.#ticket;
    this.#endAttempt(outcome);
    const attributes = {
      [ATTRIBUTES.tokens]: tokens,
      [ATTRIBUTES.attempts]: attempts,
      [ATTRIBUTES.epoch]: epoch,
      [ATTRIBUTES.outcome]: outcome,
      [ATTRIBUTES.gate]: gaveUpAt,
    };
    this.#span.setAttributes(withoutUndefined(attributes));
    if (outcome === 'failed' || outcome === 'rejected') {
      const type = refusal === undefined ? this.#errorType : undefined;
      fail(this.#span, type ?? errorTypeOf(this.#ticket, refusal));
    }
    this.#span.end(this.#now);
  }

  #endAttempt(errorType: string | undefined): void {
    if (this.#attempt === undefined) return;
    if (errorType !== undefined) fail(this.#attempt, errorType);
    this.#attempt.end(this.#now);
    this.#attempt = undefined;
    this.active = this.#inside;
  }

  /** A time of the gates' clock as wall-clock time, relative to the arrival. */
  get #now(): number {
    return Math.max(this.#startedAt, this.#arrivedAt + Math.max(0, this.#ticket.ageMs));
  }
}

function fail(span: Span, errorType: string): void {
  span.setAttribute(ATTRIBUTES.errorType, errorType);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** The notes that the metrics, or the spans, of one name keep about a request. */
export class Note implements TicketNote {
  readonly owner: object;
  next: TicketNote | undefined;
  /** The age of the request when its present attempt began, in ms; NaN: no attempt runs. */
  startedMs = Number.NaN;
  /** The age of the request when an attempt succeeded, in ms; NaN until then. */
  answeredMs = Number.NaN;
  /** The type of the last error, if no attempt has succeeded since. */
  failure: string | undefined = undefined;
  /** The context of the request's arrival with its span, recorded or not. */
  inside: Context | undefined = undefined;
  /** The request's spans; undefined: they are not recorded, or have ended. */
  span: RequestSpan | undefined = undefined;

  /** Adds itself to the notes of a ticket. */
  constructor(ticket: Ticket, owner: object) {
    this.owner = owner;
    this.next = ticket.notes;
    ticket.notes = this;
  }
}

/** The note of one owner; undefined: it has made none. */
export function noteOf({ notes }: Ticket, owner: object): Note | undefined {
  for (let note = notes; note !== undefined; note = note.next) {
    if (note.owner === owner && note instanceof Note) return note;
  }
  return undefined;
}
