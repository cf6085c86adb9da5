import { BatchRun } from '../batch-run.ts';
import { type AnswerCache, openCache } from '../cache/answer-cache.ts';
import { endpointOf } from '../endpoint.ts';
import { BatchError, InterruptedError } from '../errors.ts';
import { checkTemplate } from '../input/read-input.ts';
import { findSources, mayBeStdin } from '../input/sources.ts';
import { Ledger } from '../ledger/ledger.ts';
import { inspectOutput } from '../ledger/open-output.ts';
import { Budget, DEFAULT_OUTPUT_TOKENS } from '../money.ts';
import type { BatchReport } from '../progress.ts';
import { promptTokensOf } from '../request.ts';
import { formatReport } from '../screen/report.ts';
import { NO_SCREEN, openJsonLog, openLog, openTerminal, type Screen } from '../screen/terminal.ts';
import { COLOURS, count, duration, money, PLAIN, plural, short } from '../screen/text.ts';
import { checkInput } from '../source.ts';
import { type Destination, openDestination } from './destination.ts';
import { holdUntil, startCommandInspector } from './inspect.ts';
import { type RunOptions, readRunOptions } from './run-options.ts';
import { exitCodeOf, onSignals } from './signals.ts';
import { startCommandTelemetry } from './telemetry.ts';
import type { OptionValues } from './values.ts';

const MINUTE_MS = 60_000;

/** Checks every line, and prints the size and cost of a run. @returns the exit code */
async function dryRun({ batch }: RunOptions): Promise<number> {
  const sources = findSources(typeof batch.input === 'string' ? [batch.input] : batch.input);
  const paths = sources.map(({ path }) => path).filter((path) => path !== undefined);
  const { output, existing = 'resume', changed = 'fail', api = 'chat' } = batch;
  const ledger =
    output === '' ? new Ledger() : (await inspectOutput(output, existing, paths)).ledger;
  const { model, format, template, limit } = batch;
  checkTemplate(sources, { format, template });
  const budget = new Budget(batch.prices, Number.POSITIVE_INFINITY);
  let [pending, prompt, output_, unbound, cost] = [0, 0, 0, 0, 0];
  const input = { api, model, format, template, limit };
  const lines = await checkInput(sources, input, ledger, changed, (request, state) => {
    if (state === 'done' || (state === 'failed' && batch.retryFailed !== true)) return;
    const tokens = promptTokensOf(request);
    pending += 1;
    prompt += tokens;
    const most = endpointOf(request.url)?.maxOutputOf(request.body);
    output_ += most ?? 0;
    if (most === undefined) unbound += 1;
    cost += budget.estimate(request, tokens);
  });
  const {
    requestsPerMinute = Number.POSITIVE_INFINITY,
    tokensPerMinute = Number.POSITIVE_INFINITY,
  } = batch;
  const ms =
    Math.max(pending / requestsPerMinute, (prompt + output_) / tokensPerMinute) * MINUTE_MS;
  const rows = [
    ['lines', `${plural(lines, 'line')}, all can be sent`],
    ['to send', plural(pending, 'request')],
    ['tokens', `about ${short(prompt)} in${outputOf(output_, unbound)}`],
    ...(budget.hasPrices ? [['cost', `${unbound > 0 ? '' : 'at most '}about ${money(cost)}`]] : []),
    ['time', ms > 0 ? `at least ${duration(ms)} at your limits` : 'unknown: no limits were given'],
  ];
  process.stdout.write(rows.map(([label = '', value]) => `${label.padEnd(10)}${value}\n`).join(''));
  return 0;
}

/**
 * Describes the forecast of output: the bounds of lines, and the default for lines without one.
 * @param unbound the number of lines without a bound
 */
function outputOf(bounds: number, unbound: number): string {
  if (unbound === 0) return bounds === 0 ? '' : `, at most ${short(bounds)} out`;
  const taken = `${count(DEFAULT_OUTPUT_TOKENS)} for each of ${plural(unbound, 'line')} without a bound`;
  return `, about ${short(bounds + unbound * DEFAULT_OUTPUT_TOKENS)} out: ${taken}`;
}

/** `headgate run`. @returns the exit code */
export async function run(inputs: readonly string[], values: OptionValues): Promise<number> {
  const options = readRunOptions(inputs, values, process.env);
  if (options.isDry) return dryRun(options);
  const destination = await openDestination(values, options, process.env);
  try {
    return await runTo(destination, options, inputs);
  } finally {
    await destination.close();
    // A run that was stopped must not wait for more of its standard input.
    if (inputs.some(mayBeStdin)) process.stdin.destroy();
  }
}

async function runTo(
  destination: Destination,
  options: RunOptions,
  inputs: readonly string[],
): Promise<number> {
  // Before any limiter is made: limiters report to the SDK that is registered at that time.
  const stopTelemetry = await startCommandTelemetry(process.env);
  const stopInspector = await startCommandInspector(options.isInspected, console.error);
  const stopping = new AbortController();
  const aborting = new AbortController();
  let signalled: NodeJS.Signals | undefined;
  const release = onSignals((signal) => {
    if (signalled === undefined) stopping.abort();
    else aborting.abort();
    signalled = signal;
  });
  let cache: AnswerCache | undefined;
  try {
    if (options.cache !== undefined) cache = await openCache(options.cache, destination.provider);
    const { provider, send, queue } = destination;
    const [signal, abortSignal] = [stopping.signal, aborting.signal];
    const batch = new BatchRun(
      { ...options.batch, cache, provider, send, signal, abortSignal },
      queue,
    );
    const screen = openScreen(batch, options, destination, inputs);
    try {
      const report = await batch.run();
      screen.close();
      print(report, options);
      if (options.isHeld) await holdUntil(stopping.signal, console.error);
      return exitCode(report, signalled);
    } finally {
      screen.close();
    }
  } catch (error) {
    if (!(error instanceof InterruptedError) || signalled === undefined) throw error;
    throw new BatchError(error.message, { exitCode: exitCodeOf(signalled), cause: error });
  } finally {
    release();
    await stopInspector();
    await stopTelemetry();
    await cache?.close();
  }
}

function openScreen(
  batch: BatchRun,
  { isQuiet, isJson, batch: { output, model } }: RunOptions,
  { title: place }: Destination,
  inputs: readonly string[],
): Screen {
  const look = () => batch.progress();
  if (isJson) return openJsonLog(process.stdout, look);
  if (isQuiet) return NO_SCREEN;
  const isTerminal = process.stderr.isTTY && process.env.TERM !== 'dumb';
  if (!isTerminal) return openLog(process.stderr, look);
  const [first = ''] = inputs;
  const input = inputs.length === 1 ? first : `${inputs.length} files`;
  const title = { input, output, target: model === undefined ? place : `${model} at ${place}` };
  return openTerminal(process.stderr, look, title, process.stderr.hasColors() ? COLOURS : PLAIN);
}

function print(report: BatchReport, { isJson }: RunOptions): void {
  if (isJson) {
    process.stdout.write(`${JSON.stringify({ event: 'end', ...report })}\n`);
    return;
  }
  const { isTTY, columns } = process.stdout;
  const isColoured = isTTY && process.stdout.hasColors();
  const width = isTTY && columns > 0 ? columns : Number.POSITIVE_INFINITY;
  process.stdout.write(formatReport(report, width, isColoured ? COLOURS : PLAIN));
}

function exitCode(report: BatchReport, signal?: NodeJS.Signals): number {
  const { stop, failed, failedBefore, left = 0 } = report;
  if (stop?.reason === 'interrupted' && signal !== undefined) return exitCodeOf(signal);
  return stop !== undefined || failed + failedBefore + left > 0 ? 1 : 0;
}
