import { type Observable, Subject, type Subscription } from 'rxjs';
import type { Outcome } from '../../src/model/outcome.ts';
import { Req } from './requests.ts';
import type { Setup } from './setup.ts';
import type { Warden } from './warden.ts';

/** Makes the operator with a stream's options of requests and results. */
export type Open = (
  said: object,
) => (source: Observable<Req>) => Observable<Req | Outcome<Req, Req>>;

/** A stream of requests, as its user sees it. */
export class Stream {
  readonly source = new Subject<Req>();
  /** Its requests in order, and those with results. */
  readonly arrived: Req[] = [];
  readonly seen: Req[] = [];
  state: 'open' | 'complete' | 'error' | 'left' = 'open';
  isSourceOver = false;
  readonly #setup: Setup;
  readonly #warden: Warden;
  readonly #spring: (name: string) => void;
  #subscription: Subscription | undefined = undefined;

  constructor(setup: Setup, warden: Warden, spring: (name: string) => void) {
    this.#setup = setup;
    this.#warden = warden;
    this.#spring = spring;
  }

  subscribe(open: Open): void {
    const { outcomes, ordered, hasPriority } = this.#setup;
    const estimate = ({ bytes, tokens }: Req) => {
      this.#spring('estimate');
      return { bytes, tokens };
    };
    const priority = (req: Req) => {
      this.#spring('priority');
      return req.priority;
    };
    const said = { outcomes, ordered, estimate, ...(hasPriority && { priority }) };
    this.#subscription = open(said)(this.source).subscribe({
      next: (result) => this.#take(result),
      error: () => {
        this.#end('error');
        this.#spring('error');
        for (const req of this.arrived) req.isGone = true;
      },
      complete: () => {
        this.#end('complete');
        this.#spring('complete');
      },
    });
  }

  leave(): void {
    if (this.state !== 'open') return;
    this.#end('left');
    for (const req of this.arrived) req.isGone = true;
    this.#subscription?.unsubscribe();
  }

  #take(result: Req | Outcome<Req, Req>): void {
    const req = result instanceof Req ? result : result.request;
    if (this.state !== 'open') this.#warden.fault(`${req.id} came after its stream: ${this.state}`);
    req.end(result instanceof Req || result.status === 'ok' ? 'ok' : 'failed');
    this.seen.push(req);
    this.#spring('next');
  }

  #end(state: Stream['state']): void {
    if (this.state !== 'open') this.#warden.fault(`a stream was ${this.state}, then ${state}`);
    this.state = state;
  }
}
