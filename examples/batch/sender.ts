import { setImmediate } from 'node:timers/promises';
import type { AttemptContext } from 'headgate';
import type { Complete } from './client.ts';
import type { Prompt } from './prompts.ts';

/** The request was not sent, because the run is ending. */
export class NotSentError extends Error {}

/** Makes and counts the calls, and can be stopped. */
export class Sender {
  /** The number of calls in flight. */
  active = 0;
  attempts = 0;
  /** The number of calls that got a 429. */
  rejected = 0;
  /** The tokens of all answers, as counted by the server; undefined: not reported. */
  tokens: number | undefined = undefined;
  readonly #complete: Complete;
  #stopping = false;
  #idle: (() => void) | undefined;

  constructor(complete: Complete) {
    this.#complete = complete;
  }

  readonly send = async (prompt: Prompt, context: AttemptContext): Promise<string> => {
    if (this.#stopping) throw new NotSentError();
    this.active += 1;
    this.attempts += 1;
    try {
      const answer = await this.#complete(prompt, context.signal);
      const { text, tokens } = context.observe(answer);
      if (tokens !== undefined) {
        context.recordTokens(tokens);
        this.tokens = (this.tokens ?? 0) + tokens;
      }
      return text;
    } catch (error) {
      if (error instanceof Error && 'status' in error && error.status === 429) this.rejected += 1;
      throw error;
    } finally {
      this.active -= 1;
      if (this.active === 0) this.#idle?.();
    }
  };

  /** Stops sending. Resolves when the results of all calls in flight were delivered. */
  async stop(): Promise<void> {
    this.#stopping = true;
    if (this.active > 0) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
      });
    }
    await setImmediate();
  }
}
