import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { pagesIn } from '../../docs/src/pages.ts';
import { anchorsOf, linksOf } from './markdown.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const pages = pagesIn(ROOT);
const texts = new Map(pages.map(({ path, text }) => [path, text]));

/** The links of a page that lead to no file, or to no heading of it. */
function brokenLinks(path: string, text: string): string[] {
  return linksOf(text).filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [file = '', anchor] = link.split('#');
    const target = file === '' ? path : normalize(join(dirname(path), file));
    const page = texts.get(target);
    if (page === undefined) return anchor !== undefined || !existsSync(join(ROOT, target));
    return anchor !== undefined && !anchorsOf(page).has(anchor);
  });
}

describe('links between pages', () => {
  it.each(pages.map(({ path }) => path))('%s: all lead somewhere', (path) => {
    expect(brokenLinks(path, texts.get(path) ?? '')).toEqual([]);
  });

  it('lead to every page of docs/, from the README on', () => {
    const reached = new Set(['README.md']);
    for (const path of reached) {
      for (const link of linksOf(texts.get(path) ?? '')) {
        const target = normalize(join(dirname(path), link.split('#')[0] ?? ''));
        if (texts.has(target)) reached.add(target);
      }
    }
    const docs = pages.map(({ path }) => path).filter((path) => path.startsWith('docs/'));
    expect(docs.filter((path) => !reached.has(path))).toEqual([]);
  });

  it('are found broken where they are', () => {
    const text = '[a](README.md) [b](#here) [c](#nowhere) [d](nowhere.md)\n# Here\n`[e](no.md)`';
    texts.set('page.md', text);
    expect(brokenLinks('page.md', text)).toEqual(['#nowhere', 'nowhere.md']);
  });
});

describe('anchors', () => {
  it('are as GitHub makes them', () => {
    const text =
      '# Which limit? `a.b`\n## Twice\n```\n# no heading\n```\n## Twice\n## [A](b.md) B_c';
    expect([...anchorsOf(text)]).toEqual(['which-limit-ab', 'twice', 'twice-1', 'a-b_c']);
  });
});
