/**
 * Reads an answer of the server; undefined: the server cannot be reached, refuses, or ends within
 * its answer.
 */
export async function readJson(url: string): Promise<unknown> {
  try {
    const response = await fetch(url);
    return response.ok ? await response.json() : undefined;
  } catch {
    return undefined;
  }
}
