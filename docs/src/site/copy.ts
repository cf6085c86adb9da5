/**
 * Copies the pages of the documentation for the site to `build/site`: the first step of
 * `npm run docs`, from the root of the repository.
 */
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pagesIn } from '../pages.ts';
import { homeOf } from './home.ts';
import { sitePageOf, sitePathOf } from './site-pages.ts';

const PAGES = join('build', 'site');

const pages = pagesIn('.');
const paths = new Set(pages.map(({ path }) => path));
rmSync(PAGES, { recursive: true, force: true });
for (const { path, text } of pages) {
  const file = join(PAGES, sitePathOf(path));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, sitePageOf(path, path === 'README.md' ? homeOf(text) : text, paths));
}
cpSync(join('docs', 'images'), join(PAGES, 'public', 'images'), { recursive: true });
cpSync(join('src', 'inspector', 'page', 'icon.svg'), join(PAGES, 'public', 'icon.svg'));
