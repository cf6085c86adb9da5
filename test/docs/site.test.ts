import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { pagesIn } from '../../docs/src/pages.ts';
import { deadLinksIn } from '../../docs/src/site/dead-links.ts';
import { homeOf } from '../../docs/src/site/home.ts';
import { navigationOf } from '../../docs/src/site/navigation.ts';
import { sitePageOf, sitePathOf } from '../../docs/src/site/site-pages.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const pages = pagesIn(ROOT);
const LIST = 'docs/README.md';
const list = readFileSync(join(ROOT, LIST), 'utf8');

describe('a page of the site', () => {
  const paths = new Set(['README.md', 'docs/a.md', 'docs/guides/b.md', 'bench/README.md']);
  const page = (text: string) => sitePageOf('docs/guides/b.md', text, paths);

  it.each([
    ['[a](../a.md#one)', '[a](../a.md#one)'],
    ['[home](../../README.md)', '[home](../index.md)'],
    ['[self](b.md)', '[self](./b.md)'],
    ['[folder](../../bench/)', '[folder](../bench/index.md)'],
    ['[here](#there) [out](https://a.io/b)', '[here](#there) [out](https://a.io/b)'],
    ['![a picture](../images/run.svg)', '![a picture](/images/run.svg)'],
    ['[`code`](../a.md)', '[`code`](../a.md)'],
    ['[a file](../../src/index.ts)', 'a file'],
    ['`[no](../a.md)`', '`[no](../a.md)`'],
    ['```\n[no](../../src)\n```', '```\n[no](../../src)\n```'],
  ])('has for %j %j', (text, expected) => {
    expect(page(text)).toBe(expected);
  });

  it('has a path of its own', () => {
    const all = pages.map(({ path }) => sitePathOf(path).toLowerCase());
    expect(new Set(all).size).toBe(all.length);
    expect(all).toContain('index.md');
  });
});

it('no page has braces outside code, which VitePress takes for attributes or for an expression', () => {
  const CODE = /^(```|~~~)[\s\S]*?^\1|`[^`\n]*`/gm;
  const found = pages.flatMap(({ path, text }) => {
    const lines = text.replaceAll(CODE, '').split('\n');
    return lines.filter((line) => line.includes('{')).map((line) => `${path}: ${line}`);
  });
  expect(found).toEqual([]);
});

describe('the first page of the site', () => {
  it('has the README below its head, without its title', () => {
    const home = homeOf('# name\n\nWhat it is.\n\n![picture](a.svg)\n');
    expect(home).toMatch(/^---\nlayout: home\n[\s\S]*\n---\n\n!\[picture\]/);
    expect(home).not.toContain('What it is.');
  });

  it('leads to pages that there are', () => {
    const known = new Set(pages.map(({ path }) => `/${sitePathOf(path).replace(/\.md$/, '')}`));
    const links = [...homeOf('').matchAll(/link: (\S+)/g)].map(([, link = '']) => link);
    expect(links.length).toBeGreaterThan(3);
    expect(links.filter((link) => !known.has(link))).toEqual([]);
  });
});

describe('the navigation of the site', () => {
  it('has groups of links, with the addresses that they have there', () => {
    const text =
      '# All\n**One**\n\n- [a b](a.md), [c](../bench/README.md)\n\n**Two**\n- [d](x/d.md#e)';
    expect(navigationOf(LIST, text)).toEqual([
      {
        text: 'One',
        items: [
          { text: 'A b', link: '/a' },
          { text: 'C', link: '/bench/index' },
        ],
      },
      { text: 'Two', items: [] },
    ]);
  });

  it('leads to every page but the first and the list itself', () => {
    const links = navigationOf(LIST, list).flatMap(({ items }) => items.map(({ link }) => link));
    const all = pages
      .map(({ path }) => path)
      .filter((path) => path !== 'README.md' && path !== LIST)
      .map((path) => `/${sitePathOf(path).replace(/\.md$/, '')}`);
    expect(all.filter((path) => !links.includes(path))).toEqual([]);
    expect(new Set(links).size).toBe(links.length);
  });
});

it('links of a built site that lead nowhere are found', () => {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-site-'));
  try {
    mkdirSync(join(folder, 'guides'));
    writeFileSync(
      join(folder, 'index.html'),
      '<h1 id="top">a</h1><a href="/guides/b#one">b</a><a href="./guides/b#two">b</a>' +
        '<a href="#top">a</a><img src="/no.svg"><a href="https://a.io">out</a>',
    );
    writeFileSync(
      join(folder, 'guides', 'b.html'),
      '<h2 id="one">b</h2><a href="../">a</a><a href="c">c</a>',
    );
    expect([...deadLinksIn(folder)].sort()).toEqual([
      'guides/b.html: c',
      'index.html: ./guides/b#two',
      'index.html: /no.svg',
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
