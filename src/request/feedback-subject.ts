import { Observable, Subject } from 'rxjs';
import type { Feedback, Mode, ReportedLimit } from '../model/feedback.ts';
import { checkInstrumentation, contain, type Instrumentation } from '../model/instrumentation.ts';
import { Backoff, type OnLongWait, type Reopen } from '../policies/backoff.ts';
import { BACKOFF_DEFAULTS, BackoffPart, FEEDBACK_OPTIONS } from '../policies/backoff-policy.ts';
import { checkOptions } from '../policies/option.ts';
import type { Policy } from '../policies/policy.ts';
import { verdictOf } from '../providers/classify.ts';
import { Gate } from '../queue/gate.ts';
import { checkKeys } from '../util/check.ts';
import { type Clock, checkClock, systemClock, type Timer } from '../util/clock.ts';
import { withoutUndefined } from '../util/without-undefined.ts';
import { ProviderState, type Sender } from './provider-state.ts';

/** Options of a `FeedbackSubject`: how a 429 closes the gate, and when it opens again. */
export interface BackoffOptions {
  /**
   * Wait after a 429 without retry-after, for a request of up to 128 KiB, in ms, an integer >= 1.
   * Default 1000.
   */
  readonly backoffMs?: number;
  /** The same for a larger request. Default 5000. */
  readonly largeBackoffMs?: number;
  /** The longest wait that a provider may ask for, in ms, >= 1. Default 600,000. */
  readonly maxRetryAfterMs?: number;
  /** Whether all requests fail (default) or wait when it asks for a longer one. */
  readonly onLongWait?: OnLongWait;
  /**
   * How long requests wait for a provider that cannot be reached, in ms, >= 0; Infinity: no bound.
   * Default 600,000.
   */
  readonly outageMs?: number;
  /** How long throttled mode lasts after the backoff, in ms, >= 0. Default 10,000. */
  readonly throttledForMs?: number;
  /**
   * `'probe'` (default): one request is sent first, the others after it succeeded. `'all'`: all at
   * once.
   */
  readonly reopen?: Reopen;
  /** Default: real time. */
  readonly clock?: Clock;
  /** Receives its backoffs, modes and outages. Default: none. */
  readonly instrumentation?: Instrumentation;
}

const KEYS = [...Object.keys(FEEDBACK_OPTIONS), 'clock', 'instrumentation'];

function isUsedUp({ remaining }: ReportedLimit): boolean {
  return remaining === 0;
}

/** The user's own feedback: every wait closes the gate. */
const USER: Sender = { leastClosureMs: 0 };

/**
 * Collects the feedback of attempts about the provider, and keeps the resulting backoff and mode.
 *
 * Operators with the same subject slow down together. Push feedback from elsewhere into it, for
 * example from another process, and subscribe to it to see every answer.
 *
 * A `throttled` feedback (and an `overloaded` one that names a wait) closes the backoff gate and
 * starts throttled mode. Nothing but time, and then a successful probe, opens it again.
 *
 * @example
 * const feedback = new FeedbackSubject();
 * feedback.mode$.subscribe((mode) => console.log(mode));
 * prompts$.pipe(throttle(send, { feedback })).subscribe();
 */
export class FeedbackSubject extends Subject<Feedback> {
  readonly clock: Clock;
  readonly maxRetryAfterMs: number;
  /** Emits the present mode, then each change. Its timer runs only while there are subscribers. */
  readonly mode$: Observable<Mode>;
  readonly #gate: Gate<Backoff>;
  readonly #provider: ProviderState;
  /** The mode may have changed. */
  readonly #looks = new Subject<void>();
  /** Callbacks that wake other gates whose requests wait for this backoff. */
  #waiting: (() => void)[] = [];

  /** @throws RangeError or TypeError that names a wrong option */
  constructor(options: BackoffOptions = {}) {
    super();
    checkKeys('FeedbackSubject', options, KEYS);
    checkClock(options.clock);
    checkInstrumentation(options.instrumentation);
    checkOptions(FEEDBACK_OPTIONS, options);
    const rules = { ...BACKOFF_DEFAULTS, ...withoutUndefined(options) };
    this.clock = options.clock ?? systemClock;
    this.maxRetryAfterMs = rules.maxRetryAfterMs;
    const instrumentation = contain(options.instrumentation);
    const policy = new Backoff(rules.reopen, rules.throttledForMs, rules.outageMs);
    policy.onProbeBack = () => this.#drain();
    this.#gate = new Gate('backoff', policy, this.clock, instrumentation, { isShared: true });
    this.#provider = new ProviderState(rules, this.#gate, this.clock, () => this.#looks.next());
    this.#provider.users.watch(instrumentation);
    this.mode$ = this.#watchMode();
  }

  /**
   * @internal the gate where requests wait for the backoff to end, one for all that share it. A
   * getter, so that printing this object does not print the queue.
   */
  get gate(): Gate<Backoff> {
    return this.#gate;
  }

  /**
   * `throttled` until `throttledForMs` after the last 429, and after the wait that it named;
   * `outage` while the provider cannot be reached, or while the adaptive rate of a stream or
   * limiter finds that the provider rejects everything.
   */
  get mode(): Mode {
    return this.gate.policy.modeAt(this.clock.now());
  }

  /** No request is sent before this time of the clock; undefined while none has been rejected. */
  get backoffUntil(): number | undefined {
    const { until } = this.gate.policy;
    return until === Number.NEGATIVE_INFINITY ? undefined : until;
  }

  /** Counts the backoffs and outages so far. */
  get epoch(): number {
    return this.gate.policy.epoch;
  }

  /** @internal decides what follows from answers, and from reports of others about the provider */
  get provider(): ProviderState {
    return this.#provider;
  }

  /**
   * @internal the backoff as one policy of another gate
   * @param wake makes that gate decide again
   */
  partOf(wake: () => void): Policy<number> {
    return new BackoffPart(this.gate.policy, () => {
      if (!this.#waiting.includes(wake)) this.#waiting.push(wake);
    });
  }

  /** @internal changes the rules from the next rejection on */
  setBackoff(options: Pick<BackoffOptions, 'reopen' | 'throttledForMs'>): void {
    const { reopen, throttledForMs } = { ...BACKOFF_DEFAULTS, ...withoutUndefined(options) };
    this.gate.policy.configure(reopen, throttledForMs);
  }

  /**
   * Records an answer that others received, emits it to the subscribers, then lets waiting requests
   * pass. The adaptive rate learns from a rejection, and from the limits that it reports, as from
   * one of a request that was sent just now.
   * @throws TypeError for an unknown kind. An unusable wait is ignored
   */
  override next(feedback: Feedback): void {
    this.#provider.users.hear(verdictOf(feedback));
    this.#take(feedback, USER, undefined);
  }

  /**
   * @internal the same for an attempt of an operator or a limiter, whose verdict was checked
   * @param sender waits shorter than its `leastClosureMs`, and rejections without one, are only
   *   emitted to the subscribers: the sender's adaptive rate handles them
   * @param cause the error of the attempt
   */
  answered(feedback: Feedback, sender: Sender, cause: unknown): void {
    this.#take(feedback, sender, cause);
  }

  #take(feedback: Feedback, sender: Sender, cause: unknown): void {
    this.#provider.answered(feedback, sender, cause);
    if (!this.closed) super.next(feedback);
    this.#drain();
  }

  /**
   * @internal the same for an attempt that was accepted, without an object where there is no
   *   subscriber. A used-up limit slows a sender down whose adaptive rate handles rejections
   */
  accept(
    epoch: number,
    bytes: number,
    sender: Sender = USER,
    limits?: readonly ReportedLimit[],
  ): void {
    if (sender.leastClosureMs > 0 && limits?.some(isUsedUp) === true) this.#provider.slowDown();
    if (this.observed) {
      this.#take({ kind: 'ok', epoch, bytes, ...(limits && { limits }) }, USER, undefined);
    } else if (this.gate.policy.isDoubted) {
      const wasOut = this.#provider.reached(epoch);
      if (this.gate.policy.accept(epoch, this.clock.now()) || wasOut) this.#drain();
    }
  }

  /** Lets requests pass here, and at the other gates that share this backoff. */
  #drain(): void {
    this.gate.drain();
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  #watchMode(): Observable<Mode> {
    return new Observable((subscriber) => {
      let last: Mode | undefined;
      let timer: Timer | undefined;
      const look = () => {
        timer?.cancel();
        const mode = this.mode;
        const leftMs = this.gate.policy.throttledUntil - this.clock.now();
        if (leftMs > 0) {
          timer = this.clock.setTimer(look, leftMs, false);
        }
        if (mode === last) return;
        last = mode;
        subscriber.next(mode);
      };
      subscriber.add(this.#looks.subscribe(look));
      subscriber.add(() => timer?.cancel());
      look();
    });
  }
}
