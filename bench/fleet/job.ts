/** The messages to a worker process, and its replies. */
import type { ClientName } from './clients/index.ts';
import type { Setup } from './setup.ts';

/** The requests of one worker. Each takes `tookMs`. */
export type Load =
  | {
      /** The number of requests that wait or run at any time. */
      readonly kind: 'backlog';
      readonly requests: number;
      readonly tookMs: number;
    }
  | {
      /** Requests arrive evenly spaced, independent of how earlier ones end. */
      readonly kind: 'arrivals';
      readonly perSecond: number;
      readonly tookMs: number;
    };

export type Command =
  | { readonly kind: 'connect'; readonly client: ClientName; readonly setup: Setup }
  | {
      readonly kind: 'load';
      readonly load: Load;
      /** The file to which the time of each request is written. */
      readonly log: string;
      /** Whether each entry is written at once, which is slower. */
      readonly isKillable: boolean;
    }
  | { readonly kind: 'stop' }
  | { readonly kind: 'close' };

/** The result of a load. */
export interface LoadResult {
  /** Requests that were sent. */
  readonly sent: number;
  /** Requests that failed for a reason other than the end of the load. */
  readonly failed: number;
  /** The first error. */
  readonly reason: string | undefined;
  /** The wait of each request, from arrival to sending, in milliseconds. */
  readonly waitsMs: Float64Array;
}

/** The reply to the command with the same number. */
export type Answer =
  | { readonly id: number; readonly result: LoadResult | undefined }
  | { readonly id: number; readonly error: string };

export interface Numbered {
  readonly id: number;
  readonly command: Command;
}
