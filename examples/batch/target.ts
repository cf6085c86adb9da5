import type { LimiterOptions } from 'headgate';

/** Where the prompts go. */
export interface Target {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  /** What is to be known of it, for people. */
  readonly about: string | undefined;
  /** The limits that were chosen, with what headgate does differently for its sake. */
  limitsOf(chosen: LimiterOptions): LimiterOptions;
  /** Requests that its limits have allowed so far; undefined where nobody knows. */
  capacity(): number | undefined;
  close(): Promise<void>;
}
