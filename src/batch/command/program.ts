import { createRequire } from 'node:module';
import { Command, CommanderError, Option } from 'commander';
import { BatchError } from '../errors.ts';
import { at } from '../json.ts';
import { printable } from '../printable.ts';
import {
  type CommandOption,
  EXIT_CODES,
  EXPORT_FORMATS,
  type OptionGroup,
  RUN_OPTIONS,
  WORK_OPTIONS,
} from './option-table.ts';
import { outputExitCode } from './output-errors.ts';
import { OptionValues } from './values.ts';

const RUN_DESCRIPTION =
  'Send a file of requests through a rate-limited API. Files are JSON lines (OpenAI batch lines, ' +
  'bodies, or {"prompt": "..."}), .csv or .tsv; .gz is unzipped; - is standard input. What has a ' +
  'good result in --out is not sent again: after a crash, run the same command.';

const WORK_DESCRIPTION =
  'Send the requests of headgate run --redis. Start as many as you like, on any number of machines; ' +
  'each ends with SIGTERM or Ctrl-C, and gives back what it has not sent.';

/** @param ended called with the exit code */
export function createProgram(ended: (code: number) => void): Command {
  const program = new Command('headgate')
    .description('Run files of prompts through rate-limited model APIs.')
    .version(version())
    .showHelpAfterError('(headgate --help lists the commands)')
    .exitOverride();
  const runCommand = program
    .command('run')
    .description(RUN_DESCRIPTION)
    .argument('<input...>', 'files, patterns of files, or -')
    .showHelpAfterError('(headgate run --help lists the options)')
    .addHelpText('after', `\nExit codes:\n${exitCodes()}`)
    .action(async (inputs: string[], given: Record<string, unknown>) => {
      // The rest is loaded when it is needed, so that --help is fast.
      const { run } = await import('./run.ts');
      ended(await run(inputs, new OptionValues(given)));
    });
  addOptions(runCommand, RUN_OPTIONS);
  const workCommand = program
    .command('work')
    .description(WORK_DESCRIPTION)
    .showHelpAfterError('(headgate work --help lists the options)')
    .action(async (given: Record<string, unknown>) => {
      const { work } = await import('./work.ts');
      ended(await work(new OptionValues(given)));
    });
  addOptions(workCommand, WORK_OPTIONS);
  program
    .command('summary')
    .description('Say what a file of results holds.')
    .argument('<results>', 'a file that headgate run has written')
    .option('--json', 'as one JSON object')
    .action(async (file: string, { json }: { json?: boolean }) => {
      const { summary } = await import('./results.ts');
      ended(await summary(file, json === true));
    });
  program
    .command('export')
    .description('Write the answers of a file of results to standard output.')
    .argument('<results>', 'a file that headgate run has written')
    .addOption(new Option('--format <name>', 'how').choices(EXPORT_FORMATS).default('text'))
    .action(async (file: string, { format }: { format: string }) => {
      const chosen = EXPORT_FORMATS.find((name) => name === format) ?? 'text';
      const { exportResults } = await import('./results.ts');
      ended(await exportResults(file, chosen));
    });
  return program;
}

function addOptions(command: Command, groups: readonly OptionGroup[]): void {
  for (const { title, options } of groups) {
    command.optionsGroup(`${title}:`);
    for (const option of options) command.addOption(optionOf(option));
  }
}

function optionOf({ name, short, value, isRepeatable, help, ...rest }: CommandOption): Option {
  const flags = [short && `-${short}`, `--${name}`].filter((flag) => flag).join(', ');
  const given = rest.default === undefined ? help : `${help} (default: ${rest.default})`;
  const option = new Option(value === undefined ? flags : `${flags} <${value}>`, given);
  if (!isRepeatable) return option;
  const collect = (text: string, before: readonly string[] = []) => [...before, text];
  return option.argParser(collect);
}

function version(): string {
  return String(at(createRequire(import.meta.url)('headgate/package.json'), 'version'));
}

function exitCodes(): string {
  return EXIT_CODES.map(([code, meaning]) => `  ${String(code).padEnd(5)}${meaning}\n`).join('');
}

const USAGE = 2;

/**
 * Runs the command `headgate` with its arguments, and prints errors of usage to standard error.
 * @returns the exit code
 */
export async function execute(args: readonly string[]): Promise<number> {
  let code = 0;
  const program = createProgram((exitCode) => {
    code = exitCode;
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    const outputCode = outputExitCode(error);
    if (outputCode !== undefined) return outputCode;
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE;
    // The message of these errors is enough for the user; other errors need their stack.
    const isExpected =
      error instanceof BatchError || error instanceof RangeError || error instanceof TypeError;
    if (!isExpected) throw error;
    process.stderr.write(`headgate: ${printable(error.message)}\n`);
    return error instanceof BatchError ? error.exitCode : USAGE;
  }
}
