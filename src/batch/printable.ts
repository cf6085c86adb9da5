/**
 * What a terminal takes for commands: control characters, but for line breaks and tabs. And what turns
 * the direction of text around.
 */
const CONTROLS = /[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu;

/** A text of a server or a file, without what would control the terminal that shows it. */
export function printable(text: string): string {
  return text.replace(CONTROLS, '\ufffd');
}
