import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { metricTable, spanTable } from '../../../docs/src/telemetry-tables.ts';

const page = new URL('../../../docs/reference/telemetry.md', import.meta.url);
const text = readFileSync(page, 'utf8');

it('the documentation lists every metric as the table has it', () => {
  expect(text).toContain(`\n${metricTable()}\n`);
});

it('the documentation lists every span and event as the table has it', () => {
  expect(text).toContain(`\n${spanTable()}\n`);
});
