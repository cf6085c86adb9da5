/** A log up to the end of the stream: by an error, or by unsubscription. */
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
 * The log without entries for work that began after the end. If `mergeMap` is unsubscribed, or
 * errors, inside `project` or a teardown, it still calls `project` for the next value and
 * subscribes to the result. headgate does not send such a request, since its result is not needed.
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
