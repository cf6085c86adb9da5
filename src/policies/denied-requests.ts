import type { RequestCost } from './policy.ts';

/** The requests whose denial was reported: each attempt is reported once, however long it waits. */
export class DeniedRequests {
  /** Made with the first denial: most policies deny none. */
  #requests: WeakSet<RequestCost> | undefined = undefined;

  /** @returns whether the denial must be reported */
  add(request: RequestCost): boolean {
    if (this.#requests?.has(request)) return false;
    this.#requests ??= new WeakSet();
    this.#requests.add(request);
    return true;
  }

  /** The request has passed: its next attempt is a new decision. */
  forget(request: RequestCost): void {
    this.#requests?.delete(request);
  }
}
