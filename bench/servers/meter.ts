/** Counts what every client sends, whoever calls `fetch`. */

export interface Counts {
  /** Answers that are ok: each is another request that has succeeded. */
  readonly successes: number;
  /** Answers of 429 and 503. */
  readonly rejected: number;
  /** Other answers, and requests without any. */
  readonly errors: number;
}

/**
 * Replaces the global `fetch`, and counts what goes to a server; what it returns tells the counts so
 * far.
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
