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
let run;

process.stdout.write = (text) => {
  run.stdout += text;
  return true;
};
process.on('uncaughtException', (error) => {
  run.error ??= String(error?.stack ?? error);
});
process.on('beforeExit', () => {
  if (run !== undefined) report(run.hasEnded ? run.error : 'it awaits what never comes');
  const program = programs.shift();
  if (program !== undefined) start(program);
});

function start(program) {
  run = { program, stdout: '', error: undefined, hasEnded: false };
  const mine = run;
  const fail = (error) => {
    mine.error ??= String(error?.stack ?? error);
  };
  const end = () => {
    mine.hasEnded = true;
  };
  import(pathToFileURL(program).href).catch(fail).then(end);
  run.timer = setTimeout(() => {
    report(`it has not ended after ${MOST_MS} ms`);
    process.exit(1);
  }, MOST_MS).unref();
}

function report(error) {
  const { program, stdout, timer } = run;
  clearTimeout(timer);
  const left = process.exitCode ? `exit code ${process.exitCode}` : undefined;
  process.exitCode = 0;
  write(`${JSON.stringify({ program, stdout, error: error ?? left })}\n`);
}
