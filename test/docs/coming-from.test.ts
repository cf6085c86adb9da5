import { readFileSync } from 'node:fs';
import { Sema } from 'async-sema';
import Bottleneck from 'bottleneck';
import * as cockatiel from 'cockatiel';
import pLimit from 'p-limit';
import PQueue from 'p-queue';
import { expect, it } from 'vitest';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/**
 * The names of the readonly options that a file of types has, but for those that are not options.
 */
function optionsIn(path: string): readonly string[] {
  return [...read(path).matchAll(/^\s+(?:readonly )?(\w+)\?:/gm)].map(([, name = '']) => name);
}

function methodsOf(value: { readonly prototype: object }): readonly string[] {
  return Object.getOwnPropertyNames(value.prototype).filter(
    (name) => name !== 'constructor' && !/^[_#]/.test(name),
  );
}

/** Names that the installed package has, and that its page must translate or say "none" of. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  'p-limit': [
    ...Object.getOwnPropertyNames(pLimit(1)).filter((name) => name !== 'length' && name !== 'name'),
    ...optionsIn('node_modules/p-limit/index.d.ts'),
  ],
  'p-queue': [...optionsIn('node_modules/p-queue/dist/options.d.ts'), ...methodsOf(PQueue)].filter(
    (name) => !['concurrency', 'timeout'].includes(name),
  ),
  'p-retry': optionsIn('node_modules/p-retry/index.d.ts'),
  bottleneck: [
    ...optionsIn('node_modules/bottleneck/bottleneck.d.ts').filter(
      // Fields of clients, of counts and of events, and arguments.
      (name) => !['client', 'subscriber', 'DONE', 'expiration', 'connection'].includes(name),
    ),
    ...methodsOf(Bottleneck).filter((name) => !/Defaults$|^version$/.test(name)),
    ...Object.keys(Bottleneck.strategy),
  ],
  'async-sema': [...methodsOf(Sema), 'initFn', 'pauseFn', 'resumeFn', 'uniformDistribution'],
  cockatiel: Object.keys(cockatiel).filter((name) =>
    /^[A-Z]\w*(Breaker|Backoff|Error)$/.test(name),
  ),
};

it.each(Object.entries(NAMES))('the page of %s has all of its options and methods', (name, all) => {
  const page = read(`docs/coming-from/${name}.md`);
  const missing = all.filter((one) => !new RegExp(`\\b${one}\\b`).test(page));
  expect(missing).toEqual([]);
  expect(all.length).toBeGreaterThan(3);
});

it('the list of libraries leads to a page for each, which leads back', () => {
  const list = read('docs/coming-from.md');
  const pages = [...list.matchAll(/\]\(coming-from\/([\w-]+)\.md\)/g)].map(([, page = '']) => page);
  expect(pages).toHaveLength(14);
  for (const page of pages) {
    expect(read(`docs/coming-from/${page}.md`)).toMatch(
      /^# Coming from .+\n[\s\S]*coming-from\.md/,
    );
  }
});
