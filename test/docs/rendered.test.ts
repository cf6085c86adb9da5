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

it.each(errors)('%s has a page that says what it means and what to do', (name) => {
  const found = new RegExp(`\\[\`${name}\`\\]\\((errors/[a-z-]+\\.md)\\)`).exec(
    sources.table('errors'),
  );
  const { text = '' } = pages.find(({ path }) => path === `docs/reference/${found?.[1]}`) ?? {};
  expect(text).toMatch(
    new RegExp(
      `^# ${name}\n[\\s\\S]*generated: error-${name} [\\s\\S]*\n## What it means\n[\\s\\S]*\n## What to do\n`,
    ),
  );
});
