import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { pagesIn } from '../../docs/src/pages.ts';
import { render } from '../../docs/src/render.ts';
import { sourcesOf } from '../../docs/src/sources.ts';
import * as headgate from '../../src/index.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const pages = pagesIn(ROOT);
const sources = sourcesOf(ROOT);

const errors = Object.entries(headgate)
  .flatMap(([name, value]) =>
    typeof value === 'function' && value.prototype instanceof headgate.HeadgateError ? [name] : [],
  )
  .sort();

it.each(pages.map(({ path }) => path))(
  '%s repeats examples and tables as they are (npm run docs:reference)',
  (path) => {
    const { text = '' } = pages.find((page) => page.path === path) ?? {};
    expect(render(text, sources)).toBe(text);
  },
);

it('the table of errors has every error that is exported', () => {
  const names = [...sources.table('errors').matchAll(/\[`(\w+)`\]/g)].map(([, name]) => name);
  expect(names).toEqual(errors);
  expect(errors.length).toBeGreaterThan(10);
});

it('every error has a section that says what it means and what to do', () => {
  const { text = '' } = pages.find(({ path }) => path === 'docs/reference/errors.md') ?? {};
  const sections = text.split(/^## /m).slice(1);
  for (const name of errors) {
    const section = sections.find((one) => one.startsWith(`${name}\n`)) ?? '';
    expect([name, section.includes('**It means**')]).toEqual([name, true]);
    expect([name, section.includes('**What to do**')]).toEqual([name, true]);
  }
});
