import {
  type CommandOption,
  EXIT_CODES,
  EXPORT_FORMATS,
  type OptionGroup,
  RUN_OPTIONS,
  WORK_OPTIONS,
} from '../../src/batch/command/option-table.ts';

/** The documentation of the command, made from its table of options. */
export function commandReference(): string {
  return [
    '# The command `headgate`',
    'This page is made from the options of the command. The [guide](../guides/batch.md) shows how to use it.',
    '## `headgate run <input...> --out FILE`',
    'Sends requests from files (JSON lines, `.csv`, `.tsv`, any of them as `.gz`), patterns of files, or `-` for standard input, and appends results to a file.',
    ...RUN_OPTIONS.map(sectionOf),
    '### Exit codes',
    tableOf(
      ['code', 'meaning'],
      EXIT_CODES.map(([code, meaning]) => [String(code), meaning]),
    ),
    '## `headgate work --redis URL`',
    'Sends the requests of `headgate run --redis`, until SIGTERM or Ctrl-C. See [workers](../guides/workers.md).',
    ...WORK_OPTIONS.map(sectionOf),
    '## `headgate summary <results>`',
    'Says what a file of results holds: good and failed requests, errors by kind, tokens and cost. `--json` prints one object.',
    '## `headgate export <results>`',
    `Writes the answers to standard output. \`--format\` is one of ${EXPORT_FORMATS.map((name) => `\`${name}\``).join(', ')} (default: \`text\`, one answer a line, with line breaks as \`\\n\`).`,
  ]
    .join('\n\n')
    .concat('\n');
}

function sectionOf({ title, options }: OptionGroup): string {
  return `### ${title}\n\n${tableOf(['option', 'default', ''], options.map(row))}`;
}

function row({ name, short, value, help, ...option }: CommandOption): string[] {
  const flag = `\`--${name}${value === undefined ? '' : ` ${value}`}\``;
  const flags = short === undefined ? flag : `\`-${short}\`, ${flag}`;
  return [flags, option.default ?? '', help].map(withCode);
}

/** Puts text with braces into code: elsewhere the site takes braces for an expression. */
function withCode(text: string): string {
  return text.replace(/^(?!`)(.*?)(\{.*\})/, '$1`$2`');
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
