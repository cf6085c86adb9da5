/** What a client is to the generated providers. */
import type { Clock, Random } from 'headgate';
import type { Answer } from './server.ts';
import type { Scenario } from './space.ts';

/** One request of a run. */
export interface Request {
  /** Its place in the order of arrival, from 0. */
  readonly index: number;
  /** What it really costs. */
  readonly tokens: number;
}

export interface ClientContext {
  /** Clients that are told the limits read them here; the others read nothing of it. */
  readonly scenario: Scenario;
  readonly clock: Clock;
  /** Numbers in [0, 1) for jitter. */
  readonly random: Random;
  /** Requests that the user allows in flight. */
  readonly concurrency: number;
  /** Sends one attempt; `answered` is called once, when its answer is there. */
  send(request: Request, answered: (answer: Answer) => void): void;
  /**
   * The client has given a request up; it is handed over again.
   * @param afterMs the wait that the client has named with that
   */
  lost(request: Request, afterMs?: number): void;
  /** The client has ended for good, which fails the run. */
  failed(error: unknown): void;
}

/** A client that runs. */
export interface RunningClient {
  /** Takes a request over, to send it until it was answered well, or is lost. */
  handOver(request: Request): void;
  /** What it believes of the provider, for a trace. */
  snapshot?(): unknown;
}

export interface GeneratedClient {
  readonly about: string;
  /** Whether it takes time and timers from the globals of the platform, and needs promises to settle. */
  readonly usesGlobals: boolean;
  /** Imported on demand, since what is imported may look at the globals. */
  load(): Promise<(context: ClientContext) => RunningClient>;
}

/** An answer that is not ok, as client libraries throw it. */
export class AnswerError extends Error {
  override readonly name = 'AnswerError';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor({ status, headers }: Answer) {
    super(`${status}`);
    this.status = status;
    this.headers = headers;
  }
}

/** One attempt as a promise, for clients that need promises. @throws AnswerError */
export function sendPromise({ send }: ClientContext, request: Request): Promise<Answer> {
  return new Promise((resolve, reject) => {
    send(request, (answer) => {
      if (answer.status === 200) resolve(answer);
      else reject(new AnswerError(answer));
    });
  });
}
