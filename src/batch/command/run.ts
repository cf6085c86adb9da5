import { BatchRun } from '../batch-run.ts';
import { type AnswerCache, openCache } from '../cache/answer-cache.ts';
import { STDIN } from '../input/sources.ts';
import type { BatchReport } from '../progress.ts';
import { formatReport } from '../screen/report.ts';
import { COLOURS, PLAIN } from '../screen/style.ts';
import { NO_SCREEN, openJsonLog, openLog, openTerminal, type Screen } from '../screen/terminal.ts';
import { type Destination, openDestination } from './destination.ts';
import { dryRun } from './dry-run.ts';
import { holdUntil, startCommandInspector } from './inspect.ts';
import { type RunOptions, readRunOptions } from './run-options.ts';
import { exitCodeOf, onSignals } from './signals.ts';
import { startCommandTelemetry } from './telemetry.ts';
import type { OptionValues } from './values.ts';

/** `headgate run`. @returns the exit code */
export async function run(inputs: readonly string[], values: OptionValues): Promise<number> {
  const options = readRunOptions(inputs, values, process.env);
  if (options.isDry) return dryRun(options);
  const destination = await openDestination(values, options, process.env);
  try {
    return await runTo(destination, options, inputs);
  } finally {
    await destination.close();
    // A run that was stopped must not wait for more of what nobody reads.
    if (inputs.includes(STDIN)) process.stdin.destroy();
  }
}

async function runTo(
  destination: Destination,
  options: RunOptions,
  inputs: readonly string[],
): Promise<number> {
  // Limiters report to the SDK that is there when they are made.
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
    const batch = new BatchRun({
      ...options.batch,
      cache,
      provider: destination.provider,
      send: destination.send,
      signal: stopping.signal,
      abortSignal: aborting.signal,
    });
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
  if (!process.stderr.isTTY) return openLog(process.stderr, look);
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

function exitCode({ stop, failed, failedBefore }: BatchReport, signal?: NodeJS.Signals): number {
  if (stop?.reason === 'interrupted' && signal !== undefined) return exitCodeOf(signal);
  return stop !== undefined || failed + failedBefore > 0 ? 1 : 0;
}
