/**
 * The anchor of a heading, as GitHub makes it: lower case, hyphens for spaces, no punctuation. Of
 * headings that are alike, the second has `-1` behind it.
 */
export function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-');
}
