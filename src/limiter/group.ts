import { Observable, type ObservedValueOf, type OperatorFunction } from 'rxjs';
import { LimiterClosedError, TooManyKeysError } from '../model/errors.ts';
import type { GaugeSnapshot } from '../model/gauge.ts';
import type { Outcome, ResultOrOutcome } from '../model/outcome.ts';
import type { PolicyEvent } from '../model/policy-events.ts';
import { isSized, type Sized } from '../model/sized.ts';
import { resolveCommonOptions } from '../request/gate-options.ts';
import { type PullOptions, pull, type QueueRoom } from '../request/pull.ts';
import type { PullSource } from '../request/pull-iterator.ts';
import { checkPriority } from '../request/request-options.ts';
import {
  checkRetryOptions,
  type Emitted,
  type Project,
  type ProjectOutput,
} from '../request/send-options.ts';
import { resultOf } from '../request/size.ts';
import { checkFunction, checkKeys, checkOwner, show } from '../util/check.ts';
import type { Clock } from '../util/clock.ts';
import type { AcquireOptions } from './acquire-options.ts';
import type { Task } from './calls.ts';
import { configureGroup, type GroupChanges } from './group-changes.ts';
import { type GroupEvent, GroupEvents } from './group-events.ts';
import { GROUP_KEYS, type LimiterGroupOptions } from './group-options.ts';
import { GroupStore } from './group-store.ts';
import { KeyLimiters } from './key-limiters.ts';
import { KeyRouter } from './key-router.ts';
import { KeyTable } from './key-table.ts';
import type { Lease } from './lease.ts';
import { type CloseOptions, checkClearReason, checkClose, checkReason } from './lifecycle.ts';
import type { Limiter } from './limiter.ts';
import { checkThrottle, type LimiterThrottleOptions } from './limiter-options.ts';
import { DEFAULT_GROUP_READ_AHEAD, type GroupMapOptions, type MapTask, mapThrough } from './map.ts';
import type { CountedBefore } from './request-counters.ts';
import { addToQuota } from './set-limits.ts';
import { SharedLimits } from './shared-limits.ts';
import type { GroupSnapshot } from './snapshot.ts';

/**
 * Makes a limiter for each key (a model, a tenant), with limits of its own beside shared ones. A
 * key that waits for its own limits delays no other key. While the shared limits bind, keys take
 * turns by cost (fair queuing), so none starves, however many requests another key has. The
 * rate of each key adapts, as that of a limiter.
 *
 * @param keyOf returns the key of a request in a stream; its error fails the request (`outcomes`),
 *   or the stream
 * @throws RangeError or TypeError that names a wrong option
 * @example
 * const group = createLimiterGroup((request: Request) => request.model, {
 *   each: (model) => ({ requestsPerMinute: model === 'large' ? 500 : 10_000 }),
 *   shared: { concurrency: 100 },
 * });
 * requests$.pipe(group.throttle((request) => client.complete(request))).subscribe(save);
 * await group.run('large', () => client.complete(urgent), { priority: 1 });
 */
export function createLimiterGroup<T>(
  keyOf: (value: T) => string,
  options: LimiterGroupOptions = {},
): LimiterGroup<T> {
  checkFunction('keyOf', keyOf);
  checkKeys('createLimiterGroup', options, GROUP_KEYS);
  checkRetryOptions(options);
  return new LimiterGroup(keyOf, options);
}

/** The snapshot of a group without shared limits. */
const NOTHING: GaugeSnapshot = { waiting: [] };

/** A limiter for each key, and the shared limits. Made by {@link createLimiterGroup}. */
export class LimiterGroup<T> {
  /** The events of the limiters of all keys. */
  readonly events$: Observable<GroupEvent>;
  readonly #keyOf: (value: T) => string;
  readonly #clock: Clock;
  #limiters: KeyLimiters;
  readonly #shared: SharedLimits | undefined;
  readonly #table: KeyTable;
  readonly #events: GroupEvents;
  readonly #unwatch: (() => void) | undefined;
  /** The error of requests that arrive after the group was closed. */
  #closed: LimiterClosedError | undefined = undefined;
  #pause: { readonly reason: string | undefined } | undefined = undefined;

  /** @internal */
  constructor(keyOf: (value: T) => string, options: LimiterGroupOptions) {
    const { clock, instrumentation } = resolveCommonOptions(options).withTelemetry();
    const { shared, store, idleMs, maxKeys, random = Math.random } = options;
    const open = (key: string, before: CountedBefore | undefined) =>
      this.#limiters.open(key, before, this.#shared);
    const opened = (key: string, limiter: Limiter) => this.#admit(key, limiter);
    this.#table = new KeyTable({ clock, idleMs, maxKeys, open, opened });
    this.#events = new GroupEvents(() => this.#table.awake);
    this.events$ = this.#events.events$;
    this.#keyOf = keyOf;
    this.#clock = clock;
    const emit = (fact: PolicyEvent) => {
      const isDenial = fact.kind === 'limitDenied';
      instrumentation?.changed?.(isDenial ? { ...fact, limit: `shared.${fact.limit}` } : fact);
      this.#events.emitShared(fact);
    };
    const groupStore = store === undefined ? undefined : new GroupStore(store);
    this.#limiters = new KeyLimiters(options, {
      clock,
      instrumentation,
      store: groupStore,
      isHeard: () => this.#events.isHeard,
      emit: (event, key) => this.#events.emit(event, key),
    });
    // Construct the limits of a key once, so that wrong ones throw here, where nothing has begun
    // yet. Limits by key are checked with each key.
    if (typeof options.each !== 'function') {
      this.#limiters.open('', undefined, undefined).inside.lifecycle.abandon();
    }
    const { name } = options;
    const context = { store: groupStore, name, clock, instrumentation };
    this.#shared =
      shared === undefined
        ? undefined
        : new SharedLimits(shared, random, emit, clock.now(), context);
    this.#unwatch = instrumentation?.opened?.(() => this.#shared?.reading(clock.now()) ?? NOTHING);
  }

  /** The present keys. */
  get keys(): readonly string[] {
    return this.#table.keys;
  }

  /**
   * As `limiter.throttle`, each request through the limiter of its key.
   * @throws TypeError that names a wrong option
   */
  throttle<O extends ProjectOutput, B extends boolean | undefined = false>(
    project: Project<T, O>,
    options?: LimiterThrottleOptions<T> & { readonly outcomes?: B },
  ): OperatorFunction<T | Sized<T>, Emitted<T, O, B>>;
  throttle<O extends ProjectOutput>(
    project: Project<T, O>,
    options: LimiterThrottleOptions<T> = {},
  ): OperatorFunction<T | Sized<T>, ObservedValueOf<O> | Outcome<T, ObservedValueOf<O>>> {
    checkOwner(this, LimiterGroup, 'group.throttle');
    checkThrottle('group.throttle', project, options);
    return (source) =>
      new Observable((out) => {
        const limiterOf = (input: T | Sized<T>) => {
          const value = isSized(input) ? input.value : input;
          return this.#table.limiterOf(resultOf(this.#keyOf, value, 'keyOf', checkKey));
        };
        const pipelineOf = ({ inside }: Limiter) => {
          if (options.costs === undefined) inside.impossible.checkCharged();
          return inside.pipelineOf(project, options);
        };
        source.subscribe(new KeyRouter(out, limiterOf, pipelineOf, options));
      });
  }

  /**
   * As `limiter.throttleFrom`, each request through the limiter of its key. Requests that were read
   * and wait for their key count as read ahead: if they use all of it, other keys wait too. After
   * `close()` of the group it reads no more.
   * @throws RangeError or TypeError that names a wrong option
   */
  throttleFrom<O extends ProjectOutput, B extends boolean | undefined = false>(
    source: PullSource<T | Sized<T>>,
    project: Project<T, O>,
    options?: LimiterThrottleOptions<T> & PullOptions & { readonly outcomes?: B },
  ): Observable<Emitted<T, O, B>>;
  throttleFrom<O extends ProjectOutput>(
    source: PullSource<T | Sized<T>>,
    project: Project<T, O>,
    options: LimiterThrottleOptions<T> & PullOptions = {},
  ): Observable<ObservedValueOf<O> | Outcome<T, ObservedValueOf<O>>> {
    checkOwner(this, LimiterGroup, 'group.throttleFrom');
    const closedOf = () => this.#closed;
    const queue: QueueRoom = {
      hasRoom: true,
      get closed() {
        return closedOf();
      },
    };
    return pull(source, project, options, Number.POSITIVE_INFINITY, (watched, own, waitIn) => {
      waitIn(queue);
      return this.throttle(watched, own);
    });
  }

  /**
   * As `limiter.map`, each value through the limiter of its key. Up to `readAhead` values (100) are
   * read before their keys admit them: a waiting key delays the others only if so many of its values
   * wait.
   *
   * @returns as `limiter.map`
   * @throws RangeError or TypeError that names a wrong option
   * @example
   * const answers = await group.map(requests, (request) => client.complete(request));
   */
  map<R, B extends boolean | undefined = false>(
    source: PullSource<T>,
    fn: MapTask<T, R>,
    options?: GroupMapOptions<T> & { readonly outcomes?: B },
  ): Promise<ResultOrOutcome<T, Awaited<R>, B>[]>;
  map<R>(
    source: PullSource<T>,
    fn: MapTask<T, R>,
    options: GroupMapOptions<T> = {},
  ): Promise<unknown[]> {
    checkOwner(this, LimiterGroup, 'group.map');
    const { readAhead = DEFAULT_GROUP_READ_AHEAD, ...plain } = options;
    const throttle: typeof this.throttle = (project, own) => this.throttle(project, own);
    return mapThrough('group.map', source, fn, plain, throttle, readAhead);
  }

  /** As `limiter.run`, through the limiter of a key. */
  run<R>(key: string, task: Task<R>, options?: AcquireOptions): Promise<R> {
    checkOwner(this, LimiterGroup, 'group.run');
    return this.#call(key, (limiter) => limiter.run(task, options));
  }

  /** As `limiter.acquire`, for a key. */
  acquire(key: string, options?: AcquireOptions): Promise<Lease> {
    checkOwner(this, LimiterGroup, 'group.acquire');
    return this.#call(key, (limiter) => limiter.acquire(options));
  }

  /** As `limiter.tryAcquire`, for a key. */
  tryAcquire(
    key: string,
    options?: Omit<AcquireOptions, 'signal' | 'timeoutMs'>,
  ): Lease | undefined {
    checkOwner(this, LimiterGroup, 'group.tryAcquire');
    return this.#limiterOf(key).tryAcquire(options);
  }

  /**
   * As `limiter.add`, of a quota that all keys share.
   * @throws as that does
   */
  add(limit: string, amount: number): void {
    addToQuota(this.#shared?.policies.rateLimit, limit, amount, this.#clock.now());
    this.#shared?.policy.drain();
  }

  /**
   * Changes limits while requests wait and run: those that all keys share, and those of each key,
   * as `limiter.configure` does. All given changes are made, or none if one is wrong.
   *
   * `each` applies to the present keys at once, and to later ones instead of what the option `each`
   * says. A null removes a limit from the keys that have it.
   *
   * @throws RangeError or TypeError that names the option, also for an option that cannot change
   * @example
   * group.configure({ shared: { requestsPerMinute: 5_000 }, each: { concurrency: 20 } });
   */
  configure(changes: GroupChanges): void {
    checkOwner(this, LimiterGroup, 'group.configure');
    const { limiters, apply } = configureGroup(changes, {
      limiters: this.#limiters,
      shared: this.#shared,
      table: this.#table,
      now: this.#clock.now(),
    });
    this.#limiters = limiters;
    apply();
  }

  /** The state of the shared limits, and of the limiter of each present key. */
  snapshot(): GroupSnapshot {
    return {
      shared: this.#shared?.snapshot(this.#clock.now()),
      fleet: this.#shared?.fleetSnapshot,
      keys: Object.fromEntries(this.#table.snapshots),
    };
  }

  /**
   * The limiter of a key, made if the key is new, to pause, configure or watch it alone. The key is
   * kept from then on, even if it is idle.
   */
  get(key: string): Limiter {
    checkOwner(this, LimiterGroup, 'group.get');
    checkKey(key);
    return this.#table.keep(key);
  }

  /**
   * As `limiter.pause`, for every present and later key.
   * @throws TypeError for a reason that is no string
   */
  pause(reason?: string): void {
    checkReason(reason);
    this.#pause = { reason };
    for (const limiter of this.#table.limiters) limiter.pause(reason);
  }

  /** As `limiter.resume`, for every key, including keys that were paused alone. */
  resume(): void {
    this.#pause = undefined;
    for (const limiter of this.#table.limiters) limiter.resume();
  }

  /**
   * As `limiter.clear`, for every key.
   * @throws TypeError for a reason that is neither an Error nor a string
   */
  clear(reason?: string | Error): void {
    checkClearReason(reason);
    for (const limiter of this.#table.limiters) limiter.clear(reason);
  }

  /**
   * As `limiter.setPriority`, of the requests of every key.
   * @throws as that does
   */
  setPriority(id: unknown, priority: number): number {
    checkPriority(priority);
    let waiting = 0;
    for (const limiter of this.#table.limiters) waiting += limiter.setPriority(id, priority);
    return waiting;
  }

  /**
   * Takes no new requests, of any key: as `limiter.close`.
   * @throws TypeError for another option, or another value
   */
  close(options: CloseOptions = {}): void {
    checkClose('group.close', options);
    this.#closed ??= new LimiterClosedError();
    this.#unwatch?.();
    this.#table.close();
    for (const limiter of this.#table.limiters) limiter.close(options);
    void this.drain().then(() => this.#shared?.close());
  }

  /** Resolves when no request of any key waits or runs. */
  async drain(): Promise<void> {
    const busy = () => this.#table.limiters.filter(({ inside }) => !inside.counters.isEmpty);
    for (let left = busy(); left.length > 0; left = busy()) {
      await Promise.all(left.map((limiter) => limiter.drain()));
    }
  }

  #limiterOf(key: string): Limiter {
    checkKey(key);
    return this.#table.limiterOf(key);
  }

  /**
   * Sends a call through the limiter of a key. Rejects with a TooManyKeysError. Throws any other
   * error at once, because it is a mistake of the caller, such as a key that is no string.
   */
  #call<R>(key: string, send: (limiter: Limiter) => Promise<R>): Promise<R> {
    try {
      return send(this.#limiterOf(key));
    } catch (error) {
      if (error instanceof TooManyKeysError) return Promise.reject(error);
      throw error;
    }
  }

  /** Gives the limiter of a key that was just made the state of the group. */
  #admit(key: string, limiter: Limiter): void {
    this.#events.add(key, limiter);
    if (this.#pause !== undefined) limiter.pause(this.#pause.reason);
    if (this.#closed !== undefined) limiter.close();
  }
}

/** @throws TypeError */
function checkKey(key: string): string {
  if (typeof key === 'string') return key;
  throw new TypeError(`the key of a request must be a string, got ${show(key)}`);
}
