/** What a worker process is told, and what it answers. */
import type { ClientName } from './clients/index.ts';
import type { Setup } from './setup.ts';

/** The requests of one worker. Each takes `tookMs`. */
export type Load =
  | {
      /** So many wait or run at any time. */
      readonly kind: 'backlog';
      readonly requests: number;
      readonly tookMs: number;
    }
  | {
      /** They arrive at even distances, whatever becomes of them. */
      readonly kind: 'arrivals';
      readonly perSecond: number;
      readonly tookMs: number;
    };

export type Command =
  | { readonly kind: 'connect'; readonly client: ClientName; readonly setup: Setup }
  | {
      readonly kind: 'load';
      readonly load: Load;
      /** The file that gets the time of each request. */
      readonly log: string;
      /** The file is complete at any moment, which takes longer. */
      readonly isKillable: boolean;
    }
  | { readonly kind: 'stop' }
  | { readonly kind: 'close' };

/** What came of a load. */
export interface LoadResult {
  /** Requests that were sent. */
  readonly sent: number;
  /** Requests that failed, other than by the end of the load. */
  readonly failed: number;
  /** The first error. */
  readonly reason: string | undefined;
  /** How long each waited from its arrival until it was sent, in milliseconds. */
  readonly waitsMs: Float64Array;
}

/** An answer to the command with the same number. */
export type Answer =
  | { readonly id: number; readonly result: LoadResult | undefined }
  | { readonly id: number; readonly error: string };

export interface Numbered {
  readonly id: number;
  readonly command: Command;
}
