import type { Verdict } from '../model/feedback.ts';
import { type RequestFollower, type Tap, traceIds } from '../model/inspection.ts';
import type { SettleOutcome } from '../model/outcome.ts';
import type { Ticket } from '../model/ticket.ts';
import { RequestHistory } from './request-history.ts';
import type { Cause, Part, RequestRecord } from './wire-requests.ts';

/** Rejections that waits can be traced to. */
const KEPT_REJECTIONS = 256;

/** Records a gate may make between two looks: of requests that went well, and of others. */
const PLAIN_QUOTA = 10;
const TROUBLED_QUOTA = 25;

interface Rejection extends Cause {
  /** The backoff that it began, if it began one. */
  readonly epoch: number | undefined;
  /** By the clock of the gate. */
  readonly time: number;
}

/** What a follower needs from around it. */
export interface FollowerParts {
  /** Of the gate that it follows. */
  readonly tap: Tap;
  readonly add: (record: RequestRecord) => void;
  /** How long a request must have taken to be kept in any case, in ms. */
  readonly slowMs: () => number;
  /** The time of the wall clock, and that of the gate's. */
  readonly wallNow: () => number;
  readonly gateNow: () => number;
  /** What is shown of a request's value; undefined: nothing. */
  readonly show: ((value: unknown) => string) | undefined;
  readonly nextId: () => number;
}

/**
 * Counts what happens to the requests of one gate, and keeps a record of some: a few between any two
 * looks, so that ten thousand requests a second cost little more than their count.
 */
export class GateFollower implements RequestFollower {
  okCount = 0;
  failedCount = 0;
  throttledCount = 0;
  cancelledCount = 0;
  rejectedCount = 0;
  tokens = 0;
  /**
   * A request that arrived before this and ends now is among the slowest. It is set at each look,
   * because to read the clock for each request would be slow.
   */
  private slowBefore = Number.NEGATIVE_INFINITY;
  private plainLeft = PLAIN_QUOTA;
  private troubledLeft = TROUBLED_QUOTA;
  private readonly parts: FollowerParts;
  /** What is known of requests of which an attempt was turned away. */
  private readonly histories = new WeakMap<Ticket, RequestHistory>();
  private rejections: Rejection[] = [];
  /** What the gate had counted before. */
  private readonly sentBefore: number;
  private readonly bytesBefore: number;

  constructor(parts: FollowerParts) {
    this.parts = parts;
    this.sentBefore = parts.tap.sentCount;
    this.bytesBefore = parts.tap.sentBytes;
  }

  /** A look begins: from now on records may be made again. */
  look(): void {
    this.slowBefore = this.parts.gateNow() - this.parts.slowMs();
    this.plainLeft = PLAIN_QUOTA;
    this.troubledLeft = TROUBLED_QUOTA;
  }

  /** Attempts sent since it follows, and their bytes. */
  get sentCount(): number {
    return this.parts.tap.sentCount - this.sentBefore;
  }

  get bytes(): number {
    return this.parts.tap.sentBytes - this.bytesBefore;
  }

  resent(ticket: Ticket): void {
    this.histories.get(ticket)?.resent(ticket);
  }

  rejected(ticket: Ticket, verdict: Verdict, epochBefore: number, epochAfter: number): void {
    let history = this.histories.get(ticket);
    if (history === undefined) {
      history = new RequestHistory(this.parts.nextId(), ticket);
      this.histories.set(ticket, history);
    }
    history.answered(ticket, verdict);
    if (verdict.kind !== 'throttled' && verdict.kind !== 'overloaded') return;
    if (verdict.kind === 'throttled') this.throttledCount += 1;
    if (this.rejections.length >= KEPT_REJECTIONS) {
      this.rejections = this.rejections.slice(KEPT_REJECTIONS / 2);
    }
    this.rejections.push({
      id: history.id,
      index: ticket.index,
      at: this.parts.wallNow(),
      time: this.parts.gateNow(),
      status: verdict.status,
      epoch: epochAfter > epochBefore ? epochAfter : undefined,
    });
  }

  settled(ticket: Ticket, outcome: SettleOutcome): void {
    if (ticket.attempts > 0) this.tokens += tokensOf(ticket);
    // Most requests go well at once, and are only counted: this runs for each of them.
    if (outcome === 'ok' && ticket.attempts === 1) {
      this.okCount += 1;
      if (this.plainLeft === 0 && ticket.arrivedAt >= this.slowBefore) return;
      this.keepPlain(ticket);
    } else this.keepTroubled(ticket, outcome);
  }

  private keepPlain(ticket: Ticket): void {
    if (this.plainLeft > 0) this.plainLeft -= 1;
    else if (this.troubledLeft > 0) this.troubledLeft -= 1;
    else return;
    this.parts.add(this.recordOf(ticket, 'ok'));
  }

  private keepTroubled(ticket: Ticket, outcome: SettleOutcome): void {
    if (outcome === 'ok') this.okCount += 1;
    else if (outcome === 'failed') this.failedCount += 1;
    else if (outcome === 'rejected') this.rejectedCount += 1;
    else this.cancelledCount += 1;
    if (this.troubledLeft === 0) return;
    this.troubledLeft -= 1;
    this.parts.add(this.recordOf(ticket, outcome));
  }

  private recordOf(ticket: Ticket, outcome: SettleOutcome): RequestRecord {
    const { show, nextId, wallNow, gateNow } = this.parts;
    const durationMs = Math.max(0, gateNow() - ticket.arrivedAt);
    const history = this.histories.get(ticket);
    const known = history ?? new RequestHistory(nextId(), ticket);
    const { verdict, index, bytes, attempts, value } = ticket;
    const traceId = traceIds.of(ticket);
    return {
      id: known.id,
      index,
      endedAt: wallNow(),
      durationMs,
      outcome,
      bytes,
      tokens: tokensOf(ticket),
      attempts,
      ...(outcome !== 'ok' && { error: errorOf(ticket, outcome) }),
      ...(show !== undefined && typeof value !== 'function' && { value: show(value) }),
      ...(traceId !== undefined && { traceId }),
      parts: known
        .parts(ticket, durationMs, verdict?.kind ?? outcome)
        .map((part) => this.withCause(part, ticket.arrivedAt, known)),
    };
  }

  /** Names the rejection that made a request wait for a backoff, or for a rate that adapts. */
  private withCause(part: Part, arrivedAt: number, history: RequestHistory): Part {
    if (part.kind !== 'wait' || (part.gate !== 'backoff' && part.gate !== 'pace')) return part;
    const endedAt = arrivedAt + part.startMs + part.ms;
    const epoch = part.gate === 'backoff' ? history.epochAt(part.startMs) : undefined;
    const cause =
      (epoch === undefined
        ? undefined
        : this.rejections.find((rejection) => rejection.epoch === epoch)) ??
      this.rejections.findLast(({ time }) => time <= endedAt);
    if (cause === undefined) return part;
    const { id, index, at, status } = cause;
    return { ...part, cause: { id, index, at, ...(status !== undefined && { status }) } };
  }
}

/** Tokens that an answer says were used; else those that are known beforehand. */
function tokensOf(ticket: Ticket): number {
  return ticket.usage?.tokens ?? ticket.knownTokens;
}

/** The status or the class of what a request failed with: a message may quote the request. */
function errorOf({ verdict, refusal }: Ticket, outcome: SettleOutcome): string {
  if (refusal !== undefined) return refusal.constructor.name;
  if (verdict === undefined || verdict.kind === 'ok') return outcome;
  if (verdict.status !== undefined) return `HTTP ${verdict.status}`;
  return verdict.outage ?? verdict.kind;
}
