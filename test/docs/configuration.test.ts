import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { limiterOptionsFromEnv } from '../../src/options/env.ts';
import { limiterOptionsFromJSON } from '../../src/options/sources.ts';

const read = (path: string) => readFileSync(new URL(`../../docs/${path}`, import.meta.url), 'utf8');

it('the file in the guide is one of options', () => {
  const [, file = ''] = /```json\n([\s\S]*?)```/.exec(read('guides/configuration.md')) ?? [];
  expect(limiterOptionsFromJSON(file)).toMatchObject({ concurrency: 100 });
});

it('the variables in the reference are options', () => {
  const variables = [...read('reference/environment.md').matchAll(/`(HEADGATE_\w+)=(\w+)`/g)];
  const env = Object.fromEntries(variables.map(([, name, value]) => [name, value]));
  expect(Object.keys(limiterOptionsFromEnv('HEADGATE', env)).length).toBeGreaterThan(3);
});
