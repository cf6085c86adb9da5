import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const LINK = /<(?:a|img|link|script)\b[^>]*?\b(?:href|src)="([^"]*)"/g;
const ANCHOR = /\bid="([^"]+)"/g;

/** The dead links within a built site: their file or anchor does not exist. */
export function deadLinksIn(folder: string): readonly string[] {
  const pages = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.html'));
  const texts = new Map(pages.map((page) => [page, readFileSync(join(folder, page), 'utf8')]));
  const anchors = new Map(
    [...texts].map(([page, text]) => [
      page,
      new Set([...text.matchAll(ANCHOR)].map(([, id = '']) => id)),
    ]),
  );
  return [...texts].flatMap(([page, text]) =>
    [...text.matchAll(LINK)]
      .map(([, link = '']) => link.replaceAll('&amp;', '&'))
      .filter((link) => !/^([a-z]+:|\/\/)/.test(link) && !leads(link, page))
      .map((link) => `${page}: ${link}`),
  );

  function leads(link: string, from: string): boolean {
    const { pathname, hash } = new URL(link, `http://site/${from}`);
    const file = fileOf(decodeURIComponent(pathname));
    if (file === undefined) return false;
    const anchor = decodeURIComponent(hash.slice(1));
    return anchor === '' || anchors.get(file)?.has(anchor) === true;
  }

  /** The file that a server sends for a path. */
  function fileOf(path: string): string | undefined {
    const plain = path.slice(1);
    const names = [plain, `${plain}.html`, join(plain, 'index.html')].map((name) =>
      name.replace(/^\.?\//, ''),
    );
    return names.find(
      (name) => existsSync(join(folder, name)) && statSync(join(folder, name)).isFile(),
    );
  }
}
