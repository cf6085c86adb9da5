/** Counts the requests of every client, in the global `fetch`. */

export interface Counts {
  /** The number of successful answers. */
  readonly successes: number;
  /** The number of answers 429 and 503. */
  readonly rejected: number;
  /** The number of other answers, and of requests without an answer. */
  readonly errors: number;
}

/**
 * Replaces the global `fetch`, and counts requests to a server.
 * @returns a function that returns the counts so far
 */
export function countFetches(url: string): () => Counts {
  const send = globalThis.fetch;
  const { origin } = new URL(url);
  let successes = 0;
  let rejected = 0;
  let errors = 0;
  globalThis.fetch = async (input, init) => {
    const target = input instanceof Request ? input.url : String(input);
    if (new URL(target).origin !== origin) return send(input, init);
    try {
      const response = await send(input, init);
      if (response.ok) successes++;
      else if (response.status === 429 || response.status === 503) rejected++;
      else errors++;
      return response;
    } catch (error) {
      errors++;
      throw error;
    }
  };
  return () => ({ successes, rejected, errors });
}
