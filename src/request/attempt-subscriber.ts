import { config, Subscriber } from 'rxjs';

/** Receives the notifications of an attempt's Observable. */
export interface Attempting<R> {
  next(value: R): unknown;
  error(error: unknown): void;
  complete(): void;
}

/** Subscribes to the Observable of one attempt. */
export class AttemptSubscriber<R> extends Subscriber<R> {
  private readonly attempting: Attempting<R>;

  constructor(attempting: Attempting<R>) {
    super();
    this.attempting = attempting;
  }

  protected override _next(value: R): void {
    this.attempting.next(value);
  }

  protected override _error(error: unknown): void {
    try {
      this.attempting.error(error);
    } finally {
      this.unsubscribe();
    }
  }

  /** The attempt is torn down before the next request starts. */
  protected override _complete(): void {
    try {
      this.unsubscribe();
    } finally {
      this.attempting.complete();
    }
  }
}

/**
 * Reports what a teardown threw where nobody calls: in a turn of its own, to RxJS's
 * `config.onUnhandledError` where there is one, as RxJS does.
 */
export function reportUnhandled(thrown: unknown): void {
  setTimeout(() => {
    const { onUnhandledError } = config;
    if (onUnhandledError === null) throw thrown;
    onUnhandledError(thrown);
  });
}
