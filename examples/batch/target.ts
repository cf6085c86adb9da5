import type { LimiterOptions } from 'headgate';
import { startDemo } from './demo.ts';
import type { Options } from './options.ts';

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

/** The server of `--base-url`, or else the simulated provider, which is started. */
export async function openTarget({ baseUrl, seed }: Options): Promise<Target> {
  if (baseUrl === undefined) return startDemo(seed);
  return {
    baseUrl,
    apiKey: process.env.OPENAI_API_KEY?.trim() || undefined,
    about: undefined,
    limitsOf: (chosen) => chosen,
    capacity: () => undefined,
    close: async () => {},
  };
}
