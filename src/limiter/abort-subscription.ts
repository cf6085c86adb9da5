import { type Linked, LinkedList } from '../util/linked-list.ts';

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

  stop(): void {
    this.listener.remove(this);
  }

  abort(reason: unknown): void {
    this.stop();
    this.abortable.abort(reason);
  }
}

/**
 * All subscriptions to one signal, behind one event listener: EventTarget compares each new listener
 * with all others, so n of them would cost n².
 */
class Listener {
  private readonly signal: AbortSignal;
  private readonly roster = new LinkedList<AbortSubscription>();

  constructor(signal: AbortSignal) {
    this.signal = signal;
  }

  add(listening: AbortSubscription): void {
    if (this.roster.first === undefined) this.signal.addEventListener('abort', this);
    this.roster.add(listening);
  }

  remove(listening: AbortSubscription): void {
    this.roster.remove(listening);
    if (this.roster.first === undefined) this.signal.removeEventListener('abort', this);
  }

  /** Each is removed from the list when it is called. */
  handleEvent(): void {
    const { reason } = this.signal;
    for (let next = this.roster.first; next !== undefined; next = this.roster.first) {
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
