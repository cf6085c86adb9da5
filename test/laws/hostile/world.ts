import { Subject, type Subscription } from 'rxjs';
import { createLimiter, createLimiterGroup, Sized, throttle } from '../../../src/index.ts';
import type { AttemptContext } from '../../../src/request/attempt-context.ts';
import { LawClock } from '../law-clock.ts';
import { Callbacks } from './callbacks.ts';
import type { Setup, Step } from './script.ts';
import { UNPRINTABLE } from './unprintable.ts';
import { Call, type Held, Req, sender } from './users.ts';

/** Three keys of a group. */
const keyOf = ({ id }: Req) => `${id % 3}`;

/** A subscription, and its emissions. */
interface Stream {
  state: 'open' | 'ended';
  readonly arrived: Req[];
}

/** The library with users whose callbacks throw. */
export class World {
  readonly clock = new LawClock();
  readonly requests: Req[] = [];
  readonly limiter;
  readonly group;
  readonly streams: Stream[] = [];
  readonly #callbacks: Callbacks;
  readonly #setup: Setup;
  readonly #calls: Call[] = [];
  readonly #held: Held[] = [];
  readonly #aborts: AbortController[] = [];
  #source = new Subject<Sized<Req>>();
  #subscription: Subscription | undefined;

  constructor(setup: Setup) {
    this.#setup = setup;
    this.#callbacks = new Callbacks(setup);
    const { clock } = this;
    const { random, classify, instrumentation, ...rest } = this.#callbacks.options();
    const around = {
      clock,
      random,
      ...(classify && { classify }),
      ...(instrumentation && { instrumentation }),
    };
    const options = { ...this.#limits(), ...rest };
    const { api, concurrency } = setup;
    this.limiter = api === 'limiter' ? createLimiter({ ...around, ...options }) : undefined;
    const limits = { requests: { limit: 3, windowMs: 400 } };
    const shared = {
      concurrency: concurrency + 1,
      ...(setup.sharesLimits && { limits, onLimit: setup.onLimit }),
    };
    this.group =
      api === 'group'
        ? createLimiterGroup(keyOf, { ...around, each: options, shared, idleMs: 100 })
        : undefined;
    const listener = { next: () => this.#callbacks.call('event') };
    if (this.#callbacks.mayThrow('event')) {
      this.limiter?.events$.subscribe(listener);
      this.group?.events$.subscribe(listener);
    }
    const stream = { outcomes: setup.outcomes, ordered: setup.ordered, ...this.#said() };
    this.#open = this.limiter
      ? this.limiter.throttle(this.#project, stream)
      : this.group
        ? this.group.throttle(this.#project, stream)
        : throttle(this.#project, { ...around, ...options, ...stream });
  }

  readonly #open;

  async play({ do: what, a, b, ms }: Step): Promise<void> {
    const isPromise = this.limiter !== undefined || this.group !== undefined;
    if (what === 'stream') this.#next();
    else if (what === 'answer') this.#take(this.#calls, a)?.answer();
    else if (what === 'fail') this.#take(this.#calls, a)?.failWith(b);
    else if (what === 'release') this.#release(a, b);
    else if (what === 'abort') this.#take(this.#aborts, a)?.abort();
    else if (what === 'unsubscribe') this.#leave();
    else if (what === 'timeout') this.#timeout(b);
    else if (what === 'move') this.#move(a, b);
    else if (what === 'acquire' && isPromise) this.#acquire(b);
    else if ((what === 'run' || what === 'wrap') && isPromise) this.#run(what, b);
    await this.clock.advanceAsync(ms);
  }

  /** From now on all attempts succeed and no callback throws: everything must end. */
  async heal(): Promise<void> {
    this.#callbacks.areKind = true;
    this.#source.complete();
    const isDone = () =>
      this.requests.every(({ ends, isGone }) => ends > 0 || isGone) && this.#calls.length === 0;
    for (let round = 0; round < 250 && !(round > 2 && isDone()); round += 1) {
      while (this.#calls.length > 0) this.#take(this.#calls, 0)?.answer();
      while (this.#held.length > 0) this.#release(0, 1);
      await this.clock.advanceAsync(2_000);
    }
    this.limiter?.close();
    await this.group?.drain();
    await this.clock.advanceAsync(1_000);
  }

  #limits() {
    const { adaptive, concurrency, limit, onLimit, hasBreaker, pace } = this.#setup;
    const { waitTimeoutMs, maxQueue, maxAttempts, deadlineMs, attemptTimeoutMs } = this.#setup;
    return {
      adaptive,
      concurrency,
      ...(limit !== undefined && { limits: { requests: { limit, windowMs: 500 } }, onLimit }),
      ...(attemptTimeoutMs !== undefined && { attemptTimeoutMs }),
      ...(hasBreaker && { circuitBreaker: { consecutiveFailures: 2, openMs: 300 } }),
      ...(pace !== undefined && { pace: { intervalMs: pace, maxIntervalMs: 100 } }),
      ...(waitTimeoutMs !== undefined && { waitTimeoutMs }),
      ...(maxQueue !== undefined && { maxQueue }),
      ...(maxAttempts !== undefined && { maxAttempts }),
      ...(deadlineMs !== undefined && { deadlineMs }),
    };
  }

  /** What a stream says of its requests. */
  #said() {
    const estimate = () => {
      this.#callbacks.call('estimate');
      return 1;
    };
    const priority = ({ id }: Req) => {
      this.#callbacks.call('priority');
      return id % 2;
    };
    return {
      ...(this.#callbacks.mayThrow('estimate') && { estimate }),
      ...(this.#callbacks.mayThrow('priority') && { priority }),
    };
  }

  readonly #project = (req: Req, context: AttemptContext) => {
    this.#callbacks.call('project');
    const call = new Call(req, context);
    this.#calls.push(call);
    if (!req.isStream || req.id % 2 === 0) return call.promise;
    return call.observable(() => this.#callbacks.call('teardown'));
  };

  #run(how: 'run' | 'wrap', b: number): void {
    const { group, limiter } = this;
    const req = this.#add(false);
    const task = (context: AttemptContext) => this.#task(req, context);
    const named = b % 3 === 0 ? { id: req.id % 4, priority: (b % 5) - 2 } : {};
    const options = b % 4 === 0 ? named : { signal: this.#controller().signal, ...named };
    sender.run(req, () => {
      if (group !== undefined) this.#ends(req, group.run(keyOf(req), task, options));
      else if (how === 'run' && limiter !== undefined) this.#ends(req, limiter.run(task, options));
      else if (limiter !== undefined) this.#ends(req, limiter.wrap(() => this.#task(req))());
    });
  }

  #task(req: Req, context?: AttemptContext): Promise<Req> {
    this.#callbacks.call('project');
    const call = new Call(req, context);
    this.#calls.push(call);
    return call.promise;
  }

  #acquire(b: number): void {
    const req = this.#add(false);
    const { signal } = this.#controller();
    const priority = b % 2;
    const options = { signal, priority, ...(b % 3 === 0 && { id: req.id % 4 }) };
    const acquired = this.group
      ? this.group.acquire(keyOf(req), options)
      : this.limiter?.acquire(options);
    acquired?.then(
      (lease) => {
        req.hasLease = true;
        this.#held.push({ req, lease });
      },
      () => {
        req.ends += 1;
      },
    );
  }

  #release(a: number, b: number): void {
    const held = this.#take(this.#held, a);
    if (held === undefined) return;
    held.req.ends += 1;
    if (b % 3 === 0) held.lease.release('failed', this.#thrown());
    else held.lease.release();
    held.lease.release();
  }

  #next(): void {
    const { last } = this;
    const stream = last?.state === 'open' ? last : this.#subscribe();
    const req = this.#add(true);
    stream.arrived.push(req);
    try {
      this.#source.next(new Sized(req, 1));
    } catch {
      // What a teardown threw comes out where the stream failed, as in RxJS.
    }
    if (stream.state === 'ended') req.isGone = true;
  }

  get last() {
    return this.streams.at(-1);
  }

  #subscribe() {
    this.#source = new Subject();
    const stream: Stream = { state: 'open', arrived: [] };
    this.streams.push(stream);
    const end = () => {
      stream.state = 'ended';
      for (const req of stream.arrived) req.isGone = true;
    };
    this.#subscription = this.#source.pipe(this.#open).subscribe({
      next: (result) => {
        const req = result instanceof Req ? result : result.request;
        req.ends += 1;
        this.#callbacks.call('next');
      },
      error: end,
      complete: () => {
        stream.state = 'ended';
      },
    });
    this.#leave = () => {
      end();
      try {
        this.#subscription?.unsubscribe();
      } catch {
        // What a teardown threw: its own user hears of it.
      }
    };
    return stream;
  }

  #leave = () => {};

  /** Switches the timeout on and off while requests wait, in a group for one key. */
  #timeout(b: number): void {
    const waitTimeoutMs = [Number.POSITIVE_INFINITY, 1, 60, 400][b % 4] ?? 1;
    const limiter = this.limiter ?? this.group?.get(`${b % 3}`);
    limiter?.configure({ waitTimeoutMs });
  }

  /** Gives what waits another priority. */
  #move(a: number, b: number): void {
    const users = this.limiter ?? this.group;
    users?.setPriority(a % 4, (b % 5) - 2);
  }

  #ends(req: Req, sent: Promise<unknown>): void {
    const end = () => {
      req.ends += 1;
      if (sender.getStore() !== req) req.strayed += 1;
    };
    sent.then(end, end);
  }

  #add(isStream: boolean): Req {
    const req = new Req(this.requests.length, isStream);
    this.requests.push(req);
    return req;
  }

  #controller(): AbortController {
    const controller = new AbortController();
    this.#aborts.push(controller);
    return controller;
  }

  #thrown(): unknown {
    return UNPRINTABLE[this.#setup.thrown]?.();
  }

  #take<T>(list: T[], index: number): T | undefined {
    return list.splice(index % (list.length || 1), 1)[0];
  }
}
