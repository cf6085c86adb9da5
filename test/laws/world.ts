import { BehaviorSubject, type Observable, of, type Subscription } from 'rxjs';
import {
  createLimiter,
  FeedbackSubject,
  type Lease,
  type Limiter,
  throttle,
} from '../../src/index.ts';
import type { Feedback } from '../../src/model/feedback.ts';
import type { Ticket } from '../../src/model/ticket.ts';
import type { AttemptContext } from '../../src/request/attempt-context.ts';
import { LawClock } from './law-clock.ts';
import { isPaced, optionsOf } from './options.ts';
import { ApiCall, errorOf, OWNER, Req } from './requests.ts';
import type { Action, Setup } from './setup.ts';
import { type Open, Stream } from './stream.ts';
import { Warden } from './warden.ts';

/** A rate that adapts minds shorter waits itself. */
const PACED_CLOSURE_MS = 2_000;

/** A held lease. */
export interface Held {
  readonly req: Req;
  readonly lease: Lease;
}

/** The library with all its users, and the warden that watches them. */
export class World {
  readonly setup: Setup;
  readonly clock = new LawClock();
  readonly warden: Warden;
  readonly limiter: Limiter | undefined;
  readonly feedback: FeedbackSubject;
  readonly streams: Stream[] = [];
  readonly calls: ApiCall[] = [];
  readonly held: Held[] = [];
  readonly aborts: { req: Req; controller: AbortController }[] = [];
  readonly traps = new Map<string, Action[]>();
  readonly concurrency: BehaviorSubject<number>;
  listening: Subscription | undefined = undefined;
  drains = 0;
  isClosed = false;
  isHealing = false;
  /** Whether an error is being read that belongs to no attempt. */
  isQuiet = false;
  perform: (action: Action) => void = () => undefined;
  readonly #tasks = new WeakMap<object, Req>();
  readonly #entering: Req[] = [];
  #calls = 0;
  /** Callbacks that do something now, within each other. */
  #sprung = 0;
  /** Those of them, and within them, that tell of what has been decided and not been done. */
  #pending = 0;
  /** Answers to attempts, which may be told within each other. */
  readonly #answers = new WeakSet<Feedback>();

  constructor(setup: Setup) {
    this.setup = setup;
    const { clock } = this;
    this.warden = new Warden(setup, clock, (ticket) => this.#reqOf(ticket));
    this.concurrency = new BehaviorSubject(setup.concurrency);
    const { backoff, ...options } = optionsOf(setup, {
      spring: (name) => this.spring(name),
      isQuiet: () => this.isQuiet,
    });
    // A limit of `credits` is refused where nothing can charge it.
    const costs = () => ({});
    if (setup.api === 'limiter') {
      this.limiter = createLimiter({ ...options, clock, backoff, concurrency: setup.concurrency });
      this.feedback = this.limiter.feedback;
      this.#markAnswers();
      if (setup.hasListener) {
        this.listening = this.limiter.events$.subscribe(() => this.spring('event'));
      }
      this.#listen();
      const { limiter } = this;
      this.#open = (results) => limiter.throttle(this.project, { costs, ...results });
    } else {
      this.limiter = undefined;
      this.feedback = new FeedbackSubject({ ...backoff, clock });
      this.#markAnswers();
      this.#listen();
      const concurrency = setup.hasListener ? this.concurrency : setup.concurrency;
      const all = { ...options, costs, concurrency, feedback: this.feedback };
      this.#open = (results) => throttle(this.project, { ...all, ...results });
    }
  }

  readonly #open: Open;

  /** Does what was to be done in the next callback of this name. */
  spring(name: string): void {
    // These are told when a part of what an attempt has changed is counted, in an order of its own.
    const isPartial = name === 'changed' || name === 'event';
    if (isPartial && this.setup.circuitBreaker && this.setup.adaptive) return;
    const action = this.traps.get(name)?.shift();
    if (action === undefined || this.isHealing) return;
    // Told of what has been decided and not been done: it would be done in a world that has
    // changed.
    const isPending = name === 'admitted' || name === 'event' || name === 'backoff';
    // The same within the callbacks of what is done there; and what was charged by then stays so.
    const isWithin = isPending || this.#pending > 0;
    if (isWithin && /push|release|answer|value|record|configure/.test(action.do)) return;
    if (isPending) this.warden.disturbedAt = this.clock.now();
    if (name === 'changed') this.warden.isCrowded = true;
    this.#sprung += 1;
    this.#pending += isWithin ? 1 : 0;
    try {
      this.perform(action);
    } finally {
      this.#pending -= isWithin ? 1 : 0;
      this.#sprung -= 1;
    }
  }

  subscribe(): void {
    const stream = new Stream(this.setup, this.warden, (name) => this.spring(name));
    this.streams.push(stream);
    stream.subscribe(this.#open);
  }

  get callsSoFar(): number {
    return this.#calls;
  }

  /** Counts the calls of the library, which may lie within each other. */
  enter(req: Req, call: () => void): void {
    this.warden.requests.push(req);
    this.#entering.push(req);
    req.begunAt = this.#calls++;
    try {
      call();
    } finally {
      req.enteredAt = this.#calls++;
      this.#entering.pop();
    }
  }

  hold(req: Req, lease: Lease): void {
    if (req.id % 3 === 0) lease.recordTokens(req.bytes % 6);
    if (this.isHealing) {
      req.lastAnswer = 'ok';
      req.end('ok');
      lease.release();
    } else this.held.push({ req, lease });
  }

  close(isRejecting = false): void {
    this.isClosed = true;
    this.limiter?.close({ waiting: isRejecting ? 'reject' : 'send' });
  }

  pause(): void {
    if (this.limiter === undefined) return;
    // What is told of in a decision that was made already goes on.
    this.warden.pausedAt = this.#sprung > 0 ? this.clock.now() : Number.NEGATIVE_INFINITY;
    this.limiter.pause();
  }

  resume(): void {
    this.warden.pausedAt = Number.POSITIVE_INFINITY;
    this.limiter?.resume();
  }

  drain(): void {
    this.drains += 1;
    void this.limiter?.drain().then(() => {
      this.drains -= 1;
    });
  }

  belongs(key: object, req: Req): void {
    this.#tasks.set(key, req);
  }

  /** What is called for each attempt. */
  readonly project = (req: Req, context?: AttemptContext): Promise<Req> | Observable<Req> => {
    this.spring('project');
    context?.signal.addEventListener('abort', () => this.spring('abort'));
    if (req.id % 3 === 0) context?.recordTokens(req.bytes % 6);
    const [answer, when] = this.isHealing ? (['ok', 'soon'] as const) : req.plan;
    if (when === 'sync' && req.attempts < 3) {
      req.lastAnswer = answer;
      if (answer !== 'ok') throw errorOf(answer);
      return req.shape === 'observable' ? of(req) : Promise.resolve(req);
    }
    const call = new ApiCall(req, context);
    this.calls.push(call);
    if (this.isHealing || (when === 'soon' && req.attempts < 3))
      queueMicrotask(() => call.answer(answer));
    return call.result(() => this.spring('teardown'));
  };

  /** Where the rate adapts, of what answers to attempts name, long waits alone close the gate. */
  #markAnswers(): void {
    if (!isPaced(this.setup)) return;
    const { feedback } = this;
    const answered = feedback.answered.bind(feedback);
    feedback.answered = (answer, leastMs, cause) => {
      this.#answers.add(answer);
      answered(answer, leastMs, cause);
    };
  }

  #listen(): void {
    if (!this.setup.isHeard) return;
    this.feedback.subscribe((feedback) => {
      const leastMs = this.#answers.has(feedback) ? PACED_CLOSURE_MS : 0;
      this.warden.attempts.heard(feedback, leastMs);
      this.spring('feedback');
    });
  }

  #reqOf(ticket: Ticket): Req | undefined {
    const { value, costs } = ticket;
    let req = value instanceof Req ? value : undefined;
    req ??=
      (typeof value === 'function' ? this.#tasks.get(value) : undefined) ??
      (costs && OWNER in costs ? (costs[OWNER] as Req) : undefined);
    req ??= this.warden.requests.find((other) => other.ticket === ticket);
    // Who says nothing of a request is known by being new, or else has it served in turn.
    const isNameless = (other: Req) =>
      value === undefined &&
      other.via === 'acquire' &&
      other.isPlain &&
      other.ticket === undefined &&
      other.waits;
    req ??= this.#entering.slice(-1).find(isNameless) ?? this.warden.requests.find(isNameless);
    if (req !== undefined) req.ticket ??= ticket;
    return req;
  }
}
