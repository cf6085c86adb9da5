import type { Attributes } from '@opentelemetry/api';
import { errorTypeOf } from '../model/error-type.ts';
import { HeadgateError } from '../model/errors.ts';
import type { FeedbackKind } from '../model/feedback.ts';
import type { GaugeSnapshot } from '../model/gauge.ts';
import type { BackoffChange, Instrumentation, WaitDetail } from '../model/instrumentation.ts';
import type { GateKind, SettleOutcome } from '../model/outcome.ts';
import type { PolicyEvent } from '../model/policy-events.ts';
import type { ChunkReason, SizedKind } from '../model/sized.ts';
import type { Amounts, Ticket } from '../model/ticket.ts';
import { ATTRIBUTES, Labels } from './attributes.ts';
import { ChangeCounts } from './change-counts.ts';
import { Counts, type Observe } from './counts.ts';
import { Gauges, Instances } from './gauges.ts';
import { type Histograms, histogramsOf, type Instruments } from './instruments.ts';
import { Note, noteOf } from './request-span.ts';
import { joined, WaitParts } from './wait-parts.ts';

const OUTCOMES = ['ok', 'failed', 'rejected', 'cancelled', 'reclaimed'] as const;
const REASONS = ['items', 'bytes', 'delay', 'complete'] as const;
/** How many error types have their own series: those of other packages, and those of headgate. */
const MOST_ERRORS = 10;
const MOST_OWN_ERRORS = 20;
/**
 * These statuses always have a series of their own, from 0: a rate query misses the first value of
 * a series that begins later.
 */
const KNOWN_ERRORS = ['429', '500', '503', '529'];

/**
 * The metrics of all limiters and streams of one name: counters and gauges that are read when
 * metrics are collected, and histograms of values of single requests.
 */
export class Series implements Instrumentation {
  readonly #histograms: Histograms;
  readonly #name: Attributes;
  readonly #requests: Counts;
  readonly #attempts: Counts;
  readonly #flushes: Counts;
  readonly #givenUp: Counts;
  readonly #changes: ChangeCounts;
  readonly #gauges: Gauges;
  readonly #instances = new Instances();
  readonly #errors = new Labels(MOST_ERRORS, KNOWN_ERRORS);
  readonly #ownErrors = new Labels(MOST_OWN_ERRORS);
  /** How many attempts run. */
  #running = 0;
  /** Requests that wait for the delay between two attempts. */
  readonly #retrying = new Set<Ticket>();
  /** Collects the parts of waits, which the gate reports one by one. */
  readonly #parts = new WaitParts();
  #bytes = 0;
  #tokens = 0;

  constructor(limiter: string, instruments: Instruments) {
    const { outcome, errorType, reason } = ATTRIBUTES;
    const name = { [ATTRIBUTES.name]: limiter };
    this.#name = name;
    this.#histograms = histogramsOf(name, instruments);
    this.#requests = new Counts(name, outcome, OUTCOMES, 0);
    const known = ['', ...KNOWN_ERRORS];
    this.#attempts = new Counts(name, errorType, known, MOST_ERRORS + MOST_OWN_ERRORS);
    this.#flushes = new Counts(name, reason, REASONS, 0);
    this.#givenUp = new Counts(name, ATTRIBUTES.gate, [], 10);
    this.#changes = new ChangeCounts(name);
    this.#gauges = new Gauges(name);
  }

  /** Arrivals are not counted: the number of waiting requests is read from the gates. */
  needsArrival(): boolean {
    return false;
  }

  admitted(
    ticket: Ticket,
    gate: GateKind,
    waitMs: number,
    rounds: number,
    detail?: WaitDetail,
  ): void {
    if (rounds === 0) return;
    if (gate === 'retry') this.#retrying.delete(ticket);
    const { waitDuration } = this.#histograms;
    if (this.#parts.isWhole(ticket, detail)) {
      waitDuration.of(gate, detail?.limit).record(waitMs / 1000);
      return;
    }
    for (const cause of joined(this.#parts.add(ticket, gate, waitMs, rounds, detail))) {
      waitDuration.of(cause.gate, cause.limit).record(cause.waitMs / 1000);
    }
  }

  queued(ticket: Ticket, gate: GateKind): void {
    if (gate === 'retry') this.#retrying.add(ticket);
  }

  attemptStarted(ticket: Ticket, attempt: number): void {
    // Use the time that the gate has just read: reading the clock again is not worth its cost.
    const startedMs = attempt === 1 ? ticket.startedAt - ticket.arrivedAt : Number.NaN;
    const note = noteOf(ticket, this) ?? new Note(ticket, this);
    if (Number.isNaN(note.startedMs)) this.#running += 1;
    note.startedMs = Number.isNaN(startedMs) ? ticket.ageMs : startedMs;
    note.answeredMs = Number.NaN;
    if (attempt === 1) this.#bytes += ticket.bytes;
  }

  attemptEnded(ticket: Ticket, _attempt: number, kind: FeedbackKind, error?: unknown): void {
    const note = noteOf(ticket, this);
    if (note === undefined || Number.isNaN(note.startedMs)) return;
    const { ageMs } = ticket;
    const seconds = (ageMs - note.startedMs) / 1_000;
    note.startedMs = Number.NaN;
    this.#running -= 1;
    if (ticket.usage !== undefined) this.#compare(ticket, ticket.usage);
    if (kind === 'ok' && error === undefined) {
      this.#attempts.add('');
      note.answeredMs = ageMs;
      note.failure = undefined;
      this.#histograms.attemptDuration.plain.record(seconds);
      return;
    }
    const type = this.#typeOf(ticket, error);
    this.#attempts.add(type);
    this.#histograms.attemptDuration.of(type).record(seconds);
    note.failure = type;
  }

  backoff(waitMs: number, source: string, change?: BackoffChange): void {
    const seconds = (change?.addedMs ?? waitMs) / 1000;
    if (seconds > 0) this.#histograms.backoffDuration.of(source).record(seconds);
  }

  changed(fact: PolicyEvent): void {
    this.#changes.changed(fact);
  }

  storeCalled(tookMs: number, isAnswered: boolean): void {
    this.#changes.storeCalled(isAnswered);
    if (isAnswered) this.#histograms.storeDuration.plain.record(tookMs / 1_000);
  }

  estimated(bytes: number, kind: SizedKind): void {
    this.#histograms.estimate.of(kind).record(bytes);
  }

  chunkClosed(items: number, _bytes: number, reason: ChunkReason): void {
    this.#flushes.add(reason);
    this.#histograms.chunkSize.plain.record(items);
  }

  settled(ticket: Ticket, outcome: SettleOutcome): void {
    this.#requests.add(outcome);
    if (ticket.gaveUpAt !== undefined) this.#givenUp.add(ticket.gaveUpAt);
    if (this.#retrying.size > 0) this.#retrying.delete(ticket);
    const note = noteOf(ticket, this);
    if (note !== undefined && !Number.isNaN(note.startedMs)) {
      // The request has ended while an attempt still ran: the attempt counts as ended too.
      note.startedMs = Number.NaN;
      this.#running -= 1;
      this.#attempts.add(outcome === 'ok' ? '' : outcome);
      // It has used them, though a part of an answer says nothing of the estimate.
      this.#tokens += ticket.usage?.tokens ?? 0;
    }
    // The duration of an abandoned request says nothing about latency.
    if (outcome === 'cancelled' || outcome === 'reclaimed') return;
    const { requestDuration } = this.#histograms;
    const { refusal } = ticket;
    const failure = refusal === undefined ? note?.failure : undefined;
    const recorder =
      outcome === 'ok'
        ? requestDuration.plain
        : requestDuration.of(failure ?? this.#typeOf(ticket, refusal));
    // Most requests end with their answer: use its time, because reading the clock again costs
    // more.
    const answeredMs = note?.answeredMs ?? Number.NaN;
    recorder.record((Number.isNaN(answeredMs) ? ticket.ageMs : answeredMs) / 1000);
  }

  opened(read: () => GaugeSnapshot): () => void {
    return this.#instances.open(read);
  }

  /** Reports all counters and gauges. */
  observe(observe: Observe): void {
    this.#requests.observe('requests', observe);
    this.#attempts.observe('attempts', observe);
    this.#flushes.observe('chunkFlushes', observe);
    observe('requestSize', this.#bytes, this.#name);
    observe('tokens', this.#tokens, this.#name);
    const snapshots = this.#instances.read();
    for (const { gauges = {}, waiting } of snapshots) {
      this.#changes.begin(gauges);
      for (const [gate] of waiting) this.#givenUp.add(gate, 0);
    }
    this.#givenUp.observe('givenUp', observe);
    this.#changes.observe(observe);
    this.#gauges.observe(snapshots, this.#retrying.size, this.#running, observe);
  }

  /** Counts the used amounts, and compares them with estimates if there are any. */
  #compare(ticket: Ticket, { bytes = 0, tokens = 0 }: Amounts): void {
    const { estimateRatio } = this.#histograms;
    // A request whose size was not estimated says nothing of estimates.
    if (bytes > 0 && ticket.bytes > 0) estimateRatio.of('bytes').record(ticket.bytes / bytes);
    if (tokens > 0 && ticket.tokens > 0) estimateRatio.of('tokens').record(ticket.tokens / tokens);
    this.#tokens += tokens;
  }

  #typeOf(ticket: Ticket, error: unknown): string {
    const labels = error instanceof HeadgateError ? this.#ownErrors : this.#errors;
    return labels.of(errorTypeOf(ticket, error));
  }
}
