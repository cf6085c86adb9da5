/** What `project` is told beside the value. */
export class AttemptContext {
  /** Which attempt of the request this is, from 1. */
  readonly attempt: number;
  /** Position of the request in its stream, from 0. */
  readonly index: number;
  #controller: AbortController | undefined = undefined;
  #abandoned = false;
  #reason: unknown = undefined;

  /** @internal */
  constructor(attempt: number, index: number) {
    this.attempt = attempt;
    this.index = index;
  }

  /** Aborts when the result is no longer wanted. Made when first read: most never ask for it. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#abandoned) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }

  /** @internal */
  abandon(reason?: unknown): void {
    this.#abandoned = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}
