/** What a client is to the benchmark. */
import type { Clock, Random } from 'headgate';
import type { AnswerWithHeaders } from 'headgate/simulator';
import type { Prompt } from './prompts.ts';
import type { Scenario } from './scenario.ts';

/** What one client has: one of these for each worker of a scenario. */
export interface ClientContext {
  readonly scenario: Scenario;
  readonly clock: Clock;
  /** Numbers in [0, 1) for jitter. */
  readonly random: Random;
  /**
   * One attempt. Resolves with an answer that is ok.
   * @throws ProviderError with `status` and `headers`
   */
  send(prompt: Prompt): Promise<AnswerWithHeaders>;
  /** The client has given a prompt up; it is handed over again. */
  lost(prompt: Prompt): void;
  /** The client has ended for good, which fails the run. */
  failed(error: unknown): void;
  /** How long the provider would turn this prompt away, in milliseconds. Only the bound may ask. */
  waitMs(prompt: Prompt): number;
}

/** Takes a prompt over, to send it, again and again, until it was answered well, or is lost. */
export type HandOver = (prompt: Prompt) => void;

/**
 * What a client is told of the provider: nothing but answers, their rate-limit headers, too, the
 * documented limits, or the provider's very state.
 */
export type Knowledge = 'nothing' | 'headers' | 'limits' | 'everything';

export interface Client {
  readonly about: string;
  readonly knows: Knowledge;
  /** Whether it takes time and timers from the globals of the platform. */
  readonly usesGlobals: boolean;
  /** Imported on demand, since what is imported may look at the globals. */
  load(): Promise<(context: ClientContext) => HandOver>;
}
