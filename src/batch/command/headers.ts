import { BatchError } from '../errors.ts';

/** Headers that hold a key. */
export const KEY_HEADERS = /^(authorization|x-api-key|api-key)$/i;

/** Headers of the connection, which a user cannot set. */
const OF_CONNECTION = /^(content-length|expect|keep-alive|transfer-encoding|upgrade)$/i;

/** @throws BatchError for a text that is not a header, or a header that cannot be sent */
export function readHeader(text: string): readonly [name: string, value: string] {
  const [, name, value] = text.match(/^([!#$%&'*+.^_`|~\w-]+):\s*(.*)$/s) ?? [];
  // The error must not repeat the value, which may be a key.
  if (name === undefined || value === undefined) {
    throw new BatchError('--header must have the form "Name: value"');
  }
  if (OF_CONNECTION.test(name)) throw new BatchError(`--header ${name} is set by the connection`);
  checkHeaderValue(`--header ${name}`, value);
  return [name, value];
}

/** @param name of the option or variable. @throws BatchError that does not repeat the value */
export function checkHeaderValue(name: string, value: string): void {
  const wrong = [...value].findIndex((character) => !isAllowed(character.codePointAt(0) ?? 0));
  if (wrong === -1) return;
  const code = value.codePointAt([...value].slice(0, wrong).join('').length) ?? 0;
  const shown = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  throw new BatchError(
    `${name} has a character that cannot be sent in a header, ${shown} at place ${wrong + 1}: ` +
      'it was not copied as it is',
  );
}

/** Whether a character is a tab, or printable in Latin-1. */
function isAllowed(code: number): boolean {
  return code === 9 || (code >= 32 && code < 127) || (code >= 128 && code < 256);
}
