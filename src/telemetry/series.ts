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
import { ATTRIBUTES, adaptationOf, Labels, MOST_VALUES } from './attributes.ts';
import { Counts, FleetCounts, type Observe } from './counts.ts';
import { Gauges, Instances } from './gauges.ts';
import {
  type Histograms,
  histogramsOf,
  type Instruments,
  type ObservedKey,
} from './instruments.ts';
import { Note, noteOf } from './request-span.ts';
import { joined, WaitParts } from './wait-parts.ts';

const OUTCOMES = ['ok', 'failed', 'rejected', 'cancelled', 'reclaimed'] as const;
const REASONS = ['items', 'bytes', 'delay', 'complete'] as const;
const SUSPENSIONS = ['longWait', 'quota', 'billing', 'unreachable'] as const;
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
  readonly #denied: Counts;
  readonly #flushes: Counts;
  readonly #suspensions: Counts;
  readonly #givenUp: Counts;
  /** Counters of changes, by the kind of the limit or rate that changed. */
  readonly #adaptations = new Map<string, Counts>();
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
  #rateCuts = 0;
  /** Undefined until the shared store is called: most programs have none. */
  #fleet: FleetCounts | undefined;

  constructor(name: string, instruments: Instruments) {
    const { outcome, errorType, limit, reason } = ATTRIBUTES;
    this.#name = { [ATTRIBUTES.name]: name };
    this.#histograms = histogramsOf(this.#name, instruments);
    this.#requests = new Counts(this.#name, outcome, OUTCOMES, 0);
    this.#attempts = new Counts(
      this.#name,
      errorType,
      ['', ...KNOWN_ERRORS],
      MOST_ERRORS + MOST_OWN_ERRORS,
    );
    this.#denied = new Counts(this.#name, limit, [], MOST_VALUES);
    this.#suspensions = new Counts(this.#name, reason, SUSPENSIONS, 0);
    this.#flushes = new Counts(this.#name, reason, REASONS, 0);
    this.#givenUp = new Counts(this.#name, ATTRIBUTES.gate, [], 10);
    this.#gauges = new Gauges(this.#name);
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
    if (fact.kind === 'limitDenied') this.#denied.add(fact.limit);
    if (fact.kind === 'suspended') this.#suspensions.add(fact.reason);
    this.#fleet?.changed(fact);
    const adaptation = adaptationOf(fact);
    if (adaptation === undefined) return;
    const { what, reason } = adaptation;
    this.#adaptationsOf(what).add(reason);
    if (fact.kind === 'rateAdapted' && reason === 'rejected') this.#rateCuts += 1;
  }

  storeCalled(tookMs: number, isAnswered: boolean): void {
    this.#fleet ??= new FleetCounts(this.#name);
    this.#fleet.called(isAnswered);
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
    }
    // The duration of an abandoned request says nothing about latency.
    if (outcome === 'cancelled' || outcome === 'reclaimed') return;
    const recorder =
      outcome === 'ok'
        ? this.#histograms.requestDuration.plain
        : this.#histograms.requestDuration.of(
            (ticket.refusal === undefined ? note?.failure : undefined) ??
              this.#typeOf(ticket, ticket.refusal),
          );
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
    const tell = (key: ObservedKey, counts: Counts) =>
      counts.each((count, attributes) => observe(key, count, attributes));
    tell('requests', this.#requests);
    tell('attempts', this.#attempts);
    tell('chunkFlushes', this.#flushes);
    tell('suspensions', this.#suspensions);
    observe('requestSize', this.#bytes, this.#name);
    observe('tokens', this.#tokens, this.#name);
    observe('rateCuts', this.#rateCuts, this.#name);
    this.#fleet?.observe(observe);
    const snapshots = this.#instances.read();
    for (const { gauges = {}, waiting } of snapshots) {
      const { rateCeiling, rateLimit = {} } = gauges;
      // There is an adaptive rate: report its changes from 0.
      if (rateCeiling !== undefined) this.#countFromZero('rate', ['rejected', 'accepted']);
      for (const name of Object.keys(rateLimit)) this.#denied.add(name, 0);
      for (const [gate] of waiting) this.#givenUp.add(gate, 0);
    }
    tell('givenUp', this.#givenUp);
    for (const counts of this.#adaptations.values()) tell('adaptations', counts);
    tell('rateDenied', this.#denied);
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

  #countFromZero(what: string, reasons: readonly string[]): void {
    const counts = this.#adaptationsOf(what);
    for (const reason of reasons) counts.add(reason, 0);
  }

  #adaptationsOf(what: string): Counts {
    let counts = this.#adaptations.get(what);
    if (counts === undefined) {
      const attributes = { ...this.#name, [ATTRIBUTES.what]: what };
      counts = new Counts(attributes, ATTRIBUTES.reason, [], 10);
      this.#adaptations.set(what, counts);
    }
    return counts;
  }
}
