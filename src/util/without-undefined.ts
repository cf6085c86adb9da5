/** A copy without the fields that are undefined: in a report, what is not known is missing. */
export function withoutUndefined<T extends object>(fields: T): T {
  const known: Partial<T> = {};
  for (const key in fields) if (fields[key] !== undefined) known[key] = fields[key];
  return known as T;
}
