import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { optionTable } from '../../src/config/option-rows.ts';

it('the README lists every option as the table has it', () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  expect(readme).toContain(`\n${optionTable()}\n`);
});
