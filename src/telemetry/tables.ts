import { METRICS, type Metric } from './names.ts';
import { EVENTS, SPANS, type Trace } from './traces.ts';

/** The metrics as a table in Markdown, for the documentation. */
export function metricTable(): string {
  const rows = Object.values<Metric>(METRICS).map(
    ({ name, instrument, unit, attributes, meaning }) => [
      code(name),
      `${instrument}, ${unit}`,
      attributes.map(code).join(', '),
      meaning,
    ],
  );
  return table(['metric', 'instrument, unit', 'attributes', 'meaning'], rows);
}

/** The spans, and the events on them, as a table in Markdown. */
export function spanTable(): string {
  const rows = [
    ...Object.values(SPANS).map((span) => rowOf(span, 'span')),
    ...Object.values(EVENTS).map((event) => rowOf(event, 'event')),
  ];
  return table(['name', 'is', 'attributes', 'meaning'], rows);
}

function rowOf({ name, attributes, meaning }: Trace, kind: string): string[] {
  return [code(name), kind, attributes.map(code).join(', '), meaning];
}

function code(name: string): string {
  return `\`${name}\``;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = head.map(() => '---');
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), `|${rule.join('|')}|`, ...rows.map(line)].join('\n');
}
