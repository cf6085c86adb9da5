/** Warns of a mistake: as Node does, or on the console where Node's `process` is missing. */
export function warn(text: string): void {
  if (typeof process === 'undefined' || process.emitWarning === undefined) console.warn(text);
  else process.emitWarning(text);
}
