import { anchorOf } from '../../docs/src/site/anchors.ts';

/** Removes code blocks, whose links and headings do not count. */
function withoutCode(text: string): string {
  return text.replaceAll(/^(```|~~~)[\s\S]*?^\1/gm, '');
}

/**
 * The anchors of a page's headings, as GitHub makes them: lower case, hyphens for spaces, no
 * punctuation, and a number behind what was there before.
 */
export function anchorsOf(text: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of withoutCode(text).matchAll(/^#{1,6} (.+)$/gm)) {
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').trim();
    const slug = anchorOf(plain);
    let anchor = slug;
    for (let n = 1; anchors.has(anchor); n += 1) anchor = `${slug}-${n}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** Where the links and pictures of a page lead. */
export function linksOf(text: string): readonly string[] {
  const plain = withoutCode(text).replaceAll(/`[^`\n]*`/g, '');
  return [...plain.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
}
