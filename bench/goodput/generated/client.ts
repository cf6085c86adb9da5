/** The interface between generated providers and a client. */
import type { Clock, Random } from 'headgate';
import type { VirtualTime } from '../virtual-time.ts';
import type { Answer } from './server.ts';
import type { Scenario } from './space.ts';

/** One request of a run. */
export interface Request {
  /** The position in the order of arrival, from 0. */
  readonly index: number;
  /** The actual cost. */
  readonly tokens: number;
}

export interface ClientContext {
  /** The provider's limits, which only clients that know the limits may read. */
  readonly scenario: Scenario;
  readonly clock: Clock;
  /** Numbers in [0, 1) for jitter. */
  readonly random: Random;
  /** The concurrency that the user allows. */
  readonly concurrency: number;
  /** Sends one attempt; calls `answered` once, when the answer has arrived. */
  send(request: Request, answered: (answer: Answer) => void): void;
  /**
   * Reports that the client has given up a request, which is then submitted again.
   * @param afterMs the wait that the client has named
   */
  lost(request: Request, afterMs?: number): void;
  /** Reports that the client has ended, which fails the run. */
  failed(error: unknown): void;
}

/** A running client. */
export interface RunningClient {
  /** Accepts a request, and sends it until it succeeds or the client gives it up. */
  handOver(request: Request): void;
  /** The client's estimates of the provider, for a trace. */
  snapshot?(): unknown;
}

export interface GeneratedClient {
  readonly about: string;
  /**
   * What it takes its time from: a clock in whose callbacks it does all its work, the same with
   * promises that settle between them, or the globals of the platform, with promises, too.
   */
  readonly time: (random: Random) => VirtualTime;
  /** Imports the client on demand, since its modules may read the globals when they load. */
  load(): Promise<(context: ClientContext) => RunningClient>;
}

/** The error that client libraries throw for an unsuccessful answer. */
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
