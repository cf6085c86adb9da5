import { setImmediate } from 'node:timers/promises';
import type { AttemptContext } from 'headgate';
import type { Complete } from './client.ts';
import type { Prompt } from './prompts.ts';

/** The run is ending: the request was not sent. */
export class NotSentError extends Error {}

/** Makes the calls, counts them, and can be told to make no more. */
export class Sender {
  /** Calls under way. */
  active = 0;
  attempts = 0;
  /** Calls that were answered with 429. */
  rejected = 0;
  /** Of all answers, as the server counts them; undefined: it does not say. */
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

  /** From now on nothing is sent. Resolves when what is under way has ended and was handed on. */
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
