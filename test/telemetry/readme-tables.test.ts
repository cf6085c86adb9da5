import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { metricTable, spanTable } from '../../src/telemetry/tables.ts';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

it('the README lists every metric as the table has it', () => {
  expect(readme).toContain(`\n${metricTable()}\n`);
});

it('the README lists every span and event as the table has it', () => {
  expect(readme).toContain(`\n${spanTable()}\n`);
});
