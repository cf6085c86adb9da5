import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LEVELS } from '../../src/model/limiter-event.ts';
import { defaultProviders } from '../../src/providers/registry.ts';
import { errorFacts, errorsIn, errorTable } from './errors.ts';
import { EVENT_TEXTS } from './events.ts';
import { code, tableOf } from './markdown.ts';
import { optionTable } from './option-table.ts';
import { PROVIDER_TEXTS } from './providers.ts';
import { type Declaration, declarationsIn, entryOf } from './source.ts';
import { metricTable, spanTable } from './telemetry-tables.ts';

const LEVEL_ORDER = ['warn', 'info', 'debug'];
const KINDS: Readonly<Record<string, string>> = {
  class: 'class',
  const: 'value',
  function: 'function',
};

/**
 * The tables that repeat what is in the code, by their names in pages.
 * @param root the folder of the repository
 */
export function tablesOf(root: string): (name: string) => string {
  const declarations = declarationsIn(join(root, 'src'));
  const tables: Readonly<Record<string, () => string>> = {
    options: optionTable,
    metrics: metricTable,
    spans: spanTable,
    providers: providerTable,
    events: eventTable,
    errors: () => errorTable(declarations),
    exports: () => exportSections(root, declarations),
    ...Object.fromEntries(
      errorsIn(declarations).map((error) => [`error-${error.name}`, () => errorFacts(error)]),
    ),
  };
  return (name) => {
    const table = tables[name];
    if (table === undefined) throw new Error(`no table is named ${name}`);
    return table();
  };
}

function providerTable(): string {
  const rows = defaultProviders.map(({ name }) => {
    const text = PROVIDER_TEXTS[name];
    if (text === undefined) throw new Error(`docs/src/providers.ts has no text for ${name}`);
    return [name, text];
  });
  return tableOf(['family', 'what is read'], rows);
}

function eventTable(): string {
  const rows = Object.entries(EVENT_TEXTS).map(([kind, text]) => {
    const level = Object.entries(LEVELS).find(([name]) => name === kind)?.[1] ?? '';
    return { level, cells: [code(kind), level, text] };
  });
  rows.sort((a, b) => LEVEL_ORDER.indexOf(a.level) - LEVEL_ORDER.indexOf(b.level));
  return tableOf(
    ['`kind`', '`level`', 'fields, and what has happened'],
    rows.map(({ cells }) => cells),
  );
}

/** A section for each entry point of the package: its values, and its types. */
function exportSections(root: string, declarations: ReadonlyMap<string, Declaration>): string {
  const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8'));
  const paths: Readonly<Record<string, readonly string[]>> = compilerOptions.paths;
  const sections = Object.entries(paths).map(([entry, [file = '']]) => {
    const { values, types } = entryOf(join(root, file));
    const valueRows = values.map((name) => {
      const { kind = '', summary = '' } = declarations.get(name) ?? {};
      return [code(name), KINDS[kind] ?? kind, summary];
    });
    const typeRows = types.map((name) => [code(name), declarations.get(name)?.summary ?? '']);
    return [
      `## ${entry}`,
      ...(valueRows.length > 0 ? [tableOf(['name', 'is', 'what it is for'], valueRows)] : []),
      ...(typeRows.length > 0 ? [tableOf(['type', 'what it is'], typeRows)] : []),
    ].join('\n\n');
  });
  return sections.join('\n\n');
}
