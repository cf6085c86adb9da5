import type { Attributes } from '@opentelemetry/api';
import type { ChunkReason } from '../model/chunk.ts';
import type { CoreFact } from '../model/facts.ts';
import type { FeedbackKind } from '../model/feedback.ts';
import type { GateKind, SettleOutcome } from '../model/outcome.ts';
import type { BackoffChange, Probe, WaitDetail } from '../model/probe.ts';
import type { Reading } from '../model/reading.ts';
import type { SizedKind } from '../model/sized-kind.ts';
import type { Amounts, Ticket } from '../model/ticket.ts';
import { Counts } from './counts.ts';
import { Gauges, MOST_LIMITS, type Observe } from './gauges.ts';
import { Instances } from './instances.ts';
import type { Instruments } from './instruments.ts';
import { errorTypeOf, Labels } from './labels.ts';
import { ATTRIBUTES } from './names.ts';

const OUTCOMES = ['ok', 'failed', 'rejected', 'cancelled', 'reclaimed'] as const;
const REASONS = ['items', 'bytes', 'delay', 'complete'] as const;
/** Error types that are told apart. */
const MOST_ERRORS = 10;
/** Alerts are about these: whatever else turns up first, they are told. */
const RESERVED_ERRORS = ['429'];

/**
 * The metrics of all limiters and streams of one name: plain numbers, read when metrics are
 * collected, and histograms of what only the single request knows.
 */
export class Series implements Probe {
  readonly #instruments: Instruments;
  readonly #name: Attributes;
  readonly #requests: Counts;
  readonly #attempts: Counts;
  readonly #denied: Counts;
  readonly #flushes: Counts;
  readonly #gauges: Gauges;
  readonly #instances = new Instances();
  readonly #errors = new Labels(MOST_ERRORS, RESERVED_ERRORS);
  readonly #byError = new Map<string, Attributes>();
  /** Rate limits that waits are told apart by. */
  readonly #limits = new Labels(MOST_LIMITS);
  /** By gate, and limit where one is named. */
  readonly #byGate = new Map<string, Attributes>();
  readonly #byKind = new Map<SizedKind, Attributes>();
  readonly #inBytes: Attributes;
  readonly #inTokens: Attributes;
  /** Requests of which an attempt runs. */
  readonly #running = new Set<Ticket>();
  /** Requests that wait for the delay between two attempts. */
  readonly #retrying = new Set<Ticket>();
  /** What requests failed with that have not ended yet. */
  readonly #failures = new Map<Ticket, string>();
  #bytes = 0;
  #rateCuts = 0;

  constructor(name: string, instruments: Instruments) {
    const { outcome, errorType, limit, reason } = ATTRIBUTES;
    this.#instruments = instruments;
    this.#name = { [ATTRIBUTES.name]: name };
    this.#inBytes = { ...this.#name, [ATTRIBUTES.unit]: 'bytes' };
    this.#inTokens = { ...this.#name, [ATTRIBUTES.unit]: 'tokens' };
    this.#requests = new Counts(this.#name, outcome, OUTCOMES, 0);
    this.#attempts = new Counts(this.#name, errorType, [''], MOST_ERRORS + 1);
    this.#denied = new Counts(this.#name, limit, [], MOST_LIMITS);
    this.#flushes = new Counts(this.#name, reason, REASONS, 0);
    this.#gauges = new Gauges(this.#name);
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
    const limit = detail?.limit === undefined ? undefined : this.#limits.of(detail.limit);
    const key = limit === undefined ? gate : `${gate} ${limit}`;
    let attributes = this.#byGate.get(key);
    if (attributes === undefined) {
      const named = limit === undefined ? undefined : { [ATTRIBUTES.limit]: limit };
      attributes = { ...this.#name, [ATTRIBUTES.gate]: gate, ...named };
      this.#byGate.set(key, attributes);
    }
    this.#instruments.histograms.waitDuration.record(waitMs / 1000, attributes);
  }

  queued(ticket: Ticket, gate: GateKind): void {
    if (gate === 'retry') this.#retrying.add(ticket);
  }

  attemptStarted(ticket: Ticket, attempt: number): void {
    this.#running.add(ticket);
    if (attempt === 1) this.#bytes += ticket.bytes;
  }

  attemptEnded(ticket: Ticket, _attempt: number, kind: FeedbackKind, error?: unknown): void {
    if (!this.#running.delete(ticket)) return;
    if (ticket.usage !== undefined) this.#compare(ticket, ticket.usage);
    if (kind === 'ok' && error === undefined) {
      this.#attempts.add('');
      if (this.#failures.size > 0) this.#failures.delete(ticket);
      return;
    }
    const type = this.#errors.of(errorTypeOf(ticket, error));
    this.#attempts.add(type);
    this.#failures.set(ticket, type);
  }

  backoff(waitMs: number, source: string, change?: BackoffChange): void {
    const seconds = (change?.addedMs ?? waitMs) / 1000;
    const attributes = { ...this.#name, [ATTRIBUTES.source]: source };
    if (seconds > 0) this.#instruments.histograms.backoffDuration.record(seconds, attributes);
  }

  changed(fact: CoreFact): void {
    if (fact.kind === 'limitDenied') this.#denied.add(fact.limit);
    if (fact.kind === 'rateAdapted') this.#rateCuts += 1;
  }

  estimated(bytes: number, kind: SizedKind): void {
    let attributes = this.#byKind.get(kind);
    if (attributes === undefined) {
      attributes = { ...this.#name, [ATTRIBUTES.kind]: kind };
      this.#byKind.set(kind, attributes);
    }
    this.#instruments.histograms.estimate.record(bytes, attributes);
  }

  chunkClosed(items: number, _bytes: number, reason: ChunkReason): void {
    this.#flushes.add(reason);
    this.#instruments.histograms.chunkSize.record(items, this.#name);
  }

  settled(ticket: Ticket, outcome: SettleOutcome): void {
    this.#requests.add(outcome);
    if (this.#retrying.size > 0) this.#retrying.delete(ticket);
    if (this.#running.delete(ticket)) this.#attempts.add(outcome === 'ok' ? '' : outcome);
    const failure = this.#failures.size > 0 ? this.#failures.get(ticket) : undefined;
    if (failure !== undefined) this.#failures.delete(ticket);
    // How long somebody has waited before he gave up says nothing of latency.
    if (outcome === 'cancelled' || outcome === 'reclaimed') return;
    const attributes = outcome === 'ok' ? this.#name : this.#attributesOf(ticket, failure);
    this.#instruments.histograms.requestDuration.record(ticket.ageMs / 1000, attributes);
  }

  opened(read: () => Reading): () => void {
    return this.#instances.open(read);
  }

  /** Tells all that is no histogram. */
  observe(observe: Observe): void {
    this.#requests.each((count, attributes) => observe('requests', count, attributes));
    this.#attempts.each((count, attributes) => observe('attempts', count, attributes));
    this.#flushes.each((count, attributes) => observe('chunkFlushes', count, attributes));
    observe('requestSize', this.#bytes, this.#name);
    observe('rateCuts', this.#rateCuts, this.#name);
    const readings = this.#instances.read();
    for (const { limits = {} } of readings) {
      for (const name of Object.keys(limits)) this.#denied.add(name, 0);
    }
    this.#denied.each((count, attributes) => observe('rateDenied', count, attributes));
    this.#gauges.observe(readings, this.#retrying.size, this.#running.size, observe);
  }

  /** What was estimated with what was used. */
  #compare(ticket: Ticket, { bytes = 0, tokens = 0 }: Amounts): void {
    const { estimateRatio } = this.#instruments.histograms;
    if (bytes > 0) estimateRatio.record(ticket.bytes / bytes, this.#inBytes);
    if (tokens > 0) estimateRatio.record(ticket.tokens / tokens, this.#inTokens);
  }

  #attributesOf(ticket: Ticket, failure: string | undefined): Attributes {
    const type = failure ?? this.#errors.of(errorTypeOf(ticket, ticket.refusal));
    let attributes = this.#byError.get(type);
    if (attributes === undefined) {
      attributes = { ...this.#name, [ATTRIBUTES.errorType]: type };
      this.#byError.set(type, attributes);
    }
    return attributes;
  }
}
