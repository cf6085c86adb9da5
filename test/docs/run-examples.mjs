/**
 * Runs programs one after the other in this process, since to start a process for each takes longer
 * than most of them: `node run-examples.mjs program ...`. The next one begins when nothing is left to
 * do for the last. Prints a line of JSON for each: `{ program, stdout, error }`.
 */
import { pathToFileURL } from 'node:url';

/** An example that takes longer hangs. */
const MOST_MS = 50_000;

const programs = process.argv.slice(2);
const write = process.stdout.write.bind(process.stdout);
/** The program that runs; undefined: none does. */
let run;

process.stdout.write = (text) => {
  if (run !== undefined) run.stdout += text;
  return true;
};
process.on('uncaughtException', (error) => fail(run, error));
process.on('beforeExit', () => {
  if (run !== undefined) report(run.hasEnded ? run.error : 'it awaits what never comes');
  const program = programs.shift();
  if (program !== undefined) start(program);
});

function start(program) {
  const own = { program, stdout: '', error: undefined, hasEnded: false, timer: undefined };
  run = own;
  import(pathToFileURL(program).href)
    .catch((error) => fail(own, error))
    .then(() => {
      own.hasEnded = true;
    });
  own.timer = setTimeout(() => {
    report(`it has not ended after ${MOST_MS} ms`);
    process.exit(1);
  }, MOST_MS).unref();
}

function fail(own, error) {
  if (own !== undefined) own.error ??= String(error?.stack ?? error);
}

function report(error) {
  const { program, stdout, timer } = run;
  run = undefined;
  clearTimeout(timer);
  const left = process.exitCode ? `exit code ${process.exitCode}` : undefined;
  process.exitCode = 0;
  write(`${JSON.stringify({ program, stdout, error: error ?? left })}\n`);
}
