/**
 * The anchor of a heading, as GitHub makes it: lower case, hyphens for spaces, no punctuation. If
 * two headings have the same text, the anchor of the second ends with `-1`.
 */
export function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-');
}
