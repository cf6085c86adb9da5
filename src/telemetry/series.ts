import type { Attributes } from '@opentelemetry/api';
import type { ChunkReason } from '../model/chunk.ts';
import type { FeedbackKind } from '../model/feedback.ts';
import type { GaugeSnapshot } from '../model/gauge-snapshot.ts';
import type { BackoffChange, Instrumentation, WaitDetail } from '../model/instrumentation.ts';
import type { GateKind, SettleOutcome } from '../model/outcome.ts';
import type { PolicyEvent } from '../model/policy-events.ts';
import type { SizedKind } from '../model/sized-kind.ts';
import type { Amounts, Ticket } from '../model/ticket.ts';
import { Counts } from './counts.ts';
import { FleetCounts } from './fleet-counts.ts';
import { Gauges, MOST_VALUES, type Observe } from './gauges.ts';
import { Instances } from './instances.ts';
import type { Instruments } from './instruments.ts';
import { errorTypeOf, Labels } from './labels.ts';
import { ATTRIBUTES } from './names.ts';
import { adaptationOf } from './span-events.ts';

const OUTCOMES = ['ok', 'failed', 'rejected', 'cancelled', 'reclaimed'] as const;
const REASONS = ['items', 'bytes', 'delay', 'complete'] as const;
const SUSPENSIONS = ['longWait', 'quota', 'billing', 'unreachable'] as const;
/** How many error types have their own series. */
const MOST_ERRORS = 10;
/** Told apart whatever else turns up first, and counted from 0: a rate does not see a series begin. */
const KNOWN_ERRORS = ['429', '500', '503', '529'];

/**
 * The metrics of all limiters and streams of one name: numbers that are read when metrics are
 * collected, and histograms of values of single requests.
 */
export class Series implements Instrumentation {
  readonly #instruments: Instruments;
  readonly #name: Attributes;
  readonly #requests: Counts;
  readonly #attempts: Counts;
  readonly #denied: Counts;
  readonly #flushes: Counts;
  readonly #suspensions: Counts;
  readonly #givenUp: Counts;
  /** By what has changed. */
  readonly #adaptations = new Map<string, Counts>();
  readonly #gauges: Gauges;
  readonly #instances = new Instances();
  readonly #errors = new Labels(MOST_ERRORS, KNOWN_ERRORS);
  readonly #byError = new Map<string, Attributes>();
  /** How many rate limits distinguish the waits. */
  readonly #limits = new Labels(MOST_VALUES);
  /** By gate, and by limit if one is named. */
  readonly #byGate = new Map<string, Attributes>();
  readonly #byKind = new Map<SizedKind, Attributes>();
  readonly #inBytes: Attributes;
  readonly #inTokens: Attributes;
  /** Requests of which an attempt runs, and how old they were when it began, in ms. */
  readonly #running = new Map<Ticket, number>();
  /** The request whose attempt was the last to end well, until a request ends: most end with it. */
  #answered: Ticket | undefined;
  /** Its age then, in ms. */
  #answeredMs = 0;
  /** Requests that wait for the delay between two attempts. */
  readonly #retrying = new Set<Ticket>();
  /** The last errors of requests that have not ended yet. */
  readonly #failures = new Map<Ticket, string>();
  #bytes = 0;
  #tokens = 0;
  #rateCuts = 0;
  /** Undefined until the shared store is called: there may be none. */
  #fleet: FleetCounts | undefined;

  constructor(name: string, instruments: Instruments) {
    const { outcome, errorType, limit, reason } = ATTRIBUTES;
    this.#instruments = instruments;
    this.#name = { [ATTRIBUTES.name]: name };
    this.#inBytes = { ...this.#name, [ATTRIBUTES.unit]: 'bytes' };
    this.#inTokens = { ...this.#name, [ATTRIBUTES.unit]: 'tokens' };
    this.#requests = new Counts(this.#name, outcome, OUTCOMES, 0);
    this.#attempts = new Counts(this.#name, errorType, ['', ...KNOWN_ERRORS], MOST_ERRORS + 1);
    this.#denied = new Counts(this.#name, limit, [], MOST_VALUES);
    this.#suspensions = new Counts(this.#name, reason, SUSPENSIONS, 0);
    this.#flushes = new Counts(this.#name, reason, REASONS, 0);
    this.#givenUp = new Counts(this.#name, ATTRIBUTES.gate, [], 10);
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
    // The gate has read the clock in this turn: to read it again would cost more than it tells.
    const startedMs = attempt === 1 ? ticket.startedAt - ticket.arrivedAt : Number.NaN;
    this.#running.set(ticket, Number.isNaN(startedMs) ? ticket.ageMs : startedMs);
    if (attempt === 1) this.#bytes += ticket.bytes;
  }

  attemptEnded(ticket: Ticket, _attempt: number, kind: FeedbackKind, error?: unknown): void {
    const startedMs = this.#running.get(ticket);
    if (startedMs === undefined) return;
    this.#running.delete(ticket);
    const { ageMs } = ticket;
    const seconds = (ageMs - startedMs) / 1_000;
    const { attemptDuration } = this.#instruments.histograms;
    if (ticket.usage !== undefined) this.#compare(ticket, ticket.usage);
    if (kind === 'ok' && error === undefined) {
      this.#attempts.add('');
      this.#answered = ticket;
      this.#answeredMs = ageMs;
      attemptDuration.record(seconds, this.#name);
      if (this.#failures.size > 0) this.#failures.delete(ticket);
      return;
    }
    const type = this.#typeOf(ticket, error);
    this.#attempts.add(type);
    attemptDuration.record(seconds, this.#attributesOf(type));
    this.#failures.set(ticket, type);
  }

  backoff(waitMs: number, source: string, change?: BackoffChange): void {
    const seconds = (change?.addedMs ?? waitMs) / 1000;
    const attributes = { ...this.#name, [ATTRIBUTES.source]: source };
    if (seconds > 0) this.#instruments.histograms.backoffDuration.record(seconds, attributes);
  }

  changed(fact: PolicyEvent): void {
    if (fact.kind === 'limitDenied') this.#denied.add(fact.limit);
    if (fact.kind === 'suspended') this.#suspensions.add(fact.reason);
    this.#fleet?.changed(fact);
    const adaptation = adaptationOf(fact);
    if (adaptation === undefined) return;
    const { what, reason } = adaptation;
    const counts = this.#adaptations.get(what) ?? this.#adaptationsOf(what);
    counts.add(reason);
    if (fact.kind === 'rateAdapted' && reason === 'rejected') this.#rateCuts += 1;
  }

  storeCalled(tookMs: number, isAnswered: boolean): void {
    this.#fleet ??= new FleetCounts(this.#name);
    this.#fleet.called(isAnswered);
    if (isAnswered) this.#instruments.histograms.storeDuration.record(tookMs / 1_000, this.#name);
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
    if (ticket.gaveUpAt !== undefined) this.#givenUp.add(ticket.gaveUpAt);
    if (this.#retrying.size > 0) this.#retrying.delete(ticket);
    if (this.#running.delete(ticket)) this.#attempts.add(outcome === 'ok' ? '' : outcome);
    // To read the clock once more would cost more than what happened since.
    const knownMs = this.#answered === ticket ? this.#answeredMs : undefined;
    this.#answered = undefined;
    const failure = this.#failures.size > 0 ? this.#failures.get(ticket) : undefined;
    if (failure !== undefined) this.#failures.delete(ticket);
    // The wait of an abandoned request says nothing about latency.
    if (outcome === 'cancelled' || outcome === 'reclaimed') return;
    const type = outcome === 'ok' ? undefined : (failure ?? this.#typeOf(ticket, ticket.refusal));
    const attributes = type === undefined ? this.#name : this.#attributesOf(type);
    this.#instruments.histograms.requestDuration.record(
      (knownMs ?? ticket.ageMs) / 1000,
      attributes,
    );
  }

  opened(read: () => GaugeSnapshot): () => void {
    return this.#instances.open(read);
  }

  /** Reports all metrics that are no histograms. */
  observe(observe: Observe): void {
    this.#requests.each((count, attributes) => observe('requests', count, attributes));
    this.#attempts.each((count, attributes) => observe('attempts', count, attributes));
    this.#flushes.each((count, attributes) => observe('chunkFlushes', count, attributes));
    this.#suspensions.each((count, attributes) => observe('suspensions', count, attributes));
    observe('requestSize', this.#bytes, this.#name);
    observe('tokens', this.#tokens, this.#name);
    observe('rateCuts', this.#rateCuts, this.#name);
    this.#fleet?.observe(observe);
    const snapshots = this.#instances.read();
    for (const { gauges = {}, waiting } of snapshots) {
      const { rateCeiling, rateLimit = {} } = gauges;
      // A rate adapts: its changes count from 0.
      if (rateCeiling !== undefined) this.#countFromZero('rate', ['rejected', 'accepted']);
      for (const name of Object.keys(rateLimit)) this.#denied.add(name, 0);
      for (const [gate] of waiting) this.#givenUp.add(gate, 0);
    }
    this.#givenUp.each((count, attributes) => observe('givenUp', count, attributes));
    for (const counts of this.#adaptations.values()) {
      counts.each((count, attributes) => observe('adaptations', count, attributes));
    }
    this.#denied.each((count, attributes) => observe('rateDenied', count, attributes));
    this.#gauges.observe(snapshots, this.#retrying.size, this.#running.size, observe);
  }

  /** What was estimated with what was used. */
  #compare(ticket: Ticket, { bytes = 0, tokens = 0 }: Amounts): void {
    const { estimateRatio } = this.#instruments.histograms;
    if (bytes > 0) estimateRatio.record(ticket.bytes / bytes, this.#inBytes);
    if (tokens > 0) estimateRatio.record(ticket.tokens / tokens, this.#inTokens);
    this.#tokens += tokens;
  }

  #typeOf(ticket: Ticket, error: unknown): string {
    return this.#errors.of(errorTypeOf(ticket, error));
  }

  #countFromZero(what: string, reasons: readonly string[]): void {
    const counts = this.#adaptations.get(what) ?? this.#adaptationsOf(what);
    for (const reason of reasons) counts.add(reason, 0);
  }

  #adaptationsOf(what: string): Counts {
    const counts = new Counts(
      { ...this.#name, [ATTRIBUTES.what]: what },
      ATTRIBUTES.reason,
      [],
      10,
    );
    this.#adaptations.set(what, counts);
    return counts;
  }

  #attributesOf(type: string): Attributes {
    let attributes = this.#byError.get(type);
    if (attributes === undefined) {
      attributes = { ...this.#name, [ATTRIBUTES.errorType]: type };
      this.#byError.set(type, attributes);
    }
    return attributes;
  }
}
