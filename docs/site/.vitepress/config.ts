import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { defineConfig } from 'vitepress';
import { anchorOf } from '../../src/site/anchors.ts';
import { navigationOf } from '../../src/site/navigation.ts';

const LIST = 'docs/README.md';
const groups = navigationOf(LIST, readFileSync(LIST, 'utf8'));
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

/** Read from the root of the repository, by `npm run docs`. */
export default defineConfig({
  title: 'headgate',
  description:
    'Paces a stream of requests into a rate-limited API and shows where every request waits.',
  lang: 'en',
  srcDir: resolve('build/site'),
  outDir: resolve('build/docs-site'),
  cacheDir: resolve('build/docs-cache'),
  cleanUrls: true,
  ignoreDeadLinks: 'localhostLinks',
  lastUpdated: false,
  metaChunk: true,
  head: [
    ['link', { rel: 'icon', href: '/icon.svg', type: 'image/svg+xml' }],
    ['meta', { name: 'theme-color', content: '#2563c9' }],
  ],
  markdown: {
    anchor: { slugify: anchorOf },
    theme: { light: 'github-light', dark: 'github-dark' },
  },
  themeConfig: {
    logo: '/icon.svg',
    search: { provider: 'local' },
    nav: [
      { text: 'Start', link: '/start' },
      { text: 'Guides', link: '/guides/batch' },
      { text: 'Reference', link: '/reference/options' },
      { text: 'FAQ', link: '/faq' },
      { text: version, link: '/changes' },
    ],
    sidebar: groups.map(({ text, items }, index) => ({
      text,
      collapsed: index > 2,
      items: items.map((item) => ({ ...item })),
    })),
    outline: { level: [2, 3] },
    docFooter: { prev: 'Before', next: 'Next' },
    footer: { message: 'Apache-2.0' },
  },
});
