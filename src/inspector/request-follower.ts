import { errorTypeOf } from '../model/error-type.ts';
import { isRejection, type Verdict } from '../model/feedback.ts';
import { type RequestFollower, type Tap, traceIds } from '../model/inspection.ts';
import type { SettleOutcome } from '../model/outcome.ts';
import type { Ticket } from '../model/ticket.ts';
import { RequestHistory } from './request-history.ts';
import type { Cause, Part, RequestRecord } from './wire-requests.ts';

/** The most rejections that are kept as possible causes of waits. */
const KEPT_REJECTIONS = 256;

/** Records of a gate between two looks: of requests that succeeded at once, and of others. */
const PLAIN_QUOTA = 10;
const TROUBLED_QUOTA = 25;

interface Rejection extends Cause {
  /** The epoch of the backoff that this rejection began; undefined: it began none. */
  readonly epoch: number | undefined;
  /** Its time by the clock of the gate. */
  readonly time: number;
}

/** The parts of a monitor and a gate that a follower uses. */
export interface FollowerParts {
  /** Of the gate that it follows. */
  readonly tap: Tap;
  readonly add: (record: RequestRecord) => void;
  /** How long a request must have taken to be kept in any case, in ms. */
  readonly slowMs: () => number;
  /** The time of the wall clock, and that of the gate's. */
  readonly wallNow: () => number;
  readonly gateNow: () => number;
  /** The text to show for the value of a request; undefined: values are not shown. */
  readonly show: ((value: unknown) => string) | undefined;
  readonly nextId: () => number;
}

/**
 * Counts the outcomes of the requests of one gate, and records a few requests between two looks, so
 * that ten thousand requests a second cost little more than counting them.
 */
export class GateFollower implements RequestFollower {
  okCount = 0;
  failedCount = 0;
  throttledCount = 0;
  /** Attempts without success, rejections for going too fast apart. */
  failedCalls = 0;
  /** The status, or the code or class of the error, of the last of them. */
  lastFailure = '';
  cancelledCount = 0;
  rejectedCount = 0;
  /** The class of the error of the last request that was refused. */
  lastRefusal = '';
  tokens = 0;
  /**
   * A request that arrived before this time and ends now is one of the slowest. The time is set at
   * each look, because reading the clock for each request would be slow.
   */
  private slowBefore = Number.NEGATIVE_INFINITY;
  private plainLeft = PLAIN_QUOTA;
  private troubledLeft = TROUBLED_QUOTA;
  private readonly parts: FollowerParts;
  /** The histories of requests of which an attempt was rejected. */
  private readonly histories = new WeakMap<Ticket, RequestHistory>();
  private rejections: Rejection[] = [];
  /** The counts of the gate when this follower began. */
  private readonly sentBefore: number;
  private readonly bytesBefore: number;

  constructor(parts: FollowerParts) {
    this.parts = parts;
    this.sentBefore = parts.tap.sentCount;
    this.bytesBefore = parts.tap.sentBytes;
  }

  /** Called at each look: resets the quotas of records. */
  look(): void {
    this.slowBefore = this.parts.gateNow() - this.parts.slowMs();
    this.plainLeft = PLAIN_QUOTA;
    this.troubledLeft = TROUBLED_QUOTA;
  }

  /** Attempts sent since this follower began, and their bytes. */
  get sentCount(): number {
    return this.parts.tap.sentCount - this.sentBefore;
  }

  get bytes(): number {
    return this.parts.tap.sentBytes - this.bytesBefore;
  }

  resent(ticket: Ticket): void {
    this.histories.get(ticket)?.resent(ticket);
  }

  rejected(
    ticket: Ticket,
    verdict: Verdict,
    epochBefore: number,
    epochAfter: number,
    error: unknown,
  ): void {
    let history = this.histories.get(ticket);
    if (history === undefined) {
      history = new RequestHistory(this.parts.nextId(), ticket);
      this.histories.set(ticket, history);
    }
    history.answered(ticket, verdict, errorTypeOf(ticket, error));
    if (verdict.kind === 'throttled') this.throttledCount += 1;
    else {
      this.failedCalls += 1;
      this.lastFailure = history.lastError ?? '';
    }
    if (!isRejection(verdict)) return;
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
    // Most requests succeed at once. They are only counted, because this code runs for every
    // request.
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
    else if (outcome === 'rejected') {
      this.rejectedCount += 1;
      this.lastRefusal = ticket.refusal?.name ?? '';
    } else this.cancelledCount += 1;
    if (outcome === 'failed') this.countAbandoned(ticket);
    if (this.troubledLeft === 0) return;
    this.troubledLeft -= 1;
    this.parts.add(this.recordOf(ticket, outcome));
  }

  /** Counts the attempt that still ran at the deadline of its request. */
  private countAbandoned(ticket: Ticket): void {
    const { refusal, attempts } = ticket;
    const isRunning = this.histories.get(ticket)?.isOpen ?? attempts > 0;
    if (refusal === undefined || !isRunning) return;
    this.failedCalls += 1;
    this.lastFailure = refusal.name;
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
      ...(outcome !== 'ok' && { error: errorOf(ticket, known) ?? outcome }),
      ...(show !== undefined && typeof value !== 'function' && { value: show(value) }),
      ...(traceId !== undefined && { traceId }),
      parts: known
        .parts(ticket, durationMs, verdict?.kind ?? outcome)
        .map((part) => this.withCause(part, ticket.arrivedAt, known)),
    };
  }

  /** Adds the rejection that made a request wait for a backoff or for an adaptive rate. */
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

/** The used tokens that the answer reports, or else the estimated ones. */
function tokensOf(ticket: Ticket): number {
  return ticket.usage?.tokens ?? ticket.knownTokens;
}

/** The status, code or class of an error. Its message is not shown: it may quote the request. */
function errorOf({ verdict, refusal }: Ticket, { lastError }: RequestHistory): string | undefined {
  if (refusal !== undefined) return refusal.name;
  return verdict === undefined || verdict.kind === 'ok' ? undefined : lastError;
}
