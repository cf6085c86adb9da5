import { ProviderUnreachableError, RetryAfterTooLongError } from '../model/errors.ts';
import type { Verdict } from '../model/feedback.ts';
import type { Instrumentation } from '../model/instrumentation.ts';
import type { Ticket } from '../model/ticket.ts';
import { discard } from '../providers/shape.ts';
import type { Gate } from '../queue/gate.ts';
import type { AdmissionCallback } from '../queue/waiting-requests.ts';
import type { Clock, Timer } from '../util/clock.ts';
import type { DispatchContext } from './send-options.ts';

/** A used-up quota whose end is waited for. */
const THROTTLED: Verdict = { kind: 'throttled' };

/** The failed attempts of a request, and its wait for the next attempt. */
export class Retries {
  #lastError: unknown = undefined;
  /** Failed attempts, without rejections and overloads. */
  #failures = 0;
  #overloads = 0;
  /** Attempts whose connection failed: all, and those outside of outages. */
  #unconnected = 0;
  #unreached = 0;
  #wait: RetryWait | undefined = undefined;

  /** The error of the last attempt. */
  get lastError(): unknown {
    return this.#lastError;
  }

  /**
   * Counts a failed attempt.
   * @returns as `RetryPolicy.delay`
   * @throws RetryAfterTooLongError; ProviderUnreachableError; any error of `random`
   */
  delayAfter(
    verdict: Verdict,
    error: unknown,
    { attempts, arrivedAt, epoch, excused }: Ticket,
    { feedback, retry, clock, random }: DispatchContext<never, unknown>,
  ): number | undefined {
    this.#lastError = error;
    const { retryAfterMs = 0 } = verdict;
    const { provider, gate } = feedback;
    const { maxRetryAfterMs, onLongWait, outageMs } = provider.rules;
    const isTooLong = onLongWait === 'fail' && retryAfterMs > maxRetryAfterMs;
    if (verdict.retry !== false && isTooLong) {
      discard(error);
      throw new RetryAfterTooLongError(retryAfterMs, maxRetryAfterMs, error);
    }
    const isUnconnected = verdict.connection !== undefined;
    if (isUnconnected && gate.policy.isFromBefore(epoch)) {
      throw new ProviderUnreachableError(outageMs, error);
    }
    const isWaitedOut = provider.isWaitedOut(verdict);
    const isOut = isUnconnected && gate.policy.outage.isOn;
    if (isUnconnected) {
      this.#unconnected += 1;
      if (!isOut) this.#unreached += 1;
    } else if (verdict.kind === 'overloaded' && !verdict.timedOut) this.#overloads += 1;
    else if (verdict.kind !== 'throttled' && !isWaitedOut) this.#failures += 1;
    const past = {
      attempts: attempts - this.#unconnected,
      failures: this.#failures - excused,
      overloads: this.#overloads,
      unreached: this.#unreached,
      isOut,
      elapsedMs: clock.now() - arrivedAt,
    };
    return retry.delay(isWaitedOut ? THROTTLED : verdict, past, random);
  }

  /**
   * The wait for the next attempt, not started yet.
   * @param ready called when the request may be sent again, unless the wait is cancelled
   * @param isRetry whether it keeps its slot and bytes, and its place before those never sent
   */
  wait(
    ticket: Ticket,
    gates: readonly Gate[],
    context: Pick<DispatchContext<never, unknown>, 'clock' | 'instrumentation'>,
    ready: () => void,
    isRetry: boolean,
  ): RetryWait {
    this.#wait = new RetryWait(ticket, gates, context, ready, isRetry);
    return this.#wait;
  }

  cancel(): void {
    this.#wait?.cancel();
  }
}

/** A request between two attempts: first its own delay, then the gates of attempts. */
export class RetryWait implements AdmissionCallback {
  gone = false;
  queued = 0;
  readonly isRetry: boolean;
  readonly #ticket: Ticket;
  readonly #gates: readonly Gate[];
  readonly #clock: Clock;
  readonly #ready: () => void;
  readonly instrumentation: Instrumentation | undefined;
  #startedAt = Number.NaN;
  #delay: Timer | undefined = undefined;
  #passed = 0;
  /** The last gate that it has entered: it waits there, or is about to be sent. */
  #waitsAt: Gate | undefined = undefined;

  constructor(
    ticket: Ticket,
    gates: readonly Gate[],
    { clock, instrumentation }: Pick<DispatchContext<never, unknown>, 'clock' | 'instrumentation'>,
    ready: () => void,
    isRetry: boolean,
  ) {
    this.isRetry = isRetry;
    this.#ticket = ticket;
    this.#gates = gates;
    this.#clock = clock;
    this.instrumentation = instrumentation;
    this.#ready = ready;
  }

  /** @param delayMs 0 for only the gates */
  start(delayMs: number): void {
    this.#startedAt = this.#clock.now();
    if (delayMs === 0) this.#enterGates();
    else {
      this.instrumentation?.queued?.(this.#ticket, 'retry');
      // A listener may have unsubscribed.
      if (this.gone) return;
      this.#delay = this.#clock.setTimer(() => {
        this.#delay = undefined;
        this.#retryWaited(delayMs);
        if (!this.gone) this.#enterGates();
      }, delayMs);
    }
  }

  admitted(): void {
    if (!this.gone) this.#enterGates();
  }

  /** The request waits no longer: books its wait so far. */
  giveUp(): void {
    // Set this first, so that the request cannot pass, whatever listeners of its wait do.
    this.gone = true;
    if (this.#waitsAt === undefined) {
      this.#noteExit();
      this.#retryWaited(this.#clock.now() - this.#startedAt);
    } else this.#waitsAt.bookExit(this.#ticket, this);
    this.cancel();
  }

  /** The request waits no longer, and its wait so far is not booked. */
  cancel(): void {
    if (!this.gone) this.#noteExit();
    this.gone = true;
    this.#delay?.cancel();
    // This may let other requests pass, and one of them may cancel this wait again.
    this.#waitsAt?.left(this);
  }

  /** Notes where the request waits, if it does. */
  #noteExit(): void {
    if (this.queued > 0) this.#waitsAt?.waits.noteExit(this.#ticket, this);
    else if (this.#delay !== undefined && this.instrumentation !== undefined) {
      this.#ticket.gaveUpAt = 'retry';
    }
  }

  /** Its own delay is over, or was cut short. */
  #retryWaited(waitMs: number): void {
    this.#ticket.waited('retry', waitMs, 1);
    this.instrumentation?.admitted?.(this.#ticket, 'retry', waitMs, 1);
  }

  #enterGates(): void {
    for (
      let gate = this.#gates[this.#passed];
      gate !== undefined;
      gate = this.#gates[this.#passed]
    ) {
      this.#passed += 1;
      this.#waitsAt = gate;
      if (!this.isRetry) gate.takeHoldBack(this.#ticket);
      // Leases given back have let other requests pass, and one of them may have cancelled this
      // wait.
      if (this.gone) return;
      // If false, `admitted` is called when the request may pass, or was called already.
      if (!gate.enter(this.#ticket, this)) return;
    }
    if (!this.gone) this.#ready();
  }
}

/** By ticket, the gates of operators that limit attempts, not requests, in the order of passing. */
const passed = new WeakMap<Ticket, readonly Gate[]>();

/** Makes each further attempt of the request pass this gate again. */
export function passesAgain(ticket: Ticket, gate: Gate): void {
  passed.set(ticket, [...(passed.get(ticket) ?? []), gate]);
}

/**
 * The gates that every attempt of a request passes, in the order in which its first attempt passed
 * them: in another order, two requests could each hold the probe that the other one waits for.
 * @param own the gates of its sender. A backoff gate that is not one of them is not passed again
 */
export function attemptGatesOf(ticket: Ticket, own: readonly Gate[]): readonly Gate[] {
  const before = passed.get(ticket);
  if (before === undefined) return own;
  const again = before.filter((gate) => gate.kind !== 'backoff' || own.includes(gate));
  return [...own.filter((gate) => !again.includes(gate)), ...again];
}
