import type { LimiterOptions } from 'headgate';

/** The server that the prompts are sent to. */
export interface Target {
  /** The address of the API, ending in `/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  /** A description of the server. */
  readonly about: string | undefined;
  /** The chosen limits, adjusted to this server. */
  limitsOf(chosen: LimiterOptions): LimiterOptions;
  /** The number of requests that the server's limits have allowed so far; undefined: not known. */
  capacity(): number | undefined;
  close(): Promise<void>;
}
