import { Observable, Subject } from 'rxjs';
import {
  Backoff,
  DEFAULT_BACKOFF_MS,
  DEFAULT_LARGE_BACKOFF_MS,
  DEFAULT_MAX_RETRY_AFTER_MS,
  DEFAULT_THROTTLED_FOR_MS,
  LARGE_REQUEST_BYTES,
  type Reopen,
} from '../core/backoff.ts';
import type { Core, ModeState } from '../core/core.ts';
import { checkChoice, checkInteger, checkKeys, checkMethods, checkNumber } from '../model/check.ts';
import { type Clock, checkClock, type Timer } from '../model/clock.ts';
import { FEEDBACK_KINDS, type Feedback, type Mode, type ReportedLimit } from '../model/feedback.ts';
import { partsOf } from '../model/join-probes.ts';
import { checkProbe, contain, type Probe } from '../model/probe.ts';
import type { Reading } from '../model/reading.ts';
import { Gate } from '../queue/gate.ts';
import { systemClock } from '../queue/system-clock.ts';
import { BackoffPart } from './backoff-part.ts';
import { positive } from './positive.ts';

/** The grain of timers. A shorter wait might round to none, and the gate would not close at all. */
const SHORTEST_BACKOFF_MS = 1;

export interface BackoffOptions {
  /** Wait after a 429 without retry-after, for a request of up to 128 KiB. Default 1000 ms. */
  readonly backoffMs?: number;
  /** The same for a larger request. Default 5000 ms. */
  readonly largeBackoffMs?: number;
  /** Longest wait that a provider may ask for. Default 60,000 ms. */
  readonly maxRetryAfterMs?: number;
  /** Throttled mode outlasts the backoff by this. Default 10,000 ms. */
  readonly throttledForMs?: number;
  /** `'probe'` (default): one request tests before all go. `'all'`: everyone goes at once. */
  readonly reopen?: Reopen;
  /** Default: real time. */
  readonly clock?: Clock;
  readonly probe?: Probe;
}

/** The options of the backoff itself. */
export const BACKOFF_KEYS = [
  'backoffMs',
  'largeBackoffMs',
  'maxRetryAfterMs',
  'throttledForMs',
  'reopen',
] as const;

const KEYS = [...BACKOFF_KEYS, 'clock', 'probe'] as const;

/** @throws RangeError or TypeError that names a wrong option */
export function checkBackoffOptions(options: BackoffOptions): void {
  checkKeys('FeedbackSubject', options, KEYS);
  checkClock(options.clock);
  checkProbe(options.probe);
  const { backoffMs, largeBackoffMs, maxRetryAfterMs, throttledForMs, reopen } = options;
  if (backoffMs !== undefined) checkInteger('backoffMs', backoffMs, 1);
  if (largeBackoffMs !== undefined) checkInteger('largeBackoffMs', largeBackoffMs, 1);
  if (maxRetryAfterMs !== undefined) checkNumber('maxRetryAfterMs', maxRetryAfterMs, 1);
  if (throttledForMs !== undefined) checkNumber('throttledForMs', throttledForMs, 0);
  if (reopen !== undefined) checkChoice('reopen', reopen, ['probe', 'all']);
}

/** A probe that is shown the state. */
interface Shown {
  times: number;
  readonly close: (() => void) | undefined;
}

/** Whether it is a reason to send nothing for a while; an overload is if it names one. */
function closes({ kind }: Feedback, retryAfterMs: number | undefined): boolean {
  return kind === 'throttled' || (kind === 'overloaded' && retryAfterMs !== undefined);
}

/** What a provider says may be anything; what kind of answer it is comes from code. */
function checkFeedback(feedback: Feedback): void {
  checkMethods('feedback', feedback, []);
  checkChoice('feedback.kind', feedback.kind, FEEDBACK_KINDS);
}

/**
 * What attempts say about the provider, and what follows from it: the backoff and the mode.
 *
 * Operators that are given the same subject slow down together. Push into it what you learn
 * elsewhere, from another process say; subscribe to it to see every answer.
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
  /** The mode now, then each change. Its timer runs only while somebody listens. */
  readonly mode$: Observable<Mode>;
  readonly #gate: Gate<Backoff>;
  readonly #backoffMs: number;
  readonly #largeBackoffMs: number;
  /** Who is told of backoffs, and for how many. */
  readonly #probes = new Map<Probe, number>();
  /** Who is shown the state, and for how many. */
  readonly #shown = new Map<Probe, Shown>();
  /** Senders that find that the provider lets nothing in. */
  readonly #outages = new Set<object>();
  /** The mode may have changed. */
  readonly #looks = new Subject<void>();
  /** Wake those who wait elsewhere until something has changed here. */
  #waiting: (() => void)[] = [];

  /** @throws RangeError or TypeError that names a wrong option */
  constructor(options: BackoffOptions = {}) {
    super();
    checkBackoffOptions(options);
    const { reopen = 'probe', throttledForMs = DEFAULT_THROTTLED_FOR_MS } = options;
    this.clock = options.clock ?? systemClock;
    this.maxRetryAfterMs = options.maxRetryAfterMs ?? DEFAULT_MAX_RETRY_AFTER_MS;
    this.#backoffMs = options.backoffMs ?? DEFAULT_BACKOFF_MS;
    this.#largeBackoffMs = options.largeBackoffMs ?? DEFAULT_LARGE_BACKOFF_MS;
    const probe = contain(options.probe);
    this.watch(probe);
    const core = new Backoff(reopen, throttledForMs);
    this.#gate = new Gate('backoff', core, this.clock, probe, { isShared: true });
    this.gate.core.onProbeBack = () => this.#drain();
    this.mode$ = this.#watchMode();
  }

  /**
   * @internal where requests wait for the backoff to end: one queue for all who share it. A getter,
   * so that whoever prints this object does not print those who wait.
   */
  get gate(): Gate<Backoff> {
    return this.#gate;
  }

  /**
   * `throttled` until `throttledForMs` after the last 429, and after the wait that it named; `outage`
   * while a stream or limiter whose rate adapts finds that the provider lets nothing in.
   */
  get mode(): Mode {
    if (this.#outages.size > 0) return 'outage';
    return this.clock.now() < this.gate.core.throttledUntil ? 'throttled' : 'normal';
  }

  /** No request is sent before this time of the clock; undefined while none has been rejected. */
  get backoffUntil(): number | undefined {
    const { until } = this.gate.core;
    return until === Number.NEGATIVE_INFINITY ? undefined : until;
  }

  /** Counts the backoffs so far. */
  get epoch(): number {
    return this.gate.core.epoch;
  }

  /** @internal tells a probe of backoffs, once however often it watches, until all have stopped */
  watch(probe: Probe | undefined): () => void {
    if (probe === undefined) return () => {};
    const parts = partsOf(probe);
    for (const part of parts) this.#probes.set(part, (this.#probes.get(part) ?? 0) + 1);
    return () => {
      for (const part of parts) {
        const left = (this.#probes.get(part) ?? 0) - 1;
        if (left > 0) this.#probes.set(part, left);
        else this.#probes.delete(part);
      }
    };
  }

  /**
   * @internal tells a probe of backoffs, and shows it the mode and who waits, once however often it is
   * asked to, until all have stopped
   */
  show(probe: Probe): () => void {
    const unwatch = this.watch(probe);
    const closers = partsOf(probe).map((part) => this.#showTo(part));
    return () => {
      for (const close of closers) close();
      unwatch();
    };
  }

  #showTo(part: Probe): () => void {
    let shown = this.#shown.get(part);
    if (shown === undefined) {
      shown = { times: 0, close: part.opened?.(() => this.#reading()) };
      this.#shown.set(part, shown);
    }
    shown.times += 1;
    const { close } = shown;
    return () => {
      const { times } = shown;
      shown.times = times - 1;
      if (times > 1) return;
      this.#shown.delete(part);
      close?.();
    };
  }

  #reading(): Reading {
    const { state } = this.gate.core.snapshot(this.clock.now());
    return { waiting: this.gate.waitingByKind, mode: this.mode, isBackingOff: state === 'closed' };
  }

  /**
   * @internal the backoff as part of another gate, which asks more of an attempt than this
   * @param wake lets that gate ask again
   */
  partOf(wake: () => void): Core<number> {
    return new BackoffPart(this.gate.core, () => {
      if (!this.#waiting.includes(wake)) this.#waiting.push(wake);
    });
  }

  /** @internal the time of the backoff alone, without probes: for gates behind its own */
  get closing(): Core<number> {
    const { core } = this.gate;
    return {
      wait: (_demand, now) => Math.max(0, core.until - now),
      take: () => 0,
      giveBack: () => {},
      snapshot: (now) => core.snapshot(now),
    };
  }

  /** @internal */
  get modeState(): ModeState {
    return this.gate.core;
  }

  /**
   * Takes in what an answer says, tells the subscribers, then lets pass whoever may.
   * @throws TypeError for a kind that there is none; a wait that makes no sense is ignored
   */
  override next(feedback: Feedback): void {
    this.#take(feedback, 0);
  }

  /**
   * @internal the same for the answer to an attempt of an operator or a limiter
   * @param leastMs the least wait that closes the gate. Of shorter ones, and of rejections that name
   *   none, the subscribers are told alone: the sender's adaptive rate handles them.
   */
  answered(feedback: Feedback, leastMs: number): void {
    this.#take(feedback, leastMs);
  }

  #take(feedback: Feedback, leastMs: number): void {
    checkFeedback(feedback);
    const { core } = this.gate;
    const epoch = feedback.epoch ?? core.epoch;
    const retryAfterMs = positive(feedback.retryAfterMs);
    if (feedback.kind === 'ok') core.accept(epoch, this.clock.now());
    else if ((retryAfterMs ?? 0) >= leastMs && closes(feedback, retryAfterMs)) {
      this.#close(feedback, retryAfterMs, epoch);
    } else if (feedback.kind === 'throttled') this.slowDown();
    if (!this.closed) super.next(feedback);
    this.#drain();
  }

  /** @internal the same as `next({kind: 'ok', …})`, for the many times when nobody listens */
  accept(epoch: number, bytes: number, limits?: readonly ReportedLimit[]): void {
    if (this.observed) this.next({ kind: 'ok', epoch, bytes, ...(limits && { limits }) });
    else if (this.gate.core.isUntested && this.gate.core.accept(epoch, this.clock.now())) {
      this.#drain();
    }
  }

  /** Lets pass whoever may, here and elsewhere. */
  #drain(): void {
    this.gate.drain();
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  #close(feedback: Feedback, retryAfterMs: number | undefined, epoch: number): void {
    const computedMs =
      (feedback.bytes ?? 0) <= LARGE_REQUEST_BYTES ? this.#backoffMs : this.#largeBackoffMs;
    const askedMs = Math.max(retryAfterMs ?? computedMs, SHORTEST_BACKOFF_MS);
    const waitMs = Math.min(askedMs, this.maxRetryAfterMs);
    const { core } = this.gate;
    const now = this.clock.now();
    const openAt = Math.max(core.until, now);
    const isNewMode = now >= core.throttledUntil;
    core.reject(waitMs, epoch, now);
    const change = { addedMs: core.until - openAt };
    const source = retryAfterMs === undefined ? 'computed' : 'retry_after';
    for (const probe of this.#probes.keys()) probe.backoff?.(waitMs, source, change);
    this.#modeChanged(isNewMode ? 'throttled' : undefined);
  }

  /**
   * @internal a rate that adapts was asked to slow down: that begins the mode, and closes nothing
   */
  slowDown(): void {
    const { core } = this.gate;
    const now = this.clock.now();
    const isNewMode = now >= core.throttledUntil;
    core.throttle(now);
    this.#modeChanged(isNewMode ? 'throttled' : undefined);
  }

  /** @internal whether a sender finds that the provider lets nothing in */
  setOutage(sender: object, isOut: boolean): void {
    const { size } = this.#outages;
    if (isOut) this.#outages.add(sender);
    else this.#outages.delete(sender);
    if (this.#outages.size !== size) this.#modeChanged(size === 0 ? 'outage' : undefined);
  }

  /** @param begun the mode that has just begun, if one has */
  #modeChanged(begun: Mode | undefined): void {
    if (begun !== undefined) for (const probe of this.#probes.keys()) probe.modeBegan?.(begun);
    this.#looks.next();
  }

  #watchMode(): Observable<Mode> {
    return new Observable((subscriber) => {
      let last: Mode | undefined;
      let timer: Timer | undefined;
      const look = () => {
        timer?.cancel();
        const mode = this.mode;
        const leftMs = this.gate.core.throttledUntil - this.clock.now();
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
