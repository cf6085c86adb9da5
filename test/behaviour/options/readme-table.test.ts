import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { optionTable } from '../../../docs/src/option-table.ts';

it('the documentation lists every option as the table has it', () => {
  const page = new URL('../../../docs/reference/options.md', import.meta.url);
  expect(readFileSync(page, 'utf8')).toContain(`\n${optionTable()}\n`);
});
