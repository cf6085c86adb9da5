import { RequestTimeoutError } from '../model/errors.ts';
import type { Clock } from '../util/clock.ts';
import { type Linked, LinkedList } from '../util/collections.ts';
import { type AcquireOptions, checkAcquireOptions } from './acquire-options.ts';

/** Is called when a signal aborts. */
export interface Abortable {
  abort(reason: unknown): void;
}

/** Listens to a signal until it aborts or `stop` is called. */
export class AbortSubscription implements Linked<AbortSubscription> {
  before: AbortSubscription | undefined = undefined;
  after: AbortSubscription | undefined = undefined;
  private readonly listener: Listener;
  private readonly abortable: Abortable;

  constructor(signal: AbortSignal, abortable: Abortable) {
    this.listener = listenerOf(signal);
    this.abortable = abortable;
    this.listener.add(this);
  }

  /**
   * Whether the signal has aborted, so that this listener will be called: the listeners of a signal
   * are called one after another, and an earlier one may let other requests pass.
   */
  get isDue(): boolean {
    return this.listener.isAborted;
  }

  stop(): void {
    this.listener.remove(this);
  }

  abort(reason: unknown): void {
    this.stop();
    this.abortable.abort(reason);
  }
}

/**
 * All subscriptions to one signal, behind one event listener: EventTarget compares each new
 * listener with all others, so n of them would cost n².
 */
class Listener {
  private readonly signal: AbortSignal;
  private readonly subscriptions = new LinkedList<AbortSubscription>();
  /** The signal that aborts this one. */
  source: AbortSignal | undefined = undefined;

  constructor(signal: AbortSignal) {
    this.signal = signal;
  }

  get isAborted(): boolean {
    return this.signal.aborted || this.source?.aborted === true;
  }

  add(subscription: AbortSubscription): void {
    if (this.subscriptions.first === undefined) this.signal.addEventListener('abort', this);
    this.subscriptions.add(subscription);
  }

  remove(subscription: AbortSubscription): void {
    this.subscriptions.remove(subscription);
    if (this.subscriptions.first === undefined) this.signal.removeEventListener('abort', this);
  }

  /** Each is removed from the list when it is called. */
  handleEvent(): void {
    const { reason } = this.signal;
    for (let next = this.subscriptions.first; next !== undefined; next = this.subscriptions.first) {
      next.abort(reason);
    }
  }
}

const listeners = new WeakMap<AbortSignal, Listener>();

function listenerOf(signal: AbortSignal): Listener {
  const known = listeners.get(signal);
  if (known !== undefined) return known;
  const listener = new Listener(signal);
  listeners.set(signal, listener);
  return listener;
}

/**
 * Makes a call that is aborted if it does not end within a time from now.
 * @throws RangeError or TypeError that names a wrong option
 */
export function withTimeout<R>(
  options: AcquireOptions,
  clock: Clock,
  call: (options: AcquireOptions) => Promise<R>,
): Promise<R> {
  checkAcquireOptions(options);
  const { timeoutMs = Number.POSITIVE_INFINITY, ...unbounded } = options;
  if (timeoutMs === Number.POSITIVE_INFINITY) return call(unbounded);
  const { signal, ...rest } = unbounded;
  const controller = new AbortController();
  const abort = (reason: unknown) => controller.abort(reason);
  let subscription: AbortSubscription | undefined;
  if (signal?.aborted) abort(signal.reason);
  else if (signal) {
    subscription = new AbortSubscription(signal, { abort });
    listenerOf(controller.signal).source = signal;
  }
  const timer = clock.setTimer(
    () => controller.abort(new RequestTimeoutError(timeoutMs)),
    timeoutMs,
  );
  const promise = call({ ...rest, signal: controller.signal });
  const ended = () => {
    timer.cancel();
    subscription?.stop();
  };
  promise.then(ended, ended);
  return promise;
}
