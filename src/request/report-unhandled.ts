import { config } from 'rxjs';

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
