/** A log, cut where the stream ended: by an error, or because nobody listened any more. */
interface Cut {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

function cut(log: readonly string[]): Cut {
  const at = log.findIndex((line) => /^\d+ (error .*|unsubscribe)$/.test(line));
  if (at === -1) return { before: log, after: [] };
  return { before: log.slice(0, at + 1), after: log.slice(at + 1) };
}

/**
 * The log without what was begun after the end: `mergeMap` still asks project for the next value,
 * and subscribes to what it returns, when it is unsubscribed (or errors) inside project or inside a
 * teardown. A request that nobody waits for had better not be sent.
 */
export function withoutAfterlife(log: readonly string[]): readonly string[] {
  const { before, after } = cut(log);
  const begun = new Set(before.map(subscribedTo));
  const kept = after.filter((line) => {
    const name = subscribedTo(line) ?? line.match(/ unsubscribe (inner\d+)$/)?.[1];
    return !/^\d+ project /.test(line) && (name === undefined || begun.has(name));
  });
  return [...before, ...kept];
}

function subscribedTo(line: string): string | undefined {
  return line.match(/ subscribe (inner\d+)$/)?.[1];
}
