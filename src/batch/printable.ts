/**
 * Control characters, which a terminal takes for commands, except line breaks and tabs; and
 * characters that reverse the direction of text.
 */
const CONTROLS = /[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu;

/** A text of a server or a file, with each such character replaced. */
export function printable(text: string): string {
  return text.replace(CONTROLS, '\ufffd');
}

/** A URL as text, without parts that may hold a password or a key. */
export function shownUrl(text: string): string {
  return JSON.stringify(text.replace(/^([\w+.-]+:\/\/)?.*@/s, '$1…@').replace(/\?.*/s, '?…'));
}

/** A URL without its query, which may hold a key. */
export function withoutQuery(url: string): string {
  return url.split('?', 1)[0] ?? url;
}
