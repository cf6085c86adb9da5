import {
  ProviderUnreachableError,
  QuotaExhaustedError,
  RetryAfterTooLongError,
} from '../model/errors.ts';
import type { ConnectionFailure, Feedback, Mode, Verdict } from '../model/feedback.ts';
import type { Ticket } from '../model/ticket.ts';
import type { Backoff, OnLongWait, SuspensionReason } from '../policies/backoff.ts';
import { LARGE_REQUEST_BYTES } from '../policies/backoff-policy.ts';
import { measure } from '../policies/policies.ts';
import { positive, read, readList } from '../providers/shape.ts';
import type { Gate } from '../queue/gate.ts';
import type { Clock } from '../util/clock.ts';
import { ProviderUsers } from './provider-users.ts';

/**
 * The resolution of timers, in ms. A shorter wait could round to 0, and the gate would stay open.
 */
const SHORTEST_BACKOFF_MS = 1;

/** Whether the answer asks to stop sending: a 429 always does, an overload if it names a wait. */
function closes({ kind }: Feedback, retryAfterMs: number | undefined): boolean {
  return kind === 'throttled' || (kind === 'overloaded' && retryAfterMs !== undefined);
}

/** If a quota or a credit is used up and no end is named, one request tests it after a minute. */
const USED_UP_MS = 60_000;

function isUsedUp(outage: string | undefined): outage is 'quota' | 'billing' {
  return outage === 'quota' || outage === 'billing';
}

/** The status of a gateway whose server does not answer in time. */
const TIMED_OUT = 504;

/** Whether a gateway answers that it cannot reach the server. */
function isGateway({ status }: Pick<Feedback, 'status'>): boolean {
  return status === 502 || status === TIMED_OUT;
}

/**
 * Whether the feedback comes from the provider: an error without a status may be that of the user's
 * code.
 */
function isAnswer(feedback: Feedback): boolean {
  return feedback.kind !== 'failed' || (feedback.status !== undefined && !isGateway(feedback));
}

/** More limits than an answer reports. */
const MOST_LIMITS = 64;

/**
 * The longest time until a used-up limit is whole again, for a rejection that names no wait. A
 * reset that is given as a duration may be that of a bucket, which accepts requests long before.
 */
function resetMsOf({ limits }: Feedback): number | undefined {
  // A user may push anything.
  const waits = readList(limits, MOST_LIMITS).map((limit) => {
    const isUsedUp = read(limit, 'remaining') === 0 && read(limit, 'isResetTime') === true;
    return (isUsedUp && positive(read(limit, 'resetMs'))) || 0;
  });
  return positive(Math.max(...waits));
}

/** A sender of attempts. */
export interface Sender {
  /** The shortest wait named by an answer that closes the gate, in ms. */
  readonly leastClosureMs: number;
}

/** How rejections are answered, in ms. */
export interface BackoffRules {
  readonly backoffMs: number;
  readonly largeBackoffMs: number;
  readonly maxRetryAfterMs: number;
  readonly onLongWait: OnLongWait;
  readonly outageMs: number;
}

/**
 * Decides on the effect of an answer: a backoff, a suspension of all requests, an outage or its
 * end.
 */
export class ProviderState {
  readonly rules: BackoffRules;
  /** All gates that send to this provider. */
  readonly users: ProviderUsers;
  readonly #policy: Backoff;
  readonly #clock: Clock;
  /** Called when the mode may have changed. */
  readonly #onModeChange: () => void;
  /** Senders whose adaptive rate finds that the provider rejects everything. */
  readonly #outages = new Set<object>();
  /** The error of the last failed connection. */
  #lastFailure: unknown = undefined;
  /** The last request for which a gateway failed, since the last answer. */
  #failed: Ticket | undefined = undefined;

  /** @param gate where requests wait for the backoff to end */
  constructor(rules: BackoffRules, gate: Gate<Backoff>, clock: Clock, onModeChange: () => void) {
    const { policy } = gate;
    this.rules = rules;
    this.#policy = policy;
    this.#clock = clock;
    this.users = new ProviderUsers(clock, () => {
      const now = clock.now();
      const gauges = measure({ backoff: policy }, now);
      return { waiting: gate.waitingByKind, mode: policy.modeAt(now), gauges };
    });
    this.users.join(gate);
    this.#onModeChange = onModeChange;
    policy.onOutageOver = () => this.#outageOver();
  }

  /**
   * An answer has come.
   * @param sender the sender of the attempt
   * @param cause the error of the attempt
   */
  answered(feedback: Feedback, sender: Sender, cause: unknown): void {
    const policy = this.#policy;
    const epoch = feedback.epoch ?? policy.epoch;
    const retryAfterMs = positive(feedback.retryAfterMs);
    const { connection } = feedback;
    if (connection !== undefined) {
      // An answer had begun, so the provider was reached then. Only an outage needs more: its probe
      // must be answered in full.
      const isDoubtful = connection !== 'interrupted' || policy.outage.isOn;
      if (feedback.kind === 'failed' && isDoubtful) this.#unreachable(connection, cause);
    } else if (isAnswer(feedback)) this.reached(epoch);
    if (feedback.kind === 'ok') policy.accept(epoch, this.#clock.now());
    else if (this.#isLong(feedback, retryAfterMs)) {
      this.#suspend(feedback, retryAfterMs, epoch, cause);
    } else if ((retryAfterMs ?? 0) >= sender.leastClosureMs && closes(feedback, retryAfterMs)) {
      this.#close(feedback, retryAfterMs, epoch, { sender });
    } else if (feedback.kind === 'throttled') this.slowDown();
  }

  /**
   * The meaning of a failed connection, or of a gateway's answer that it cannot reach the server.
   * During an outage the latter is a failed connection. A request may be the cause itself, so
   * failures of different requests in a row begin an outage. Both are rejections if the server
   * closes connections to reject requests.
   */
  understand(verdict: Verdict, ticket: Ticket, cause: unknown): Verdict {
    const isBehind = isGateway(verdict);
    if (verdict.kind !== 'failed' || !(isBehind || verdict.connection === 'broken')) return verdict;
    const { outage } = this.#policy;
    const broken: Verdict = { ...verdict, connection: 'broken' };
    if (outage.rejected(this.#clock.now(), verdict.status === TIMED_OUT)) {
      return { ...broken, kind: 'overloaded' };
    }
    if (!isBehind) return verdict;
    if (ticket !== this.#failed) this.#unreachable('broken', cause);
    this.#failed = ticket;
    return outage.isOn ? broken : verdict;
  }

  /** Whether a quota is used up whose end is known and waited for. */
  isWaitedOut({ outage, retryAfterMs }: Pick<Feedback, 'outage' | 'retryAfterMs'>): boolean {
    return (
      this.rules.onLongWait === 'wait' && isUsedUp(outage) && positive(retryAfterMs) !== undefined
    );
  }

  #unreachable(connection: ConnectionFailure, cause: unknown): void {
    this.#lastFailure = cause;
    const now = this.#clock.now();
    if (!this.#policy.unreachable(connection === 'refused', now)) return;
    this.users.emit({ kind: 'outageStarted', at: now, reason: 'unreachable' });
    this.#modeChanged('outage');
  }

  /** An answer came. @returns whether an outage ends */
  reached(epoch: number): boolean {
    this.#failed = undefined;
    if (!this.#policy.reached(epoch)) return false;
    this.users.emit({ kind: 'outageEnded', at: this.#clock.now(), reason: 'unreachable' });
    this.#modeChanged(undefined);
    return true;
  }

  /** The provider could not be reached for `outageMs`: waiting requests fail. */
  #outageOver(): void {
    this.#tellSuspended('unreachable', 'fail', this.#policy.outage.probeAt);
    this.users.clear(new ProviderUnreachableError(this.rules.outageMs, this.#lastFailure));
  }

  /** Whether the provider reports that it takes no requests for long. */
  #isLong(feedback: Feedback, retryAfterMs: number | undefined): boolean {
    if (isUsedUp(feedback.outage)) return true;
    return (retryAfterMs ?? 0) > this.rules.maxRetryAfterMs && closes(feedback, retryAfterMs);
  }

  /**
   * Decides for all requests: waiting and new requests fail, or all wait, until the provider
   * accepts requests again.
   */
  #suspend(
    feedback: Feedback,
    retryAfterMs: number | undefined,
    epoch: number,
    cause: unknown,
  ): void {
    const policy = this.#policy;
    const { maxRetryAfterMs } = this.rules;
    const { outage } = feedback;
    const reason = isUsedUp(outage) ? outage : 'longWait';
    const isFailing = reason !== 'longWait' && !this.isWaitedOut(feedback);
    const onLongWait = isFailing ? 'fail' : this.rules.onLongWait;
    // Answers to requests in flight report the same again.
    const isKnown = policy.suspended(this.#clock.now()) !== undefined && epoch < policy.epoch;
    const waitMs = retryAfterMs ?? USED_UP_MS;
    this.#close(feedback, retryAfterMs, epoch, { closedMs: waitMs });
    policy.suspend(reason, onLongWait);
    if (!isKnown) this.#tellSuspended(reason, onLongWait, policy.until);
    if (onLongWait === 'wait') return;
    this.users.suspend(policy.until, (leftMs) =>
      reason === 'longWait'
        ? new RetryAfterTooLongError(leftMs, maxRetryAfterMs, cause)
        : new QuotaExhaustedError(reason, leftMs, cause),
    );
  }

  #tellSuspended(
    reason: SuspensionReason | 'unreachable',
    onLongWait: OnLongWait,
    untilAt: number,
  ): void {
    const { waiting: requests } = this.users;
    this.users.emit({
      kind: 'suspended',
      at: this.#clock.now(),
      reason,
      onLongWait,
      requests,
      untilAt,
    });
  }

  /**
   * @param closedMs how long nothing is sent; default: the wait that was asked for, up to
   * `maxRetryAfterMs`
   * @param sender the sender that may correct the wait
   */
  #close(
    feedback: Feedback,
    retryAfterMs: number | undefined,
    epoch: number,
    { closedMs, sender }: { readonly closedMs?: number; readonly sender?: Sender },
  ): void {
    const computedMs =
      (feedback.bytes ?? 0) <= LARGE_REQUEST_BYTES
        ? this.rules.backoffMs
        : this.rules.largeBackoffMs;
    const askedMs = Math.max(
      retryAfterMs ?? resetMsOf(feedback) ?? computedMs,
      SHORTEST_BACKOFF_MS,
    );
    const waitMs = closedMs ?? Math.min(askedMs, this.rules.maxRetryAfterMs);
    const source = retryAfterMs === undefined ? 'computed' : 'retry_after';
    this.#throttle((policy, now) => {
      const openAt = Math.max(policy.until, now);
      policy.reject(waitMs, epoch, now, sender);
      const change = { addedMs: policy.until - openAt };
      this.users.tell((instrumentation) => instrumentation.backoff?.(waitMs, source, change));
    });
  }

  /**
   * The wait that `sender` closed the gate for has proved wrong. Opens the gate at `until`, if that
   * is earlier than now planned.
   */
  correct(sender: object, until: number): void {
    this.#policy.correct(sender, until);
  }

  /** An adaptive rate was asked to slow down: throttled mode begins, and the gate stays open. */
  slowDown(): void {
    this.#throttle((policy, now) => policy.throttle(now));
  }

  /**
   * Another worker was asked to slow down: nothing is sent for `closedMs`, if that is longer than
   * the present closure, and throttled mode lasts for `throttledMs`.
   */
  heard(closedMs: number, throttledMs: number): void {
    if (closedMs === 0 && throttledMs === 0) return;
    this.#throttle((policy, now) => {
      if (now + closedMs > Math.max(policy.until, now)) policy.reject(closedMs, policy.epoch, now);
      policy.throttledUntil = Math.max(policy.throttledUntil, now + throttledMs);
    });
  }

  /** Records whether a sender finds that the provider rejects everything. */
  setOutage(sender: object, isOut: boolean): void {
    const { size } = this.#outages;
    if (isOut) this.#outages.add(sender);
    else this.#outages.delete(sender);
    this.#policy.isRejecting = this.#outages.size > 0;
    if (this.#outages.size !== size) this.#modeChanged(size === 0 ? 'outage' : undefined);
  }

  /** @param change begins throttled mode, or extends it */
  #throttle(change: (policy: Backoff, now: number) => void): void {
    const now = this.#clock.now();
    const begun = now >= this.#policy.throttledUntil ? 'throttled' : undefined;
    change(this.#policy, now);
    this.#modeChanged(begun);
  }

  /** @param begun the mode that has just begun, if one has */
  #modeChanged(begun: Mode | undefined): void {
    if (begun !== undefined)
      this.users.tell((instrumentation) => instrumentation.modeBegan?.(begun));
    this.#onModeChange();
  }
}
