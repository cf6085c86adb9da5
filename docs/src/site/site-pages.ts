import { dirname, join, normalize, relative } from 'node:path/posix';

/** The pages whose name on the site differs from that in the repository. */
const NAMED: Readonly<Record<string, string>> = {
  'README.md': 'index.md',
  'docs/README.md': 'pages.md',
  'CONTRIBUTING.md': 'contributing.md',
  'SECURITY.md': 'reporting.md',
  'CHANGELOG.md': 'changes.md',
  'bench/README.md': 'bench/index.md',
  'bench/goodput/README.md': 'bench/goodput.md',
  'dashboards/README.md': 'dashboards/index.md',
};

const LINK = /(!?)\[((?:[^[\]]|\[[^\]]*\]|`[^`]*`)*)\]\(([^)\s]+)\)/g;
const CODE = /^(```|~~~)[\s\S]*?^\1|`[^`\n]*`/gm;

/** The path in the site of a page of the repository. */
export function sitePathOf(page: string): string {
  return NAMED[page] ?? page.replace(/^docs\//, '');
}

/**
 * A page for the site, whose links lead to pages of the site, and whose pictures are the site's
 * copies. Files that the site does not have (code) are named without a link.
 *
 * @param pages the paths of all pages, from the root of the repository
 */
export function sitePageOf(path: string, text: string, pages: ReadonlySet<string>): string {
  const here = dirname(sitePathOf(path));
  const link = (all: string, mark: string, words: string, target: string): string => {
    if (/^([a-z]+:|#)/.test(target)) return all;
    const [file = '', anchor] = target.split('#');
    const found = normalize(join(dirname(path), file));
    if (mark === '!') return `![${words}](/${found.replace(/^docs\//, '')})`;
    const page = [found, join(found, 'README.md')].find((one) => pages.has(one));
    if (page === undefined) return words;
    const to = relative(here, sitePathOf(page));
    return `[${words}](${to.startsWith('.') ? to : `./${to}`}${anchor === undefined ? '' : `#${anchor}`})`;
  };
  return outsideCode(text, (part) => part.replaceAll(LINK, link));
}

/** Changes the text outside of code. A link around code counts as outside. */
function outsideCode(text: string, change: (part: string) => string): string {
  const kept: string[] = [];
  const hidden = text.replaceAll(CODE, (code) => `\u0000${kept.push(code) - 1}\u0000`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no page has this character
  return change(hidden).replaceAll(/\u0000(\d+)\u0000/g, (_, index) => kept[Number(index)] ?? '');
}
