import { dirname, join, normalize } from 'node:path/posix';
import { sitePathOf } from './site-pages.ts';

/** One link of the navigation. */
export interface NavigationLink {
  readonly text: string;
  /** Its address in the site, without its ending. */
  readonly link: string;
}

export interface NavigationGroup {
  readonly text: string;
  readonly items: readonly NavigationLink[];
}

/**
 * Reads the navigation from a list of pages: a line of bold text begins a group, and each
 * link of the list below it is one of its links.
 *
 * @param path of that list, from the root of the repository
 */
export function navigationOf(path: string, text: string): readonly NavigationGroup[] {
  const groups: { text: string; items: NavigationLink[] }[] = [];
  for (const line of text.split('\n')) {
    const [, title] = /^\*\*(.+)\*\*$/.exec(line) ?? [];
    if (title !== undefined) groups.push({ text: title, items: [] });
    if (!line.startsWith('- ')) continue;
    for (const [, words = '', target = ''] of line.matchAll(/\[([^\]]+)\]\(([^)#\s]+)\)/g)) {
      const link = `/${sitePathOf(normalize(join(dirname(path), target))).replace(/\.md$/, '')}`;
      groups.at(-1)?.items.push({ text: capitalised(words), link });
    }
  }
  return groups;
}

function capitalised(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
