/** The interface between the benchmark and a client. */
import type { Clock, Random } from 'headgate';
import type { AnswerWithHeaders } from 'headgate/simulator';
import type { Prompt } from './prompts.ts';
import type { Scenario } from './scenario.ts';

/** The context of one worker of a client. */
export interface ClientContext {
  readonly scenario: Scenario;
  readonly clock: Clock;
  /** Numbers in [0, 1) for jitter. */
  readonly random: Random;
  /**
   * Sends one attempt. Resolves with a successful answer.
   * @throws ProviderError with `status` and `headers`
   */
  send(prompt: Prompt): Promise<AnswerWithHeaders>;
  /** Reports that the client has given up a prompt, which is then submitted again. */
  lost(prompt: Prompt): void;
  /** Reports that the client has ended, which fails the run. */
  failed(error: unknown): void;
  /**
   * The time until the provider would accept the prompt, in ms. Only the omniscient client may ask.
   */
  waitMs(prompt: Prompt): number;
}

/** Accepts a prompt, and sends it until it succeeds or the client gives it up. */
export type HandOver = (prompt: Prompt) => void;

/**
 * The information that a client has about the provider: answers only (`nothing`), also their
 * rate-limit headers, the documented limits, or the provider's whole state.
 */
export type Knowledge = 'nothing' | 'headers' | 'limits' | 'everything';

export interface Client {
  readonly about: string;
  readonly knows: Knowledge;
  /** Whether it takes time and timers from the globals of the platform. */
  readonly usesGlobals: boolean;
  /** Imports the client on demand, since its modules may read the globals when they load. */
  load(): Promise<(context: ClientContext) => HandOver>;
}
