import { runInNoContext } from '../telemetry/context-propagator.ts';
import type { Clock, Timer } from '../util/clock.ts';
import { isError, print } from '../util/print.ts';
import type { ExchangeReply, ExchangeRequest } from './protocol.ts';
import type { StoreCalls } from './shared-store.ts';

/** The delay before a failed call is first repeated. It doubles with each repetition. */
const FIRST_RETRY_MS = 20;
const LONGEST_RETRY_MS = 250;
/**
 * After a call that was not answered in time the delay grows fourfold, since its reply may still
 * come: repetitions for many keys would keep a slow store busy, and a dead connection from looking
 * idle, which is how clients detect it.
 */
const LATE_FACTOR = 4;
const LONGEST_LATE_RETRY_MS = 2_500;
/** After this number of failures of one call, or after one timeout, the store counts as away. */
const FAILURES = 2;
/**
 * If a timer fires this late, in ms, the process was stopped: an answer may have arrived unread.
 */
const STOOD_STILL_MS = 100;

/** Is called with the results of calls. */
export interface CallListener {
  /**
   * @param sentAt when the call was sent; the store made its reply after that
   * @param repeatedMs how long before that the call was first made; it may have been answered then
   */
  answered(reply: ExchangeReply, sentAt: number, now: number, repeatedMs: number): void;
  lost(error: Error, now: number): void;
  back(awayMs: number, now: number): void;
  /** One attempt of a call has ended: it was answered, has failed or was too slow. */
  called(tookMs: number, isAnswered: boolean, now: number): void;
  /**
   * Called before a call is repeated, with its request.
   * @param now the time of the clock
   * @returns the request to send: the same one, or one that says what the worker holds now
   */
  repeated(request: ExchangeRequest, now: number): ExchangeRequest;
  /** Whether requests wait for the answer, so that the process must stay up. */
  isAwaited(): boolean;
}

/** Counts of calls, for gauges. */
export interface CallCounts {
  /** Answered calls. */
  calls: number;
  /** Calls that failed or were too slow. */
  failures: number;
  /** How long the last answered call took, in ms. */
  latencyMs: number;
}

/**
 * Makes one call at a time, and repeats it until it is answered. The store recognizes a repeated
 * call by its number, and grants only once.
 */
export class StoreCaller {
  readonly counts: CallCounts = { calls: 0, failures: 0, latencyMs: 0 };
  private readonly store: StoreCalls;
  private readonly clock: Clock;
  private readonly timeoutMs: number;
  private readonly listener: CallListener;
  private pending: ExchangeRequest | undefined = undefined;
  private failed = 0;
  /** The failures among `failed` that were timeouts. */
  private late = 0;
  /** When the last call was made, and when its last attempt began. */
  private calledAt = 0;
  private triedAt = 0;
  private lostAt: number | undefined = undefined;
  /** The timer of the next repetition, or of the timeout. */
  private timer: Timer | undefined = undefined;
  private isClosed = false;

  constructor(store: StoreCalls, clock: Clock, timeoutMs: number, listener: CallListener) {
    this.store = store;
    this.clock = clock;
    this.timeoutMs = timeoutMs;
    this.listener = listener;
  }

  get isBusy(): boolean {
    return this.pending !== undefined;
  }

  /** Whether the store cannot be reached. */
  get isAway(): boolean {
    return this.lostAt !== undefined;
  }

  /** Makes a call. No other call may be pending. */
  call(request: ExchangeRequest): void {
    this.pending = request;
    this.failed = 0;
    this.late = 0;
    this.attempt(request);
  }

  /** The last call, which may follow one that is pending. It is not repeated. */
  end(request: ExchangeRequest): void {
    this.isClosed = true;
    this.timer?.cancel();
    this.pending = request;
    this.attempt(request);
  }

  private attempt(request: ExchangeRequest): void {
    const sentAt = this.clock.now();
    this.triedAt = sentAt;
    if (this.failed === 0) this.calledAt = sentAt;
    let reply!: ExchangeReply | Promise<ExchangeReply>;
    try {
      // A call serves all requests, and its timer may have been set by any of them: spans of the
      // store's client must not appear below that one.
      runInNoContext(() => {
        reply = this.store.exchange(request);
      });
    } catch (error) {
      this.fail(request, error, false);
      return;
    }
    if (!isThenable(reply)) {
      this.answer(request, reply, sentAt);
      return;
    }
    let isLate = false;
    if (!this.isClosed)
      this.setTimeout(sentAt, () => {
        isLate = true;
        this.fail(request, new Error(`the store did not answer within ${this.timeoutMs} ms`), true);
      });
    reply.then(
      // A late reply counts too, while the call is pending: a repetition would get the same one.
      (answer) => this.answer(request, answer, sentAt),
      (error: unknown) => {
        if (!isLate) this.fail(request, error, false);
      },
    );
  }

  private setTimeout(sentAt: number, isLate: () => void): void {
    const { clock, timeoutMs, listener } = this;
    const fire = () => {
      const hasStoodStill = clock.now() > sentAt + timeoutMs + STOOD_STILL_MS;
      if (hasStoodStill) this.timer = clock.setTimer(isLate, STOOD_STILL_MS, listener.isAwaited());
      else isLate();
    };
    this.timer = clock.setTimer(fire, timeoutMs, listener.isAwaited());
  }

  private answer(request: ExchangeRequest, reply: ExchangeReply, sentAt: number): void {
    if (this.pending !== request) return;
    this.pending = undefined;
    this.timer?.cancel();
    this.timer = undefined;
    const now = this.clock.now();
    this.counts.calls += 1;
    this.counts.latencyMs = now - sentAt;
    this.listener.called(now - sentAt, true, now);
    const { lostAt } = this;
    this.lostAt = undefined;
    if (this.isClosed) return;
    if (lostAt !== undefined) this.listener.back(now - lostAt, now);
    this.listener.answered(reply, sentAt, now, sentAt - this.calledAt);
  }

  private fail(request: ExchangeRequest, error: unknown, isLate: boolean): void {
    if (this.pending !== request || this.isClosed) return;
    this.failed += 1;
    if (isLate) this.late += 1;
    this.counts.failures += 1;
    const now = this.clock.now();
    this.listener.called(now - this.triedAt, false, now);
    if ((isLate || this.failed >= FAILURES) && this.lostAt === undefined) {
      this.lostAt = now;
      this.listener.lost(isError(error) ? error : new Error(print(error)), now);
    }
    // The listener may have ended the calls.
    if (this.isClosed) return;
    const delayMs = isLate
      ? grown(LATE_FACTOR, this.late, LONGEST_LATE_RETRY_MS)
      : grown(2, this.failed, LONGEST_RETRY_MS);
    this.timer?.cancel();
    this.timer = this.clock.setTimer(
      () => {
        this.pending = this.listener.repeated(request, this.clock.now());
        this.attempt(this.pending);
      },
      delayMs,
      this.listener.isAwaited(),
    );
  }
}

function grown(factor: number, times: number, longestMs: number): number {
  return Math.min(longestMs, FIRST_RETRY_MS * factor ** (times - 1));
}

function isThenable(reply: object): reply is Promise<ExchangeReply> {
  return 'then' in reply && typeof reply.then === 'function';
}
